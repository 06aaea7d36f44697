"""The batches of several streams, in an order that keeps them together in time."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping

from penstock.runtime.clock import Clock
from penstock.sources.batches import Batch, Position, Source
from penstock.sources.feeds import Feed

_TICK = 0.1
"""How long, in seconds, the clock on the wall stands still."""


class Reading:
    """Always the stream that is furthest behind is read: none is read far ahead of the others.

    A stream that has ended, or has been silent for longer than the idle timeout, holds no other back. Where elements
    are stamped as they come (`by_arrival`), time goes on without them. Which `streams` are read may change: one that is
    read no more waits where it is. `woken` says that there is something else to do than to wait for input.
    """

    def __init__(
        self,
        streams: Callable[[], Mapping[str, Source]],
        clock: Clock,
        positions: Mapping[str, Position],
        idle_timeout: int | None,
        by_arrival: bool,
        woken: threading.Event,
    ) -> None:
        self._streams = streams
        self._positions = positions
        self._feeds: dict[str, Feed] = {}
        self._clock = clock
        self._idle_timeout = None if idle_timeout is None else idle_timeout / 1000
        self._by_arrival = by_arrival
        self._woken = woken

    def batches(self) -> Iterator[tuple[str, Batch] | None]:
        """Batches with their streams; None where nothing has come for a while, so that the clock may have moved."""
        while True:
            streams = [iri for iri, source in self._streams().items() if not self._feed(iri, source).has_ended]
            if not streams:
                return
            awaited = [iri for iri in streams if not self._clock.streams[iri].is_silent] or streams
            stream = min(awaited, key=self._time_of)
            batch = self._next_of(stream, _TICK if self._by_arrival else self._idle_timeout)
            if batch is None and self._woken.is_set():
                yield None
                continue
            if batch is None and self._by_arrival and not self._feeds[stream].has_ended:
                yield None
                for other in streams:
                    yield from self._waiting(other)
                continue
            clock = self._clock.streams[stream]
            has_fallen_silent = batch is None and not clock.is_silent
            clock.is_silent = batch is None
            if batch is not None:
                yield stream, batch
            elif has_fallen_silent:
                yield None
            for other in streams:
                if self._clock.streams[other].is_silent and other != stream:
                    yield from self._waiting(other)

    def _feed(self, stream: str, source: Source) -> Feed:
        if stream not in self._feeds:
            self._feeds[stream] = Feed(source, self._positions.get(stream))
        return self._feeds[stream]

    def _next_of(self, stream: str, seconds: float | None) -> Batch | None:
        """The next batch of a stream, if it comes in time, and nobody is woken before."""
        feed, until = self._feeds[stream], None if seconds is None else time.monotonic() + seconds
        while not feed.has_ended:
            left = _TICK if until is None else min(_TICK, until - time.monotonic())
            batch = feed.take(max(left, 0))
            if batch is not None or left <= 0 or self._woken.is_set():
                return batch
        return None

    def _waiting(self, stream: str) -> Iterator[tuple[str, Batch]]:
        """What has come meanwhile from a stream that was silent."""
        batch = self._feeds[stream].take(0)
        if batch is not None:
            self._clock.streams[stream].is_silent = False
            yield stream, batch

    def _time_of(self, stream: str) -> float:
        greatest = self._clock.streams[stream].greatest
        return float("-inf") if greatest is None else greatest

    def close(self) -> None:
        for feed in self._feeds.values():
            feed.close()
