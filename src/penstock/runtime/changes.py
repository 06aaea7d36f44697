"""Requests to add queries to a run and to drop them, from any thread; the run applies them between two batches.

A query that joins is evaluated from the next instant on, and sees the part of its streams after the instant that the
run has reached. So its answers depend neither on the batches of the input nor on the thread.
"""

from __future__ import annotations

import threading
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from penstock.runtime.outlets import Outlet
from penstock.runtime.queries import QuerySpec


@dataclass(frozen=True, slots=True)
class Joining:
    """A query to add; `sources` are the streams that it may read."""

    name: str
    spec: QuerySpec
    sources: Mapping[str, Any]
    after: int | None
    """The instant that the run had reached; None if it had evaluated nothing."""


@dataclass(frozen=True, slots=True)
class Leaving:
    """A query to drop."""

    name: str


@dataclass(slots=True)
class Changes:
    """Changes to the queries of a run, in the order of the requests."""

    reached: int | None = None
    """The last instant that the run has evaluated; the store still has all elements after it."""
    pending: threading.Event = field(default_factory=threading.Event)
    """Whether there are changes to apply."""
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _waiting: list[Joining | Leaving] = field(default_factory=list)
    _leaving: frozenset[str] = frozenset()
    _outlets: dict[str, Outlet] = field(default_factory=dict)

    def join(self, name: str, spec: QuerySpec, sources: Mapping[str, Any], outlet: Outlet | None = None) -> None:
        with self._lock:
            self._waiting.append(Joining(name, spec, sources, self.reached))
            if outlet is not None:
                self._outlets[name] = outlet
            self.pending.set()

    def set_outlet(self, name: str, outlet: Outlet) -> None:
        """Sets the outlet for the evaluations of a query."""
        with self._lock:
            self._outlets[name] = outlet

    def take_outlets(self, names: Collection[str]) -> dict[str, Outlet]:
        """The new outlets of these queries."""
        with self._lock:
            return {name: self._outlets.pop(name) for name in [*self._outlets] if name in names}

    def leave(self, name: str) -> None:
        with self._lock:
            self._waiting.append(Leaving(name))
            self._leaving |= {name}
            self.pending.set()

    def is_leaving(self, name: str) -> bool:
        """Whether the evaluations of a query no longer count, though the query is still in the run."""
        return name in self._leaving

    def reach(self, instant: int | None) -> None:
        """The run has reached this instant."""
        with self._lock:
            if instant is not None and (self.reached is None or instant > self.reached):
                self.reached = instant

    def take(self) -> list[Joining | Leaving]:
        """The changes to apply, each once."""
        if not self.pending.is_set():
            return []
        with self._lock:
            waiting, self._waiting, self._leaving = self._waiting, [], frozenset()
            self.pending.clear()
        return waiting
