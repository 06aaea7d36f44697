"""The tables that statements read: streams, graphs, and answers of services."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from penstock.algebra.model import Dataset, StreamWindow
from penstock.algebra.services import ServiceCall
from penstock.optimizer import Sizes
from penstock.optimizer.sizes import Spread
from penstock.relational.static_parts import Keep


@dataclass(frozen=True, slots=True)
class AnswerTable:
    """The answers of a service: a column for each variable, named by `answer_column`, and the variables always bound.

    If it `changes`, it has columns `starts` and `ends` besides.
    """

    name: str
    certain: frozenset[str]
    changes: bool


def answer_column(place: int) -> str:
    return f"c{place}"


@dataclass(frozen=True, slots=True)
class Tables:
    """Where the input is: tables `(s, p, o, ts, element, arrival, since)` of streams, `(s, p, o)` of graphs.

    `element` numbers the elements and `arrival` the triples as they came; an element that came late counts only from
    the instant `since`. A stream of which a query reads the names of elements (`algebra.element_names`) has a column
    `g` besides: the name of the element, NULL where it has none. The graphs in `changing` have columns `starts` and
    `ends` besides. The graph under None is the unnamed one.
    """

    streams: Mapping[str, str]
    graphs: Mapping[str | None, str]
    changing: frozenset[str | None] = frozenset()
    predicates: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """All predicates that a table has, where that is known: no other pattern finds anything there."""
    services: Mapping[ServiceCall, AnswerTable] = field(default_factory=dict)
    changed: Mapping[str | None, str] = field(default_factory=dict)
    """Of a graph that is static but for a few triples, the table of these, which are not in the other one."""
    counts: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    """How many rows with each predicate a table has lately had, as far as it was counted."""
    keep: Keep | None = field(default=None, compare=False)
    """Where static parts of a query are kept, if they are."""
    given: frozenset[str] = frozenset()
    """The streams that come from other queries."""
    spread: Mapping[str, Mapping[str, Spread]] = field(default_factory=dict)
    """How the triples of each predicate are spread in tables of graphs, where that is to be known."""

    @property
    def sizes(self) -> Sizes:
        return Sizes(
            {iri: self.counts[table] for iri, table in self.streams.items() if table in self.counts},
            {iri: self.counts[table] for iri, table in self.graphs.items() if table in self.counts},
            {iri: self.spread[table] for iri, table in self.graphs.items() if table in self.spread},
        )

    def may_match(self, table: str, predicate: str | None) -> bool:
        known = self.predicates.get(table)
        return known is None or predicate is None or predicate in known


def streams_of(window: StreamWindow, tables: Tables) -> list[str]:
    """The streams that a window is over; one over every stream is over those from outside."""
    if window.stream is not None:
        return [window.stream]
    return [stream for stream in tables.streams if stream not in tables.given]


def reads(dataset: Dataset, stream: str, tables: Tables) -> bool:
    """Whether a window is over the stream."""
    return any(stream in streams_of(window, tables) for window in dataset.windows)
