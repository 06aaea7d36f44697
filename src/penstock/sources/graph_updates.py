"""Additions to a graph and removals from it, said by anybody, also while queries run."""

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
    """A triple that is added, or removed, from an instant on; None is the next that has not been evaluated.

    `mirror` is the part of the graph that has it from then on, or no more; None is what was loaded and said.
    """

    time: int | None
    added: bool
    triple: Triple
    mirror: Mirror | None = None


class GraphUpdates:
    """The updates of a graph, in the order in which they were said; any thread may say some.

    Who reads them tells how far it has evaluated: an update of an instant that is over is refused, for what has been
    evaluated never changes (semantics.md §2). `mirrors` are graphs elsewhere that are parts of this one: what is new
    there, or gone, is new or gone in that part, for every reader from its next instant on. The graph is the merge of
    its parts (semantics.md §4), so that what a mirror has is there, even if somebody says that it is removed.
    """

    def __init__(self, changes: Iterable[Change] = (), mirrors: Iterable[Mirror] = ()) -> None:
        self._lock = threading.Lock()
        self._updates = [Update(change.time, change.added, change.triple) for change in changes]
        self._mirrors = list(mirrors)
        self._read: dict[Hashable, int] = {}
        self._seen: dict[Hashable, dict[Mirror, frozenset[Triple]]] = {}
        self._evaluated: dict[Hashable, int] = {}

    def mirror(self, mirror: Mirror) -> None:
        """One more."""
        self._mirrors.append(mirror)

    def say(self, updates: Iterable[Update]) -> None:
        """Raises InputError where one is too late; then none of them counts."""
        said = list(updates)
        with self._lock:
            evaluated = max(self._evaluated.values(), default=None)
            for update in said:
                if evaluated is not None and update.time is not None and update.time <= evaluated:
                    raise InputError(
                        f"a graph cannot change at {instant_text(update.time)}, for instants up to "
                        f"{instant_text(evaluated)} have been evaluated: name a later one, or none, which is the next"
                    )
            self._updates += said

    def begin(self, reader: Hashable) -> None:
        """It is going to ask. Raises SourceError where a graph elsewhere cannot be had."""
        seen: dict[Mirror, frozenset[Triple]] = {}
        self._seen[reader] = seen
        for mirror in list(self._mirrors):
            mirror.begin()
            seen[mirror] = frozenset()

    def mirrored(self, reader: Hashable) -> dict[Mirror, frozenset[Triple]]:
        """What the mirrors had when the reader asked last."""
        return dict(self._seen.get(reader, {}))

    def take(self, reader: Hashable, evaluated: int | None) -> list[Update]:
        """What has been said since the reader asked last; it goes on to evaluate the instants up to `evaluated`."""
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
        """Why a graph elsewhere is not what it should be."""
        return [failure for mirror in self._mirrors for failure in mirror.failures()]

    def leave(self, reader: Hashable) -> None:
        """It does not ask any more."""
        with self._lock:
            self._read.pop(reader, None)
            self._evaluated.pop(reader, None)
        for mirror in self._seen.pop(reader, {}):
            mirror.end()
