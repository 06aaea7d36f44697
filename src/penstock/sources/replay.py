"""A file played in real time: elements arrive at the pace of their timestamps."""

from __future__ import annotations

import time
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from penstock.sources.batches import MOST_SECONDS, SCHEMA, Batch, Position, WrappedSource


@dataclass(frozen=True)
class Replay(WrappedSource):
    """Another source at the pace of its timestamps, `speed` times as fast.

    Elements that are due within some milliseconds are one batch. An element that is out of order is not delayed. The
    position is that of the batch before, and the number of elements of the next one that have been read.
    """

    speed: float = 1.0
    now: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep

    @property
    def is_live(self) -> bool:
        return True

    def batches(self, position: Position | None = None) -> Iterator[Batch]:
        before, come = (None, 0) if position is None else (position["after"], position["come"])
        pace = _Pace(self.speed, self.now, self.sleep)
        for batch in self.source.batches(before):
            malformed = () if come else batch.malformed
            due = pc.cumulative_max(batch.table["ts"]).to_pylist()
            numbers = batch.table["element"].to_pylist()
            first = bisect_left(numbers, come)
            while first < len(due):
                end = bisect_right(due, pace.reached(due[first]))
                is_over = end == len(due)
                place = _place(batch.position) if is_over else _place(before, numbers[end])
                yield Batch(_part(batch.table, first, end), place, malformed)
                first, malformed = end, ()
            if malformed:
                yield Batch(batch.table, _place(batch.position), malformed)
            before, come = batch.position, 0


def _place(after: Position | None, come: int = 0) -> Position:
    return {"after": after, "come": come}


def _part(table: pa.Table, first: int, end: int) -> pa.Table:
    """Some rows of a batch, with their elements renumbered."""
    part = table.slice(first, end - first)
    numbers = pc.subtract(part["element"], part["element"][0])
    return part.set_column(part.schema.get_field_index("element"), SCHEMA.field("element"), numbers)


class _Pace:
    """The current time of the stream; the first call sets it."""

    def __init__(self, speed: float, now: Callable[[], float], sleep: Callable[[float], None]) -> None:
        self._speed = speed
        self._now = now
        self._sleep = sleep
        self._first: int | None = None
        self._began = self._latest = 0.0

    def reached(self, time: int) -> float:
        """Wait for a time of the stream, at least some milliseconds after the last call; returns the time reached."""
        if self._first is None:
            self._first, self._began, self._latest = time, self._now(), self._now() - MOST_SECONDS
        due = max(self._began + (time - self._first) / 1000 / self._speed, self._latest + MOST_SECONDS)
        self._sleep(max(0.0, due - self._now()))
        self._latest = self._now()
        return max(float(time), self._first + (self._latest - self._began) * 1000 * self._speed)
