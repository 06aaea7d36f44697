"""A replay gives each element when it is due; on a clock of the test's own, which only sleeping moves."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.rdf.collected import write
from tests.sources.collected import elements_of, joined, read_one_by_one

from penstock.rdf.addresses import FILE, Address, parse_address
from penstock.sources import open_source
from penstock.sources.replay import Replay


class Clock:
    def __init__(self) -> None:
        self.time = 100.0

    def now(self) -> float:
        return self.time

    def sleep(self, seconds: float) -> None:
        self.time += seconds


def stream(folder: Path, *times: int) -> Path:
    lines = [f'<a:s> <a:p> "{place}" "{time}" .\n' for place, time in enumerate(times)]
    return write(folder / "a.tnt", "".join(lines))


def played(path: Path, speed: float = 1.0, batch_elements: int | None = None) -> list[tuple[float, list[int]]]:
    """The seconds since the beginning at which batches came, and the timestamps of their elements."""
    clock = Clock()
    source = open_source(path, scope="s", batch_elements=batch_elements)
    batches = Replay(source, speed, clock.now, clock.sleep).batches()
    return [(round(clock.time - 100, 3), [time for time, _ in elements_of(batch)]) for batch in batches]


def test_each_element_comes_at_its_time(tmp_path: Path) -> None:
    path = stream(tmp_path, 5000, 5000, 6000, 8500)
    assert played(path) == [(0.0, [5000, 5000]), (1.0, [6000]), (3.5, [8500])]
    assert played(path, speed=10) == [(0.0, [5000, 5000]), (0.1, [6000]), (0.35, [8500])]


@pytest.mark.parametrize("batch_elements", [1, 2, None])
def test_what_is_out_of_order_comes_at_once(tmp_path: Path, batch_elements: int | None) -> None:
    path = stream(tmp_path, 5000, 6000, 2000, 7000)
    came = {time: seconds for seconds, times in played(path, batch_elements=batch_elements) for time in times}
    assert came[6000] == 1
    assert came[2000] <= 1.05
    assert came[7000] == 2


def test_elements_that_are_close_come_together(tmp_path: Path) -> None:
    found = played(stream(tmp_path, *range(1000)))
    assert [time for _, times in found for time in times] == list(range(1000))
    assert len(found) < 25
    assert all(0 <= seconds - times[-1] / 1000 <= 0.05 for seconds, times in found)


@pytest.mark.parametrize("name", ["a.tnt", "a.nq"])
def test_it_goes_on_from_any_position(tmp_path: Path, name: str) -> None:
    prov = "<http://www.w3.org/ns/prov#generatedAtTime>"
    line = {
        "a.tnt": '<a:s> <a:p> <a:o> "{0}00" .\nwrong\n',
        "a.nq": f'<a:s> <a:p> "{{0}}", <a:g{{0}}> .\n<a:s> {prov} "{{0}}00" <a:g{{0}}> .\n',
    }[name]
    path = write(tmp_path / name, "".join(line.format(number) for number in range(20)))
    expected = read_one_by_one(path)
    clock = Clock()
    source = open_source(path, scope="s", batch_elements=6)
    whole = list(Replay(source, 1.0, clock.now, clock.sleep).batches())
    assert joined(whole) == expected
    for count, batch in enumerate(whole, 1):
        position = json.loads(json.dumps(batch.position))
        rest = Replay(source, 1.0, clock.now, clock.sleep).batches(position)
        assert joined([*whole[:count], *rest]) == expected


def test_it_is_written_before_the_file(tmp_path: Path) -> None:
    source = open_source(f"replay+{stream(tmp_path, 1, 2)}?speed=1000&format=tnt", scope="s")
    assert isinstance(source, Replay)
    assert (source.speed, source.is_live, source.can_resume) == (1000, True, True)
    assert joined(source.batches()).times == [1, 2]


def test_the_speed_is_an_option_among_others() -> None:
    assert parse_address("replay+a?speed=10") == Address(FILE, "a", speed=10)
    assert parse_address("replay+a?format=tnt&speed=0.5&unit=1s") == Address(
        FILE, "a", format="tnt", unit_ms=1000, speed=0.5
    )
    assert parse_address("replay+a") == Address(FILE, "a", speed=1)
