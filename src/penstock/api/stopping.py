"""Live sources that can be told to stop while they wait for input."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass

from penstock.sources import Batch, Feed, Position, Source

_SECONDS_BETWEEN = 0.05


@dataclass(frozen=True, slots=True)
class Stoppable:
    """Another source, which ends when `stopped` is set."""

    source: Source
    stopped: threading.Event

    @staticmethod
    def of(source: Source, stopped: threading.Event) -> Source:
        """The source, stoppable if it is one that waits."""
        return Stoppable(source, stopped) if source.is_live else source

    @property
    def name(self) -> str:
        return self.source.name

    @property
    def is_live(self) -> bool:
        return True

    @property
    def can_resume(self) -> bool:
        return self.source.can_resume

    def batches(self, position: Position | None = None) -> Iterator[Batch]:
        with closing(Feed(self.source, position)) as feed:
            while not (self.stopped.is_set() or feed.has_ended):
                batch = feed.take(_SECONDS_BETWEEN)
                if batch is not None:
                    yield batch
