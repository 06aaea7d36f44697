"""Windows as functions from timestamps to validity intervals (semantics.md §3).

An element is in the content of a window at the instants of its interval `[start, end)`; without an interval, never.
This is the interval algebra of Streaming SPARQL. Every window of every dialect is one of the five kinds below.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol


class Interval(NamedTuple):
    """The instants `start ≤ t < end`; `end` None means forever."""

    start: int
    end: int | None

    def holds(self, instant: int) -> bool:
        return self.start <= instant and (self.end is None or instant < self.end)


class Window(Protocol):
    """The interface of a window."""

    def validity(self, times: Sequence[int]) -> list[Interval | None]:
        """The interval of each element, for the timestamps of the whole stream so far, in order."""

    def closing_instants(self, times: Sequence[int], first: int, last: int) -> Iterator[int]:
        """The instants in `[first, last]` at which the window closes, in order."""


@dataclass(frozen=True, slots=True)
class RangeWindow:
    """RANGE `width` STEP `step`: windows `(c - width, c]` for the closing instants c = origin + width + i·step, i ≥ 0.

    In Streaming SPARQL there is no first window (`begins` False): i is any integer.
    """

    width: int
    step: int
    origin: int = 0
    begins: bool = True

    def validity(self, times: Sequence[int]) -> list[Interval | None]:
        return [self.interval(time) for time in times]

    def interval(self, time: int) -> Interval | None:
        """The interval from the timestamp to the last closing instant that still sees it: the greatest c < time +
        width.
        """
        if self.begins and time <= self.origin:
            return None
        last = self.origin + self.width + (time - self.origin - 1) // self.step * self.step
        return Interval(time, last + 1) if time <= last else None

    def closing_instants(self, times: Sequence[int], first: int, last: int) -> Iterator[int]:
        start = self.origin + self.width
        if not self.begins and start > first:
            start -= -(-(start - first) // self.step) * self.step
        yield from multiples(start, self.step, first, last)


@dataclass(frozen=True, slots=True)
class PastWindow:
    """FROM NOW - `start` TO NOW - `end`, closing every `step`; without a step it never closes.

    A RANGE of CQELS without a step is FROM NOW - range TO NOW: at t it contains the timestamps in `(t - range, t]`.
    """

    start: int
    end: int
    step: int | None = None
    origin: int = 0

    def validity(self, times: Sequence[int]) -> list[Interval | None]:
        return [Interval(time + self.end, time + self.start) for time in times]

    def closing_instants(self, times: Sequence[int], first: int, last: int) -> Iterator[int]:
        if self.step is None:
            return _arrivals(self.validity(times), first, last)
        return multiples(self.origin, self.step, first, last)


@dataclass(frozen=True, slots=True)
class NowWindow:
    """NOW: an element is valid only at its own timestamp."""

    def validity(self, times: Sequence[int]) -> list[Interval | None]:
        return [Interval(time, time + 1) for time in times]

    def closing_instants(self, times: Sequence[int], first: int, last: int) -> Iterator[int]:
        return _arrivals(self.validity(times), first, last)


@dataclass(frozen=True, slots=True)
class AllWindow:
    """ALL: an element is valid from its timestamp on."""

    def validity(self, times: Sequence[int]) -> list[Interval | None]:
        return [Interval(time, None) for time in times]

    def closing_instants(self, times: Sequence[int], first: int, last: int) -> Iterator[int]:
        return _arrivals(self.validity(times), first, last)


@dataclass(frozen=True, slots=True)
class CountWindow:
    """The last `size` elements; the content moves with every element, or with every `step` of them.

    Element number i enters when the content next moves, and leaves with the first move at or behind i + size.
    `matching`: each triple pattern counts the elements that it matches, not all of the stream.
    """

    size: int
    step: int = 1
    matching: bool = False

    def validity(self, times: Sequence[int]) -> list[Interval | None]:
        intervals = [self._interval(times, number) for number in range(1, len(times) + 1)]
        return [i if i is not None and (i.end is None or i.start < i.end) else None for i in intervals]

    def _interval(self, times: Sequence[int], number: int) -> Interval | None:
        enters, leaves = self._move_at_or_behind(number), self._move_at_or_behind(number + self.size)
        if enters > len(times):
            return None
        return Interval(times[enters - 1], times[leaves - 1] if leaves <= len(times) else None)

    def _move_at_or_behind(self, number: int) -> int:
        return -(-number // self.step) * self.step

    def closing_instants(self, times: Sequence[int], first: int, last: int) -> Iterator[int]:
        moves = times[self.step - 1 :: self.step]
        yield from _distinct(time for time in moves if first <= time <= last)


def multiples(start: int, step: int, first: int, last: int) -> Iterator[int]:
    """The instants start + i·step, i ≥ 0, in `[first, last]`."""
    skipped = max(0, -(-(first - start) // step))
    yield from range(start + skipped * step, last + 1, step)


def _arrivals(intervals: Iterable[Interval | None], first: int, last: int) -> Iterator[int]:
    """A window that never closes reports when elements enter it (semantics.md §5)."""
    starts = sorted(interval.start for interval in intervals if interval is not None)
    yield from _distinct(start for start in starts if first <= start <= last)


def _distinct(instants: Iterable[int]) -> Iterator[int]:
    previous = None
    for instant in instants:
        if instant != previous:
            yield instant
        previous = instant
