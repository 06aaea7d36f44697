"""Recent sizes of the input: triples by predicate, in each stream and graph.

A count is known only if an engine counted it. A pattern with a constant predicate matches at most the triples with this
predicate; a constant subject or object, or a condition, selects some of them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from penstock.algebra.expressions import Constant, Variable
from penstock.algebra.model import Dataset, StreamWindow
from penstock.algebra.operators import PatternTerm, TriplePattern
from penstock.rdf.encoding import encode
from penstock.rdf.terms import IRI

Counts = Mapping[str, int]
"""Counts of triples by encoded predicate."""


class Spread(NamedTuple):
    """The number of triples with a predicate, and of their distinct subjects and objects."""

    triples: int
    subjects: int
    objects: int


_LEFT_BY_A_CONSTANT = 0.1
_UNKNOWN = 1000.0
"""More than the length of most VALUES lists."""


@dataclass(frozen=True, slots=True)
class Sizes:
    """Counts of streams and graphs by IRI; None is the unnamed graph."""

    streams: Mapping[str, Counts] = field(default_factory=dict)
    graphs: Mapping[str | None, Counts] = field(default_factory=dict)
    spread: Mapping[str | None, Mapping[str, Spread]] = field(default_factory=dict)
    """The distribution of each predicate in graphs, if the engine wants it."""

    @property
    def are_known(self) -> bool:
        return any(self.streams.values()) or any(self.graphs.values())

    def of(self, pattern: TriplePattern, counts: tuple[Counts, ...]) -> float:
        """The estimated number of triples that the pattern matches."""
        terms = (pattern.subject, pattern.object)
        kept: float = _LEFT_BY_A_CONSTANT ** sum(isinstance(term, Constant) for term in terms)
        if not counts or not isinstance(pattern.predicate, Constant):
            return kept * self.of_all(counts)
        predicate = encode(pattern.predicate.term)
        return kept * sum(table.get(predicate, 0) for table in counts)

    def partners(
        self, pattern: TriplePattern, variables: Collection[Variable], graphs: Iterable[str | None], most: int
    ) -> float:
        """The estimated maximum of matching triples in these graphs for each value of one of the variables.

        None if the variable has more than `most` values.
        """
        if not isinstance(pattern.predicate, Constant):
            return 0.0
        predicate = encode(pattern.predicate.term)
        found = [0.0]
        for graph in graphs:
            spread = self.spread.get(graph, {}).get(predicate)
            if spread is not None:
                places = [(pattern.subject, spread.subjects), (pattern.object, spread.objects)]
                found += [spread.triples / values for term, values in places if term in variables and values <= most]
        return max(found)

    def of_all(self, counts: tuple[Counts, ...]) -> float:
        return float(sum(sum(table.values()) for table in counts)) if counts else _UNKNOWN

    # What is read, as far as counts are concerned (semantics.md §4)

    def default(self, dataset: Dataset) -> tuple[Counts, ...]:
        windows = [window for window in dataset.windows if not window.is_named]
        return (*self._static_default(dataset), *self._of_windows(windows))

    def graph(self, name: PatternTerm, dataset: Dataset) -> tuple[Counts, ...]:
        windows = _named(name, dataset)
        if windows:
            merged = any(not window.is_named for window in windows)
            return (*(self._static_default(dataset) if merged else ()), *self._of_windows(windows))
        named = {iri: counts for iri, counts in self.graphs.items() if iri is not None}
        return tuple(counts for iri, counts in named.items() if not _is_other(name, iri))

    def window(self, name: PatternTerm, dataset: Dataset) -> tuple[Counts, ...]:
        return self._of_windows(_named(name, dataset))

    def _static_default(self, dataset: Dataset) -> tuple[Counts, ...]:
        return tuple(self.graphs[iri] for iri in (None, *dataset.default_graphs) if iri in self.graphs)

    def _of_windows(self, windows: list[StreamWindow]) -> tuple[Counts, ...]:
        read = {iri for window in windows for iri in ([window.stream] if window.stream is not None else self.streams)}
        return tuple(self.streams[iri] for iri in sorted(read) if iri in self.streams)


def _named(name: PatternTerm, dataset: Dataset) -> list[StreamWindow]:
    return [window for window in dataset.windows if window.name is not None and not _is_other(name, window.name)]


def _is_other(name: PatternTerm, iri: str) -> bool:
    return isinstance(name, Constant) and name.term != IRI(iri)
