"""Partitions merged by time: nothing is later than in its own partition, and any position continues."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator

import pyarrow as pa
import pytest
from tests.sources.collected import joined

from penstock.rdf.elements import Malformed
from penstock.sources.batches import Batch, Position
from penstock.sources.messages import ELEMENTS
from penstock.sources.partitions import MergedPartitions

Log = list[list[int] | None]
"""Messages of a partition: the times of their elements, or None for a malformed one."""


def rows(messages: Log, first: int) -> tuple[pa.Table, list[tuple[int, Malformed]]]:
    found, malformed, element = [], [], 0
    for offset, times in enumerate(messages, first):
        if times is None:
            malformed.append((offset, Malformed(str(offset), "", "wrong")))
        for time in times or ():
            found.append(("Ia:s", "Ia:p", f"S{offset}", time, element, None, offset))
            element += 1
    columns = list(zip(*found, strict=True)) or [()] * len(ELEMENTS)
    arrays = [pa.array(column, field.type) for column, field in zip(columns, ELEMENTS, strict=True)]
    return pa.table(arrays, schema=ELEMENTS), malformed


def read(logs: list[Log], chance: random.Random, position: Position | None = None) -> Iterator[Batch]:
    """Reads the partitions in random pieces."""
    merged = MergedPartitions(position)
    for number in range(len(logs)):
        if number not in merged:
            merged.begin(number, 0)
    while behind := {number for number, offset in merged.offsets.items() if offset < len(logs[number])}:
        number = chance.choice(sorted(behind))
        offset = merged.offsets[number]
        until = offset + chance.randint(1, 4)
        table, malformed = rows(logs[number][offset:until], offset)
        merged.add(number, table, malformed, min(until, len(logs[number])))
        behind = {number for number, offset in merged.offsets.items() if offset < len(logs[number])}
        batch = merged.take(behind)
        if batch is not None:
            yield batch


def random_logs(chance: random.Random) -> list[Log]:
    """Partitions of different lengths, somewhat out of order, with messages of none or several elements."""
    logs: list[Log] = []
    for _ in range(chance.randint(1, 4)):
        step, time, log = chance.randint(1, 30), 0, []
        for _ in range(chance.randint(0, 30)):
            time += chance.randint(0, step)
            log.append(chance.choice([None, [], [time], [time], [max(0, time - 7)], [time, time + 2, time]]))
        logs.append(log)
    return logs


@pytest.mark.parametrize("seed", range(30))
def test_however_it_is_read_the_order_is_the_same(seed: int) -> None:
    logs = random_logs(random.Random(seed))
    one, other = (joined(read(logs, random.Random(way))) for way in (seed, seed + 1000))
    assert one.elements == other.elements
    assert sorted(one.malformed) == sorted(other.malformed)
    assert len(one.elements) == sum(len(times or ()) for log in logs for times in log)
    assert len(one.malformed) == sum(times is None for log in logs for times in log)


@pytest.mark.parametrize("seed", range(30))
def test_nothing_is_later_than_in_its_partition(seed: int) -> None:
    logs = random_logs(random.Random(seed))

    def most_late(times: list[int]) -> int:
        reached = [max(times[: place + 1]) for place in range(len(times))]
        return max((greatest - time for greatest, time in zip(reached, times, strict=True)), default=0)

    alone = max(most_late([time for times in log for time in times or ()]) for log in logs)
    assert most_late(joined(read(logs, random.Random(seed))).times) == alone


@pytest.mark.parametrize("seed", range(30))
def test_reading_continues_from_any_position(seed: int) -> None:
    logs = random_logs(random.Random(seed))
    whole = list(read(logs, random.Random(seed)))
    expected = joined(whole)
    for count, batch in enumerate(whole, 1):
        position = json.loads(json.dumps(batch.position))
        found = joined([*whole[:count], *read(logs, random.Random(seed + count), position)])
        assert found.elements == expected.elements
        assert sorted(found.malformed) == sorted(expected.malformed)


def test_a_partition_at_its_end_holds_nothing_back() -> None:
    merged = MergedPartitions()
    for number in (0, 1):
        merged.begin(number, 0)
    merged.add(0, *rows([[5], [9]], 0), 2)
    assert merged.take({0, 1}) is None
    found = merged.take({0})
    assert found is not None
    assert joined([found]).times == [5]
    found = merged.take(set())
    assert found is not None
    assert joined([found]).times == [9]
