"""Time in streams (semantics.md §2): watermarks, and which stream is furthest behind."""

from __future__ import annotations

from dataclasses import dataclass, field


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
