"""Reading N-Quads by columns gives what reading quad by quad gives: the same elements, the same malformed pieces."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.rdf.collected import write
from tests.rdf.lines import (
    ODD_LINES,
    ODD_TERMS,
    ODD_TIMES,
    ORDINARY_TERMS,
    ORDINARY_TIMES,
    WRONG_TERMS,
    WRONG_TIMES,
    triples_with,
)
from tests.rdf.random_lines import TERMS, TIMES, mutated
from tests.sources.collected import joined, read, read_one_by_one

from penstock.sources import blocks, open_source, quads

AT = "<http://www.w3.org/ns/prov#generatedAtTime>"


def agree(path: Path, **options: int) -> int:
    """By columns and one by one it is the same; how many elements there are."""
    found, expected = read(path, **options), read_one_by_one(path)
    assert found.elements == expected.elements
    assert sorted(found.malformed) == sorted(expected.malformed)
    return len(found.elements)


@pytest.fixture(autouse=True, scope="module", params=["by columns", "one by one"])
def few_lines_are_many(request: pytest.FixtureRequest) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        if request.param == "by columns":
            patch.setattr(quads, "FEW", 0)
        yield


@pytest.fixture(params=[60, 400, 1 << 20])
def block(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks, "MOST_BYTES", request.param)
    monkeypatch.setattr(blocks, "_PIECE", request.param // 2 + 1)


def test_what_is_ordinary_takes_no_parser(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = [term for term in ORDINARY_TERMS if term[0] in "<_"]
    lines = [f"<a:s> <a:p> {term} {name} .\n{name} {AT} {time} .\n<a:s> <a:p> {term} .\n"
             for term, name, time in zip(ORDINARY_TERMS, names * 9, ORDINARY_TIMES * 9, strict=False)]  # fmt: skip
    path = write(tmp_path / "a.nq", "".join(lines))
    expected = read_one_by_one(path)
    monkeypatch.setattr(quads, "FEW", 0)

    def parse(text: bytes, *_: object) -> None:
        raise AssertionError(f"not taken for ordinary: {text!r}")

    monkeypatch.setattr(quads, "parse_statements", parse)
    assert read(path) == expected
    assert len(expected.elements) == len(names)


@pytest.mark.parametrize("terms", [ORDINARY_TERMS, ODD_TERMS, WRONG_TERMS])
def test_terms_of_every_kind(tmp_path: Path, terms: tuple[str, ...]) -> None:
    lines = [f"{' '.join(triple)} <a:g> ." for term in terms for triple in triples_with(term)]
    lines += [f"<a:s> <a:p> <a:o> {term} ." for term in terms] + [f"<a:s> <a:p> {term} ." for term in terms]
    lines += [f'{term} {AT} "{number}" .' for number, term in enumerate((*terms, "<a:g>"))]
    agree(write(tmp_path / "a.nq", "\n".join(lines)))


def test_timestamps_of_every_kind(tmp_path: Path) -> None:
    times = ORDINARY_TIMES + ODD_TIMES + WRONG_TIMES
    outside = [f"<a:s> <a:p> <a:o> <a:g{n}> .\n<a:g{n}> {AT} {time} .\n" for n, time in enumerate(times)]
    inside = [f"<a:s> {AT} {time} <a:h{n}> .\n" for n, time in enumerate(times)]
    path = write(tmp_path / "a.nq", "".join(outside + inside))
    assert agree(path) == 2 * len(ORDINARY_TIMES + ODD_TIMES)


def test_lines_of_every_kind(tmp_path: Path) -> None:
    agree(write(tmp_path / "a.nq", "\n".join(line.replace('"1000"', "<a:g>") for line in ODD_LINES)))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\n",
        "# nothing",
        "<a:s> <a:p> <a:o> .\n",
        f'<a:g> {AT} "1" .\n',
        f'<a:s> <a:p> <a:o> <a:g> .\n<a:g> {AT} "soon", "1" .\n',
        f'<a:s> <a:p> <a:o> <a:g> .\n<a:g> {AT} "soon" .\n<a:g> {AT} "7" .\n<a:g> {AT} "3" .\n',
        f'<a:s> <a:p> "1" <a:g> .\n<a:s> <a:p> "2" <a:h> .\n<a:h> {AT} "2" .\n<a:s> <a:q> "1" <a:g> .\n<a:g> {AT} "1".',
        f'<a:g> {AT} "1" .\n<a:s> <a:p> "1" <a:g> .\n<a:s> <a:p> "1" <a:g> .\n<a:s> <a:p> "0" <a:g> .\n' * 3,
        f'<a:s> {AT} "5" <a:g> .\n<a:s> {AT} "4" <a:g> .\n<a:s> <a:p> "1" <a:h> .\n',
        f'<a:s> {AT} "5" <a:g> .\n<a:g> {AT} "later" .\n',
        f'_:g {AT} "5" .\n_:s <a:p> _:g _:g . _:s <a:p> _:o _:h .\n<a:s> {AT} "1"@en _:h .\n',
        f'\ufeff_:s <a:p> "\\n" _:g .\r\n_:g {AT} "5" .\r\n',
        "".join(f'<a:s> <a:p> "{n}" <a:g{n % 7}> .\n<a:g{n % 5}> {AT} "{n}" .\n' for n in range(16)),
        "".join(f'<a:s> <a:p> "{n}" <a:g{n}> .\n<a:g{15 - n}> {AT} "{n}" .\n' for n in range(16)),
    ],
)
def test_graphs_of_every_kind(tmp_path: Path, text: str, block: None) -> None:
    path = write(tmp_path / "a.nq", text)
    agree(path)
    agree(path, batch_elements=2)


def test_reading_goes_on_from_any_position(tmp_path: Path, block: None) -> None:
    text = "".join(f'<a:s> <a:p> "{n}" <a:g{n // 2 * n % 11}> .\n<a:g{n % 9}> {AT} "{n}" .\nwrong\n' for n in range(9))
    source = open_source(write(tmp_path / "a.nq", text), scope="s", batch_elements=2)
    whole = list(source.batches())
    for count, batch in enumerate(whole, 1):
        assert joined([*whole[:count], *source.batches(batch.position)]) == joined(whole)


def test_a_damaged_file_is_read_up_to_the_damage(tmp_path: Path) -> None:
    text = "".join(f'<a:s> <a:p> "{n * n}" <a:g{n}> .\n<a:g{n}> {AT} "{n}" .\n' for n in range(9_000))
    packed = gzip.compress(text.encode())
    assert agree(write(tmp_path / "a.nq.gz", packed[: len(packed) // 2])) > 1000
    assert agree(write(tmp_path / "b.nq.gz", packed)) == 9_000


def test_another_time_predicate(tmp_path: Path) -> None:
    path = write(tmp_path / "a.nq", f'<a:s> <a:at> "3" <a:g> .\n<a:g> {AT} "5" .\n')
    assert read(f"{path}?time=a:at").times == [3]


NAMES = st.one_of(st.sampled_from(["<a:g>", "<a:h>", "_:i", "<a:j>"]), TERMS)
LINES = st.one_of(
    st.tuples(st.sampled_from(["<a:s>", "_:b"]), st.just("<a:p>"), TERMS, NAMES).map(" ".join),
    st.tuples(NAMES, st.just(AT), TIMES).map(" ".join),
    st.tuples(st.just("<a:s>"), st.just(AT), TIMES, NAMES).map(" ".join),
    st.tuples(st.just("<a:s>"), st.just("<a:p>"), TERMS).map(" ".join),
)


@given(
    lines=st.lists(mutated(LINES.map(lambda line: f"{line} .")), max_size=12),
    size=st.sampled_from([100, 300, 1 << 20]),
    batch_elements=st.sampled_from([1, 3, 100]),
)
def test_any_quads_are_read_alike(
    tmp_path_factory: pytest.TempPathFactory, lines: list[bytes], size: int, batch_elements: int
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(blocks, "MOST_BYTES", size)
        patch.setattr(blocks, "_PIECE", size // 2 + 1)
        path = write(tmp_path_factory.getbasetemp() / "any.nq", b"\n".join(lines))
        agree(path, batch_elements=batch_elements)
