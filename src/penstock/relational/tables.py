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

    If it `changes`, it also has columns `starts` and `ends`.
    """

    name: str
    certain: frozenset[str]
    changes: bool


def answer_column(place: int) -> str:
    return f"c{place}"


@dataclass(frozen=True, slots=True)
class Tables:
    """The tables of the input: `(s, p, o, ts, element, arrival, since)` for streams, `(s, p, o)` for graphs.

    `element` numbers the elements and `arrival` the triples as they arrived; a late element counts only from the
    instant `since`. If a query reads the names of a stream's elements (`algebra.element_names`), its table also has a
    column `g`: the name of the element, NULL if it has none. The graphs in `changing` also have columns `starts` and
    `ends`. The graph under None is the unnamed one.
    """

    streams: Mapping[str, str]
    graphs: Mapping[str | None, str]
    changing: frozenset[str | None] = frozenset()
    predicates: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """All predicates in a table, if they are known: a pattern with another one has no matches there."""
    services: Mapping[ServiceCall, AnswerTable] = field(default_factory=dict)
    changed: Mapping[str | None, str] = field(default_factory=dict)
    """For a graph that is static except for a few triples, the table of these; the other table does not contain them.
    """
    counts: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    """The recent number of rows with each predicate in a table, if counted."""
    keep: Keep | None = field(default=None, compare=False)
    """Where static parts of a query are kept, if they are."""
    produced: frozenset[str] = frozenset()
    """The streams that queries produce."""
    spread: Mapping[str, Mapping[str, Spread]] = field(default_factory=dict)
    """The distribution of each predicate in the tables of graphs, if the engine wants it."""

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
    """The streams of a window; a window over every stream reads those from outside."""
    if window.stream is not None:
        return [window.stream]
    return [stream for stream in tables.streams if stream not in tables.produced]


def reads(dataset: Dataset, stream: str, tables: Tables) -> bool:
    """Whether the window reads the stream."""
    return any(stream in streams_of(window, tables) for window in dataset.windows)
