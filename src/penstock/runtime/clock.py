"""Time in streams (semantics.md §2): watermarks, and the stream that is furthest behind."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(slots=True)
class StreamClock:
    """The time of one stream: its greatest timestamp, and the least timestamp in time."""

    lateness: int = 0
    greatest: int | None = None
    least: int | None = None
    reached: int | None = None
    """For a stream that a query produces: all instants before it have been evaluated, and no earlier element will
    follow.
    """
    is_silent: bool = False
    """Whether the stream has been idle for longer than its timeout: then it holds no other stream back."""

    @property
    def watermark(self) -> int | None:
        known = None if self.greatest is None else self.greatest - self.lateness
        if known is None or self.reached is None:
            return self.reached if known is None else known
        return max(known, self.reached)

    def widen(self, least: int | None, greatest: int) -> None:
        """Timestamps up to the greatest have arrived; the least is that of the elements that were not late, if any."""
        self.greatest = greatest if self.greatest is None else max(self.greatest, greatest)
        if least is not None:
            self.least = least if self.least is None else min(self.least, least)


@dataclass(slots=True)
class Clock:
    """The time of a query: the watermark of the stream that is furthest behind."""

    streams: dict[str, StreamClock] = field(default_factory=dict)

    @property
    def watermark(self) -> int | None:
        """All instants before it can be evaluated; None while the watermark of a stream is unknown.

        If all streams are idle, they do not hold each other back: it is the watermark of the stream that is furthest
        ahead. Whatever the progress of queries that produce streams, it is not behind the last timestamp, because the
        streams may end with it.
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
