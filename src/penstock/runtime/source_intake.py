"""Batches from sources that this process reads, in an order that keeps the streams together in time."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

import pyarrow as pa

from penstock.engines.protocol import IntakeBatch
from penstock.sources.batches import Batch, Source
from penstock.sources.feeds import Feed

if TYPE_CHECKING:
    from penstock.runtime.run import Run

Tables = Mapping[str, pa.Table]

_TICK = 0.1
"""The number of seconds that the intake waits at a time."""


class SourceIntake:
    """Always reads the stream that is furthest behind, so that none is read far ahead of the others.

    A stream that has ended, or is idle for longer than its timeout, holds no other back. With `by_arrival` elements are
    stamped with the time of their arrival, and time passes without them. `stopped` ends it, also while it waits.
    """

    reads_on_demand = True

    def __init__(
        self, *, idle_timeout: int | None = None, by_arrival: bool = False, stopped: threading.Event | None = None
    ) -> None:
        self.silent: set[str] = set()
        self._stopped = stopped or threading.Event()
        self._feeds: dict[str, Feed] = {}
        self._idle_timeout = None if idle_timeout is None else idle_timeout / 1000
        self._by_arrival = by_arrival

    @property
    def is_stopped(self) -> bool:
        return self._stopped.is_set()

    def batches(self, run: Run[Tables]) -> Iterator[IntakeBatch[Tables]]:
        """Until all streams have ended; batches without rows where the clock may have moved or queries changed."""
        while True:
            streams = [iri for iri, source in run.streams.items() if not self._feed(run, iri, source).has_ended]
            if not streams:
                return
            awaited = [iri for iri in streams if iri not in self.silent] or streams
            stream = min(awaited, key=run.greatest)
            batch = self._next_of(run, stream, _TICK if self._by_arrival else self._idle_timeout)
            if self.is_stopped:
                return
            if batch is None and run.has_changes:
                yield self._batch(run)
                continue
            if batch is None and self._by_arrival and not self._feeds[stream].has_ended:
                yield self._batch(run)
                for other in streams:
                    yield from self._waiting(run, other)
                continue
            if batch is not None:
                self.silent.discard(stream)
                yield self._batch(run, stream, batch)
            elif stream not in self.silent:
                self.silent.add(stream)
                yield self._batch(run)
            for other in [iri for iri in streams if iri in self.silent and iri != stream]:
                yield from self._waiting(run, other)

    def _batch(self, run: Run[Tables], stream: str = "", batch: Batch | None = None) -> IntakeBatch[Tables]:
        number = run.number + 1
        now = time.time_ns() // 1_000_000 if self._by_arrival else None
        if batch is None:
            return IntakeBatch(number, now=now)
        table = batch.table
        if now is not None and table.num_rows:
            table = table.set_column(3, "ts", pa.repeat(pa.scalar(now, pa.int64()), table.num_rows))
        malformed = [(stream, entry) for entry in batch.malformed]
        rows = {stream: table} if table.num_rows else None
        return IntakeBatch(number, rows, malformed, {stream: batch.position}, now)

    def _feed(self, run: Run[Tables], stream: str, source: Source) -> Feed:
        if stream not in self._feeds:
            self._feeds[stream] = Feed(source, run.positions.get(stream))
        return self._feeds[stream]

    def _next_of(self, run: Run[Tables], stream: str, seconds: float | None) -> Batch | None:
        """The next batch of a stream, if it arrives in time, and before the run stops or a query joins or leaves."""
        feed, until = self._feeds[stream], None if seconds is None else time.monotonic() + seconds
        while not feed.has_ended:
            left = _TICK if until is None else min(_TICK, until - time.monotonic())
            batch = feed.take(max(left, 0))
            if batch is not None or left <= 0 or run.has_changes or self.is_stopped:
                return batch
        return None

    def _waiting(self, run: Run[Tables], stream: str) -> Iterator[IntakeBatch[Tables]]:
        """The batches that have arrived meanwhile from an idle stream."""
        batch = self._feeds[stream].take(0)
        if batch is not None:
            self.silent.discard(stream)
            yield self._batch(run, stream, batch)

    def close(self) -> None:
        for feed in self._feeds.values():
            feed.close()
