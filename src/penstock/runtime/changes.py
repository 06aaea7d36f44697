"""Queries that come and go while a run goes on, as any thread says; the run heeds it between two batches.

A query that comes counts from the next instant on: of its streams it sees what is after the instant that the run has
come to. So neither how the input is cut into batches nor the thread that registers it changes what it answers.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field

from penstock.runtime.running import Standing
from penstock.sources.batches import Source


@dataclass(frozen=True, slots=True)
class Coming:
    """A query that is to be answered from now on; `streams` are those that it may read."""

    name: str
    standing: Standing
    streams: Mapping[str, Source]
    after: int | None
    """The instant that the run had come to; None where it had answered nothing."""


@dataclass(frozen=True, slots=True)
class Going:
    """A query that is to be answered no more."""

    name: str


@dataclass(slots=True)
class Changes:
    """What is to change, in the order in which it was said."""

    reached: int | None = None
    """The last instant that the run has answered; all after it is still there to be seen."""
    said: threading.Event = field(default_factory=threading.Event)
    """Whether there is something to heed."""
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _waiting: list[Coming | Going] = field(default_factory=list)
    _leaving: frozenset[str] = frozenset()

    def come(self, name: str, standing: Standing, streams: Mapping[str, Source]) -> None:
        with self._lock:
            self._waiting.append(Coming(name, standing, streams, self.reached))
            self.said.set()

    def go(self, name: str) -> None:
        with self._lock:
            self._waiting.append(Going(name))
            self._leaving |= {name}
            self.said.set()

    def is_leaving(self, name: str) -> bool:
        """Whether nothing of the query of that name counts any more, though it is still there."""
        return name in self._leaving

    def reach(self, instant: int | None) -> None:
        """The run has come to this instant."""
        with self._lock:
            if instant is not None and (self.reached is None or instant > self.reached):
                self.reached = instant

    def take(self) -> list[Coming | Going]:
        """What there is to heed, each change once."""
        if not self.said.is_set():
            return []
        with self._lock:
            waiting, self._waiting, self._leaving = self._waiting, [], frozenset()
            self.said.clear()
        return waiting
