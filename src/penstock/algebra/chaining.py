"""Streams that queries produce for other queries (semantics.md §7): producers, and the order of evaluation.

CONSTRUCT and DESCRIBE produce an RDF stream. Each evaluation with triples is an element: a graph, with the instant of
the evaluation as its timestamp. The stream has the name from REGISTER, or else the name of the query.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from graphlib import CycleError, TopologicalSorter

from pyoxigraph import BlankNode, DefaultGraph, NamedNode, Quad, Triple

from penstock.algebra.inputs import InputError
from penstock.algebra.model import ConstructForm, ContinuousQuery, DescribeForm
from penstock.rdf.elements import Element
from penstock.rdf.iris import resolve
from penstock.rdf.results import Evaluation
from penstock.syntax import ast
from penstock.syntax.suggestions import did_you_mean


def registered_name(query: ast.Query) -> str | None:
    return None if query.register is None else query.register.name.text


def distinct_names(names: Iterable[str]) -> list[str]:
    """The names; duplicates are numbered: `cars`, `cars-2`."""
    taken: dict[str, None] = {}
    for name in names:
        number, distinct = 1, name
        while distinct in taken:
            number += 1
            distinct = f"{name}-{number}"
        taken[distinct] = None
    return list(taken)


def stream_name(query: ContinuousQuery, name: str) -> str | None:
    """The stream that a query produces; `name` is the query's name. A REGISTER QUERY produces none."""
    register = query.text.register
    if register is None:
        return resolve(name, query.text.prologue.base)
    return resolve(register.name.text, query.text.prologue.base) if register.kind == "stream" else None


def produces_triples(query: ContinuousQuery) -> bool:
    return isinstance(query.form, ConstructForm | DescribeForm)


def elements_of(evaluation: Evaluation) -> list[Element]:
    """An evaluation as elements of a stream: one graph, or several named graphs; no element if it has no triples."""
    graphs: dict[NamedNode | BlankNode | None, dict[Triple, None]] = {}
    for statement in evaluation.triples or ():
        graph = None
        if isinstance(statement, Quad):
            assert not isinstance(statement.graph_name, DefaultGraph), "a triple of no named graph is no quad"
            graph, statement = statement.graph_name, statement.triple
        graphs.setdefault(graph, {})[statement] = None
    return [Element(evaluation.time, tuple(triples), graph) for graph, triples in graphs.items()]


@dataclass(frozen=True, slots=True)
class Chain:
    """Queries by name, and the streams that they produce for each other.

    Raises InputError if two queries produce the same stream, or if queries depend on each other in a cycle.
    """

    queries: Mapping[str, ContinuousQuery]
    produced: dict[str, str] = field(init=False, default_factory=dict)
    """The streams of triples, with the queries that produce them."""
    order: tuple[str, ...] = field(init=False, default=())
    """For each query, all queries that it depends on."""

    def __post_init__(self) -> None:
        for name, query in self.queries.items():
            stream = stream_name(query, name)
            if stream is None or not produces_triples(query):
                continue
            if stream in self.produced:
                raise InputError(
                    f"{self.produced[stream]} and {name} both produce the stream <{stream}>: register one of them by "
                    "another name, or drop it"
                )
            self.produced[stream] = name
        producers = {name: self.producers_of(name) for name in self.queries}
        try:
            object.__setattr__(self, "order", tuple(TopologicalSorter(producers).static_order()))
        except CycleError as error:
            raise InputError(_cycle(error.args[1][:-1])) from None

    @property
    def external(self) -> tuple[str, ...]:
        """The streams that queries read and no query produces, without duplicates."""
        read = (stream for query in self.queries.values() for stream in query.dataset.streams)
        return tuple(dict.fromkeys(stream for stream in read if stream not in self.produced))

    @property
    def reads_every(self) -> bool:
        """Whether a query reads all bound streams, whatever their names."""
        return any(window.stream is None for query in self.queries.values() for window in query.dataset.windows)

    @property
    def read(self) -> set[str]:
        """The streams that one query produces and another one reads."""
        return {stream for name in self.queries for stream in self._from_queries(name)}

    def check_unread(self, name: str) -> None:
        """Raises InputError if another query reads the stream of this query."""
        reader = next((other for other in self.queries if name in self.producers_of(other)), None)
        if reader is not None:
            raise InputError(f"{reader} reads the stream that {name} produces: drop {reader} first")

    def streams_of(self, name: str, bound: Collection[str]) -> list[str]:
        """The streams that a query reads; `STREAM ?s` ranges over `bound`, the external streams."""
        self._check_bound(name, bound)
        query = self.queries[name]
        every = bound if any(window.stream is None for window in query.dataset.windows) else ()
        return list(dict.fromkeys([*query.dataset.streams, *every]))

    def producers_of(self, name: str) -> list[str]:
        return [self.produced[stream] for stream in self._from_queries(name)]

    def _from_queries(self, name: str) -> list[str]:
        return [stream for stream in self.queries[name].dataset.streams if stream in self.produced]

    def needed_for(self, names: Iterable[str]) -> list[str]:
        """These queries and all that they depend on, in the order of evaluation."""
        needed: set[str] = set()
        waiting = list(names)
        while waiting:
            name = waiting.pop()
            if name not in needed:
                needed.add(name)
                waiting += self.producers_of(name)
        return [name for name in self.order if name in needed]

    def _check_bound(self, name: str, bound: Collection[str]) -> None:
        for stream in self.queries[name].dataset.streams:
            if stream in self.produced or stream in bound:
                continue
            for other, query in self.queries.items():
                if stream_name(query, other) == stream:
                    raise InputError(
                        f"{name} reads the stream <{stream}>, which has solutions, not triples: only CONSTRUCT and "
                        f"DESCRIBE produce a stream of triples; write {other} with CONSTRUCT"
                    )
            there = [*bound, *self.produced]
            hint = did_you_mean(stream, there) or f"there is {_list(there)}"
            who = "the query" if len(self.queries) == 1 else name
            raise InputError(f"{who} reads the stream <{stream}>, which is not bound, and no query produces it; {hint}")


def check_chained(queries: Mapping[str, ContinuousQuery], name: str, query: ContinuousQuery) -> None:
    """Raises InputError if another query cannot be chained with these queries, which can be chained.

    A query that produces no triples neither closes a cycle nor duplicates a stream.
    """
    if produces_triples(query):
        Chain({**queries, name: query})


def _cycle(names: Sequence[str]) -> str:
    if len(names) == 1:
        return f"{names[0]} reads the stream that it produces itself: a stream cannot depend on itself"
    around = ", which is read by ".join((*names, names[0]))
    return f"queries read each other's streams in a circle: {around}; remove one of them, or let it read another stream"


def _list(streams: Collection[str]) -> str:
    return " and ".join(f"<{stream}>" for stream in streams) or "no stream"
