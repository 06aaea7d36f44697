"""A file cut into ranges, wherever the cuts are, is the file."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.rdf.lines import LINE, ODD_LINES
from tests.sources.collected import joined, read

from penstock.rdf import limits
from penstock.sources import blocks
from penstock.sources.files import TntFile
from penstock.sources.spark.ranges import Range, count_tasks, cut_lines, with_line_numbers

LINES = [LINE, *ODD_LINES, "", "# comment", "wrong", '_:b <a:p> "été" "7" .', "\ufeff" + LINE]


def parts(path: Path, size: int) -> list[Range]:
    source = TntFile(path, "s", 10)
    return with_line_numbers(Range(0, source, *ends, 1 + bool(ends[0])) for ends in cut_lines(path, size))


@given(
    lines=st.lists(st.sampled_from(LINES), max_size=30),
    end=st.sampled_from(["\n", "\r\n"]),
    is_ended=st.booleans(),
    size=st.integers(1, 400),
)
def test_any_cut_gives_the_same(
    tmp_path_factory: pytest.TempPathFactory, lines: list[str], end: str, is_ended: bool, size: int
) -> None:
    path = tmp_path_factory.mktemp("cut") / "a.tnt"
    path.write_bytes((end.join(lines) + (end if is_ended else "")).encode())
    ranges = parts(path, size)
    assert joined(batch for part in ranges for batch in part.batches()) == read(path)
    numbers = [
        part.first_number + number for part in ranges for number in range(sum(b.elements for b in part.batches()))
    ]
    assert numbers == sorted(set(numbers))


def test_a_line_that_is_too_long(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (limits, blocks):
        monkeypatch.setattr(module, "LONGEST_LINE", 200)
    path = tmp_path / "a.tnt"
    path.write_text(f"{LINE}\n<{'x' * 5000}\n{LINE}\n")
    ranges = parts(path, 100)
    assert len(ranges) == 2
    assert joined(batch for part in ranges for batch in part.batches()) == read(path)


@pytest.mark.parametrize(
    ("parts", "cores", "expected"),
    [
        pytest.param(0, 2, 1, id="nothing"),
        pytest.param(6, 2, 6, id="few parts"),
        pytest.param(27, 2, 8, id="some parts a task"),
        pytest.param(400, 2, 100, id="other executors may come"),
        pytest.param(90, 64, 90, id="more cores than parts"),
        pytest.param(10_000, 2, 1000, id="very many"),
    ],
)
def test_tasks(parts: int, cores: int, expected: int) -> None:
    assert count_tasks(parts, cores) == expected
