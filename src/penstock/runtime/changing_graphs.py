"""Graphs that change while a query runs (semantics.md §4): what was said of them reaches the engine."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from pyoxigraph import Triple

from penstock.algebra.inputs import ALWAYS, GraphTriple
from penstock.algebra.windows import Interval
from penstock.engines.protocol import Engine
from penstock.rdf.changes import Change, changes_of, validity
from penstock.sources.graph_updates import GraphUpdates, Update

Updates = Mapping[str | None, GraphUpdates]
"""By the graphs that they are of; None is the unnamed one."""


class ChangingGraphs:
    """All that was said of the triples that have changed, and so when they hold."""

    def __init__(self, engine: Engine, updates: Updates, on_failure: Callable[[str], None]) -> None:
        self._engine = engine
        self._on_failure = on_failure
        self._updates = updates
        self._changes: dict[str | None, dict[Triple, list[Change]]] = {iri: {} for iri in updates}

    def begin(self) -> None:
        """Nothing has been evaluated: what has been said without an instant holds from the beginning.

        Raises SourceError where a graph that is elsewhere cannot be had.
        """
        for updates in self._updates.values():
            updates.begin(self)
        self._take(ALWAYS.start, None, ALWAYS.start)

    def follow(self, first: int, last: int, previous: int | None) -> None:
        """Instants from the first to the last are to be answered; the previous one may be compared with."""
        self._take(first, last, first - 1 if previous is None else previous)

    def close(self) -> None:
        for updates in self._updates.values():
            updates.leave(self)

    def _take(self, first: int, last: int | None, needed: int) -> None:
        for iri, updates in self._updates.items():
            for failure in updates.failures():
                self._on_failure(f"{failure}; the graph stays as it was")
            new = updates.take(self, last)
            if new:
                self._revise(iri, new, first, needed)

    def _revise(self, iri: str | None, new: Sequence[Update], first: int, needed: int) -> None:
        """The triples that the updates are about hold anew; when they held before `needed` nobody asks any more."""
        known = self._changes[iri]
        triples = list(dict.fromkeys(update.triple for update in new))
        unknown: dict[Triple, list[Interval]] = {triple: [] for triple in triples if triple not in known}
        for triple, valid in self._engine.held(iri, list(unknown)):
            unknown[triple].append(valid)
        known.update((triple, changes_of(triple, intervals)) for triple, intervals in unknown.items())
        for time, added, triple in new:
            known[triple].append(Change(first if time is None else time, added, triple))
        for triple in triples:
            known[triple] = _needed(known[triple], needed)
        found = [entry for triple in triples for entry in validity(known[triple])]
        held = [GraphTriple(entry.triple, Interval(entry.start, entry.end)) for entry in found]
        self._engine.revise_graph(iri, triples, held)
        for triple in triples:
            if not known[triple]:
                del known[triple]


def _needed(changes: list[Change], needed: int) -> list[Change]:
    """What still matters from the instant on: the changes after it and, if the triple holds then, since when."""
    later = [change for change in changes if change.time > needed]
    before = validity(change for change in changes if change.time <= needed)
    return [*(Change(start, True, triple) for triple, start, end in before if end is None), *later]
