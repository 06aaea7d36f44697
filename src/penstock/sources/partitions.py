"""Partitions of a topic, merged by time.

Each partition is read in its own order, at its own pace. Its elements are merged with those of the others by the
greatest time that the partition has reached: an element is delivered when no partition that is still behind can have
an earlier one. So an element is late in the merged stream exactly if it is late in its partition, however far the
partitions are apart. Elements of the same time are in the order of the partitions' numbers.

A partition that has been read to its known end holds no other back.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field

import pyarrow as pa
import pyarrow.compute as pc

from penstock.rdf.elements import Malformed
from penstock.sources.batches import SCHEMA, Batch, Position


@dataclass(slots=True)
class _Partition:
    """The elements of a partition that have been read and not delivered yet.

    `offset` is that of the next message to read, and `greatest` the greatest time read. `skipped` elements of
    the first message have been delivered before.
    """

    offset: int
    skipped: int = 0
    greatest: int | None = None
    came: int | None = None
    """The greatest delivered time."""
    waiting: list[pa.Table] = field(default_factory=list)
    malformed: list[tuple[int, Malformed]] = field(default_factory=list)


class MergedPartitions:
    """Partitions by their numbers; `position` is that of an earlier batch."""

    def __init__(self, position: Position | None = None) -> None:
        self._known: dict[int, _Partition] = {}
        for number, (offset, skipped, greatest) in (position or {}).items():
            self._known[int(number)] = _Partition(offset, skipped, greatest, greatest)

    def __contains__(self, partition: int) -> bool:
        return partition in self._known

    @property
    def offsets(self) -> dict[int, int]:
        """The offset of the next message of each partition."""
        return {number: partition.offset for number, partition in self._known.items()}

    @property
    def waiting(self) -> dict[int, int]:
        """How many bytes of each partition wait."""
        return {number: sum(table.nbytes for table in one.waiting) for number, one in self._known.items()}

    def begin(self, partition: int, offset: int) -> None:
        self._known[partition] = _Partition(offset)

    def add(self, partition: int, elements: pa.Table, malformed: list[tuple[int, Malformed]], offset: int) -> None:
        """Elements of the next messages (`messages.ELEMENTS`, with the offset of the message in `message`).

        `offset` is that of the message behind them.
        """
        read = self._known[partition]
        read.malformed += malformed
        read.offset = offset
        elements = elements.append_column("nth", places_in_messages(elements))
        if read.skipped and elements.num_rows:
            is_first = pc.equal(elements["message"], elements["message"][0])
            elements = elements.filter(pc.invert(pc.and_(is_first, pc.less(elements["nth"], read.skipped))))
            read.skipped = 0
        if not elements.num_rows:
            return
        reached = pc.cumulative_max(elements["ts"].combine_chunks())
        if read.greatest is not None:
            reached = pc.max_element_wise(reached, read.greatest)
        read.greatest = reached[-1].as_py()
        number = pa.repeat(pa.scalar(partition, pa.int64()), elements.num_rows)
        read.waiting.append(elements.append_column("reached", reached).append_column("partition", number))

    def take(self, behind: Collection[int]) -> Batch | None:
        """The elements to deliver while the partitions `behind` are not read to their ends; None if there are none."""
        reached = [self._known[number].greatest for number in behind]
        bound = min((time for time in reached if time is not None), default=None)
        if behind and (bound is None or None in reached):
            return None
        parts = [part for one in self._known.values() if (part := _before(one, bound)) is not None]
        malformed = [entry for number in self._known for entry in self._malformed_before(number)]
        if not parts and not malformed:
            return None
        return Batch(_merged(parts), self.position, tuple(malformed))

    @property
    def position(self) -> Position:
        return {str(number): [*_first(one), one.came] for number, one in sorted(self._known.items())}

    def _malformed_before(self, number: int) -> list[Malformed]:
        """The malformed messages before the first waiting element."""
        one = self._known[number]
        offset, _ = _first(one)
        found = [entry for at, entry in one.malformed if at < offset]
        one.malformed = [(at, entry) for at, entry in one.malformed if at >= offset]
        return found


def _first(one: _Partition) -> tuple[int, int]:
    """The message with the next element, and how many of its elements have been delivered."""
    if one.waiting:
        return one.waiting[0]["message"][0].as_py(), one.waiting[0]["nth"][0].as_py()
    return one.offset, one.skipped


def _before(one: _Partition, bound: int | None) -> pa.Table | None:
    """Take the elements of a partition that are before a time, or all."""
    if not one.waiting:
        return None
    waiting = one.waiting[0] if len(one.waiting) == 1 else pa.concat_tables(one.waiting)
    count = waiting.num_rows if bound is None else pc.sum(pc.less(waiting["reached"], bound)).as_py()
    one.waiting = [waiting.slice(count)] if count < waiting.num_rows else []
    if not count:
        return None
    one.came = waiting["reached"][count - 1].as_py()
    return waiting.slice(0, count)


def as_elements(elements: pa.Table) -> pa.Table:
    """Elements of messages (`messages.ELEMENTS`) as a batch has them: without the messages, names if there are any."""
    table = elements.select(SCHEMA.names)
    return table if elements["g"].null_count == elements.num_rows else table.append_column("g", elements["g"])


def _merged(parts: list[pa.Table]) -> pa.Table:
    """The elements in the order of the times reached, numbered from 0; names only where there are any."""
    if not parts:
        return SCHEMA.empty_table()
    rows = parts[0]
    if len(parts) > 1:
        rows = pa.concat_tables(parts).sort_by([("reached", "ascending"), ("partition", "ascending")])
    keys = [rows[name].combine_chunks() for name in ("partition", "message", "nth")]
    begins = pa.array([False]) if rows.num_rows == 1 else None
    for key in keys if begins is None else ():
        changes = pc.not_equal(key[1:], key[:-1])
        begins = changes if begins is None else pc.or_(begins, changes)
    numbers = pa.array([0]) if rows.num_rows == 1 else _counted(begins)
    table = rows.select(["s", "p", "o", "ts"]).append_column(SCHEMA.field("element"), numbers)
    return table if rows["g"].null_count == rows.num_rows else table.append_column("g", rows["g"])


def _counted(begins: pa.Array) -> pa.Array:
    """The numbers of elements, from where they begin behind the first."""
    return pa.concat_arrays([pa.array([0], pa.int64()), pc.cumulative_sum(begins.cast(pa.int64()))])


def places_in_messages(elements: pa.Table) -> pa.Array:
    """The place of each element within its message."""
    message = elements["message"].combine_chunks()
    if pc.all(pc.not_equal(message[1:], message[:-1]), min_count=0).as_py():  # each message has one
        return pa.repeat(pa.scalar(0, pa.int64()), len(message))
    number = elements["element"].combine_chunks()
    first = elements.group_by("message", use_threads=False).aggregate([("element", "min")])
    places = pc.index_in(elements["message"], value_set=first["message"])
    return pc.subtract(number, first["element_min"].combine_chunks().take(places.combine_chunks()))
