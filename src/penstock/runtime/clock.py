"""Time as the streams tell it (semantics.md §2): watermarks, and which elements are behind them."""

from __future__ import annotations

from dataclasses import dataclass, field

import pyarrow as pa
import pyarrow.compute as pc


@dataclass(slots=True)
class StreamClock:
    """The time of one stream: its greatest timestamp, and the least among those that were not late."""

    lateness: int = 0
    greatest: int | None = None
    least: int | None = None
    is_silent: bool = False
    """Whether the stream has been idle for longer than its timeout: it holds no other stream back."""

    @property
    def watermark(self) -> int | None:
        return None if self.greatest is None else self.greatest - self.lateness

    def note(self, times: pa.ChunkedArray, evaluated: int | None = None) -> pa.Array:
        """For each timestamp, as it comes, the watermark that it is behind, or NULL if it is in time.

        What is before `evaluated`, an instant that has been reached without this stream, is late, too.
        """
        stamps = times.combine_chunks()
        if not len(stamps):
            return pa.nulls(0, pa.int64())
        bounds = pc.min_max(stamps)
        first, last = bounds["min"].as_py(), bounds["max"].as_py()
        start = stamps[0].as_py() if self.greatest is None else self.greatest
        reached = pa.concat_arrays([pa.array([start], pa.int64()), stamps.slice(0, len(stamps) - 1)])
        reached = pc.cumulative_max(reached)
        watermarks = pc.subtract(reached, self.lateness)
        if evaluated is not None:
            watermarks = pc.max_element_wise(watermarks, pa.scalar(evaluated, pa.int64()))
        is_late = pc.less(stamps, watermarks)
        since = pa.nulls(len(stamps), pa.int64())
        if is_late.true_count:
            since = pc.if_else(is_late, watermarks, since)
            in_time = stamps.filter(pc.invert(is_late))
            first = pc.min(in_time).as_py()
        self.widen(first, last)
        return since

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

        Streams all of which are silent do not hold each other back: it is that of the one that came furthest.
        """
        counting = [clock.watermark for clock in self.streams.values() if not clock.is_silent]
        if not counting:
            reached = (clock.watermark for clock in self.streams.values())
            return max((watermark for watermark in reached if watermark is not None), default=None)
        if any(watermark is None for watermark in counting):
            return None
        return min(watermark for watermark in counting if watermark is not None)

    def reach(self, time: int) -> None:
        """All streams have come to this time: nothing earlier will come."""
        for clock in self.streams.values():
            clock.greatest = time if clock.greatest is None else max(clock.greatest, time)

    @property
    def first(self) -> int | None:
        """The first timestamp of any stream."""
        return min((clock.least for clock in self.streams.values() if clock.least is not None), default=None)

    @property
    def last(self) -> int | None:
        """The last timestamp of any stream."""
        return max((clock.greatest for clock in self.streams.values() if clock.greatest is not None), default=None)
