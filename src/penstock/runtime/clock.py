"""Time as the streams tell it (semantics.md §2): watermarks, and which elements are behind them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc


class Noted(NamedTuple):
    """Of timestamps that have come: for each the watermark that it is behind, or NULL if it is in time; and bounds.

    `least` is that of those in time, if any; `first` and `greatest` are those of all.
    """

    since: pa.Array
    first: int
    least: int | None
    greatest: int

    @property
    def has_late(self) -> bool:
        return bool(self.since.null_count < len(self.since))


@dataclass(slots=True)
class StreamClock:
    """The time of one stream: its greatest timestamp, and the least among those that were not late."""

    lateness: int = 0
    greatest: int | None = None
    least: int | None = None
    reached: int | None = None
    """Of a stream that a query gives: all instants before it have been answered, and nothing earlier will come."""
    is_silent: bool = False
    """Whether the stream has been idle for longer than its timeout: it holds no other stream back."""

    @property
    def watermark(self) -> int | None:
        known = None if self.greatest is None else self.greatest - self.lateness
        if known is None or self.reached is None:
            return self.reached if known is None else known
        return max(known, self.reached)

    def note(self, times: pa.ChunkedArray, evaluated: int | None = None) -> Noted:
        """Timestamps, at least one, have come in this order.

        What is before `evaluated`, an instant that has been reached without this stream, is late, too.
        """
        stamps = times.combine_chunks()
        bounds = pc.min_max(stamps)
        first, last = bounds["min"].as_py(), bounds["max"].as_py()
        start = stamps[0].as_py() if self.greatest is None else self.greatest
        reached = pa.concat_arrays([pa.array([start], pa.int64()), stamps.slice(0, len(stamps) - 1)])
        reached = pc.cumulative_max(reached)
        watermarks = pc.subtract(reached, self.lateness)
        if evaluated is not None:
            watermarks = pc.max_element_wise(watermarks, pa.scalar(evaluated, pa.int64()))
        is_late = pc.less(stamps, watermarks)
        since, least = pa.nulls(len(stamps), pa.int64()), first
        if is_late.true_count:
            since = pc.if_else(is_late, watermarks, since)
            in_time = stamps.filter(pc.invert(is_late))
            least = pc.min(in_time).as_py()
        self.widen(least, last)
        return Noted(since, first, least, last)

    def widen(self, least: int | None, greatest: int) -> None:
        """Timestamps up to the greatest have come; the least is that of those that were not late, if any."""
        self.greatest = greatest if self.greatest is None else max(self.greatest, greatest)
        if least is not None:
            self.least = least if self.least is None else min(self.least, least)


@dataclass(slots=True)
class Clock:
    """The time of a query: the watermark of the stream that is furthest behind."""

    streams: dict[str, StreamClock] = field(default_factory=dict)

    @property
    def watermark(self) -> int | None:
        """All instants before it can be evaluated; None as long as a stream has said nothing.

        Streams all of which are silent do not hold each other back: it is that of the one that came furthest. However
        far the queries are that give streams, it is not behind the last timestamp: with that the streams may end.
        """
        counting = [clock.watermark for clock in self.streams.values() if not clock.is_silent]
        last = self.last
        if last is None or any(watermark is None for watermark in counting):
            return None
        if not counting:
            reached = (clock.watermark for clock in self.streams.values())
            return max((watermark for watermark in reached if watermark is not None), default=None)
        return min(last, *(watermark for watermark in counting if watermark is not None))

    @property
    def first(self) -> int | None:
        """The first timestamp of any stream."""
        return min((clock.least for clock in self.streams.values() if clock.least is not None), default=None)

    @property
    def last(self) -> int | None:
        """The last timestamp of any stream."""
        return max((clock.greatest for clock in self.streams.values() if clock.greatest is not None), default=None)
