"""Additions to a graph and removals from it, also while queries run."""

from __future__ import annotations

import threading
from collections.abc import Hashable, Iterable, Iterator
from typing import NamedTuple

from pyoxigraph import Triple

from penstock.algebra.inputs import InputError
from penstock.rdf.changes import Change
from penstock.rdf.instants import instant_text
from penstock.sources.mirrors import Mirror


class Update(NamedTuple):
    """A triple that is added or removed from an instant on; None is the next instant that has not been evaluated.

    `mirror` is the part of the graph that it is added to or removed from; None is the part that was loaded or updated.
    """

    time: int | None
    added: bool
    triple: Triple
    mirror: Mirror | None = None


class GraphUpdates:
    """The updates of a graph, in their order; any thread may add some.

    Readers report how far they have evaluated. An update before that is refused: evaluated instants never change
    (semantics.md §2). `mirrors` are remote graphs that are parts of this one; each reader sees their changes from its
    next instant on. The graph is the merge of its parts (semantics.md §4), so removing a triple does not remove it from
    a mirror.
    """

    def __init__(self, changes: Iterable[Change] = (), mirrors: Iterable[Mirror] = ()) -> None:
        self._lock = threading.Lock()
        self._updates = [Update(change.time, change.added, change.triple) for change in changes]
        self._mirrors = list(mirrors)
        self._read: dict[Hashable, int] = {}
        self._seen: dict[Hashable, dict[Mirror, frozenset[Triple]]] = {}
        self._evaluated: dict[Hashable, int] = {}

    def mirror(self, mirror: Mirror) -> None:
        """Add a remote graph."""
        self._mirrors.append(mirror)

    def say(self, updates: Iterable[Update]) -> None:
        """Add updates, all or none. Raises InputError where one is too late."""
        said = list(updates)
        with self._lock:
            evaluated = max(self._evaluated.values(), default=None)
            for update in said:
                if evaluated is not None and update.time is not None and update.time <= evaluated:
                    raise InputError(
                        f"a graph cannot change at {instant_text(update.time)}, because instants up to "
                        f"{instant_text(evaluated)} have been evaluated: name a later instant, or none for the next one"
                    )
            self._updates += said

    def begin(self, reader: Hashable) -> None:
        """A reader starts. Raises SourceError where a remote graph cannot be fetched."""
        seen: dict[Mirror, frozenset[Triple]] = {}
        self._seen[reader] = seen
        for mirror in list(self._mirrors):
            mirror.begin()
            seen[mirror] = frozenset()

    def mirrored(self, reader: Hashable) -> dict[Mirror, frozenset[Triple]]:
        """The triples that the mirrors had when the reader last took updates."""
        return dict(self._seen.get(reader, {}))

    def take(self, reader: Hashable, evaluated: int | None) -> list[Update]:
        """The updates that are new to the reader, which evaluates the instants up to `evaluated` next."""
        with self._lock:
            new = self._updates[self._read.get(reader, 0) :]
            self._read[reader] = len(self._updates)
            if evaluated is not None:
                self._evaluated[reader] = evaluated
        return [*new, *self._reflected(reader)]

    def _reflected(self, reader: Hashable) -> Iterator[Update]:
        seen = self._seen.get(reader, {})
        for mirror, before in seen.items():
            now = mirror.triples()
            yield from (Update(None, False, triple, mirror) for triple in before - now)
            yield from (Update(None, True, triple, mirror) for triple in now - before)
            seen[mirror] = now

    def failures(self) -> list[str]:
        """The reasons why remote graphs are not up to date."""
        return [failure for mirror in self._mirrors for failure in mirror.failures()]

    def leave(self, reader: Hashable) -> None:
        """A reader has ended."""
        with self._lock:
            self._read.pop(reader, None)
            self._evaluated.pop(reader, None)
        for mirror in self._seen.pop(reader, {}):
            mirror.end()
