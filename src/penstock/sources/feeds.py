"""Feeds: a thread reads a source a few batches ahead of the engine."""

from __future__ import annotations

import queue
import threading
from collections.abc import Iterator

from penstock.sources.batches import Batch, EndlessSource, Position, Source

_AHEAD = 2
"""The number of batches that are read ahead, so that memory stays bounded."""


class Feed:
    """Batches of a source, read in the background from a position on.

    >>> feed = Feed(open_source("toll.tnt", scope="toll"))  # doctest: +SKIP
    """

    def __init__(self, source: Source, position: Position | None = None) -> None:
        self._is_closed = threading.Event()
        self.source = source.ended_by(self._is_closed) if isinstance(source, EndlessSource) else source
        self.has_ended = False
        self._read: queue.Queue[Batch | BaseException | None] = queue.Queue(_AHEAD)
        thread = threading.Thread(target=self._run, args=(position,), name=f"feed of {source.name}", daemon=True)
        thread.start()

    def take(self, timeout: float | None = None) -> Batch | None:
        """The next batch; None if there was none within `timeout` seconds, or if the source has ended.

        Raises the error with which reading the source has failed.
        """
        if self.has_ended:
            return None
        try:
            taken = self._read.get(timeout=timeout)
        except queue.Empty:
            return None
        if isinstance(taken, Batch):
            return taken
        self.has_ended = True
        if taken is not None:
            raise taken
        return None

    def close(self) -> None:
        """Stop reading; a thread that is waiting for input is left to wait."""
        self.has_ended = True
        self._is_closed.set()
        while not self._read.empty():
            self._read.get()

    def _run(self, position: Position | None) -> None:
        try:
            batches: Iterator[Batch] = self.source.batches(position)
            for batch in batches:
                self._read.put(batch)
                if self._is_closed.is_set():
                    return
            self._read.put(None)
        except BaseException as error:
            self._read.put(error)
