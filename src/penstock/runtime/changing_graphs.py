"""Graphs that change while a query runs (semantics.md §4): their updates are applied to the store."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any

from pyoxigraph import Triple

from penstock.algebra.inputs import ALWAYS, GraphTriple
from penstock.algebra.windows import Interval
from penstock.engines.protocol import Slice, WindowStore
from penstock.rdf.changes import Change, changes_of, validity
from penstock.runtime.frontiers import Frontier
from penstock.runtime.log import LOG
from penstock.sources.graph_updates import GraphUpdates, Update
from penstock.sources.mirrors import Mirror

Updates = Mapping[str | None, GraphUpdates]
"""Updates by graph; None is the unnamed one."""


class ChangingGraphs:
    """The changes of each triple that has changed, and so its validity; for all queries of a store.

    `on_failure` receives the reason why a remote graph is not up to date.
    """

    def __init__(
        self, store: WindowStore[Any], updates: Updates | None = None, on_failure: Callable[[str], None] = LOG.warning
    ) -> None:
        self._store = store
        self._on_failure = on_failure
        self._updates = updates or {}
        self._changes: dict[str | None, dict[Triple, list[Change]]] = {iri: {} for iri in self._updates}
        self._enough = _ENOUGH
        self._has_begun = False
        self._progress = Frontier()

    def begin(self, query: Hashable) -> None:
        """A query starts. Updates without an instant that precede all evaluations are valid from the beginning.

        Raises SourceError where a remote graph cannot be fetched.
        """
        self._progress.begin(query)
        if not self._has_begun:
            self._has_begun = True
            for updates in self._updates.values():
                updates.begin(self)
            self._take(ALWAYS.start, None)

    def follow(self, query: Hashable, part: Slice) -> None:
        """The query is about to be evaluated at the instants of a slice."""
        first = self._progress.follow(query, part)
        self._take(first, self._progress.evaluated)

    def leave(self, query: Hashable) -> None:
        """The query has left the run."""
        self._progress.leave(query)

    def close(self) -> None:
        for updates in self._updates.values():
            updates.leave(self)

    def _take(self, first: int, evaluated: int | None) -> None:
        for iri, updates in self._updates.items():
            for failure in updates.failures():
                self._on_failure(f"{failure}; the graph stays as it was")
            mirrored = updates.mirrored(self)
            new = updates.take(self, evaluated)
            if new:
                self._revise(iri, new, mirrored, first)

    def _revise(
        self, iri: str | None, new: Sequence[Update], mirrored: Mapping[Mirror, frozenset[Triple]], first: int
    ) -> None:  # fmt: skip
        """Set the validity of the updated triples again; `mirrored` are the triples that mirrors had before."""
        needed = self._progress.needed
        known = self._changes[iri]
        triples = list(dict.fromkeys(update.triple for update in new))
        unknown: dict[Triple, list[Interval]] = {triple: [] for triple in triples if triple not in known}
        for triple, valid in self._store.held(iri, list(unknown)):
            unknown[triple].append(valid)
        for triple, intervals in unknown.items():
            mirror = next((mirror for mirror, had in mirrored.items() if triple in had), None)
            known[triple] = changes_of(triple, intervals, mirror)
        for time, added, triple, part in new:
            known[triple].append(Change(first if time is None else time, added, triple, part))
        for triple in triples:
            known[triple] = _needed(known[triple], needed)
        found = [entry for triple in triples for entry in validity(known[triple])]
        held = [GraphTriple(entry.triple, Interval(entry.start, entry.end)) for entry in found]
        self._store.revise_graph(iri, triples, held, needed)
        if len(known) > self._enough:
            self._forget(known, needed)

    def _forget(self, known: dict[Triple, list[Change]], needed: int) -> None:
        """Forget triples whose validity is complete in the store, unless several parts of the graph contain them."""
        for triple, changes in list(known.items()):
            known[triple] = left = _needed(changes, needed)
            if not left or (len(left) == 1 and left[0].time <= needed):
                del known[triple]
        self._enough = 2 * len(known) + _ENOUGH


_ENOUGH = 1000
"""From this many changed triples on, search for those that can be forgotten."""


def _needed(changes: list[Change], needed: int) -> list[Change]:
    """The changes that matter from the instant on: later ones, and the parts of the graph that contain the triple, with
    their start.
    """
    if len(changes) == 1 and changes[0].added:
        return changes
    before = sorted((change for change in changes if change.time <= needed), key=lambda change: change.time)
    has_it = {change.part: change.added for change in before}
    holding = [part for part, has in has_it.items() if has]
    since = [(triple, start) for triple, start, end in validity(before) if end is None]
    later = [change for change in changes if change.time > needed]
    return [*(Change(start, True, triple, part) for triple, start in since for part in holding), *later]
