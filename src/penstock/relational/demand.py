"""The triple patterns that a query needs: without a match of them it has no solutions.

They form a formula over patterns in windows: a join needs both sides, a union one of them, OPTIONAL and MINUS their
left side. If the formula is false, the query need not be evaluated.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Protocol

from penstock.algebra.expressions import Variable
from penstock.algebra.model import ContinuousQuery
from penstock.algebra.operators import (
    BasicGraphPattern,
    Distinct,
    Extend,
    Filter,
    Group,
    Join,
    LeftJoin,
    Minus,
    Operator,
    OrderBy,
    PatternTerm,
    Project,
    ReadElement,
    ReadGraph,
    ReadWindow,
    Reduced,
    Slice,
    TriplePattern,
    Union,
)
from penstock.rdf.terms import IRI
from penstock.relational.active_graphs import ActiveGraph
from penstock.relational.dataset import DatasetGraphs, NamedGraph
from penstock.relational.matching import TripleConditions, asked_by
from penstock.relational.relations import Statement
from penstock.relational.shapes import Snapshot
from penstock.relational.tables import Tables
from penstock.relational.windows import reach_of


class Watch(Protocol):
    """A triple pattern over a stream, and the known facts about its matches."""

    @property
    def latest(self) -> int | None:
        """No match has a greater timestamp; None: there is no match."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """A pattern in a window, in which a triple is visible for at most `reach` milliseconds, if that is known."""

    watch: Watch
    reach: int | None

    def may_hold(self, first: int | None) -> bool:
        latest = self.watch.latest
        return latest is not None and (self.reach is None or first is None or latest >= first - self.reach)


@dataclass(frozen=True, slots=True)
class AllOf:
    parts: tuple[Demand, ...]

    def may_hold(self, first: int | None) -> bool:
        return all(part.may_hold(first) for part in self.parts)


@dataclass(frozen=True, slots=True)
class AnyOf:
    parts: tuple[Demand, ...]

    def may_hold(self, first: int | None) -> bool:
        return any(part.may_hold(first) for part in self.parts)


Demand = Wanted | AllOf | AnyOf
"""`may_hold(first)`: whether there may be solutions at the instant `first` or later; None means always."""

ALWAYS = AllOf(())


def demand_of(
    query: ContinuousQuery, expression: Operator, tables: Tables, watch: Callable[[str, TripleConditions], Watch]
) -> Demand:  # fmt: skip
    """`watch` returns the known facts about a pattern over a stream."""
    dataset = DatasetGraphs(Statement(Snapshot()), query.dataset, tables)
    streams = {table: iri for iri, table in tables.streams.items()}
    return _Reader(dataset, streams, watch).demand(expression, dataset.default)


@dataclass(frozen=True, slots=True)
class _Reader:
    dataset: DatasetGraphs
    streams: dict[str, str]
    """The streams by their tables."""
    watch: Callable[[str, TripleConditions], Watch]

    def demand(self, operator: Operator, graph: ActiveGraph) -> Demand:
        here = partial(self.demand, graph=graph)
        match operator:
            case BasicGraphPattern(patterns):
                return AllOf(tuple(self._pattern(pattern, graph) for pattern in patterns))
            case Join(left, right):
                return AllOf((here(left), here(right)))
            case Union(left, right):
                return AnyOf((here(left), here(right)))
            case LeftJoin(left) | Minus(left):
                return here(left)
            case Filter(_, source) | Extend(source) | Project(source) | Distinct(source) | Reduced(source):
                return here(source)
            case OrderBy(source) | Slice(source) | ReadElement(_, source):
                return here(source)
            case Group(source, keys):
                return here(source) if keys else ALWAYS
            case ReadGraph(name, source):
                return self._in_any(name, source, self.dataset.graphs())
            case ReadWindow(name, source):
                return self._in_any(name, source, self.dataset.windows())
        return ALWAYS

    def _in_any(self, name: PatternTerm, source: Operator, graphs: Sequence[NamedGraph]) -> Demand:
        """A variable ranges over all of them."""
        if not isinstance(name, Variable):
            graphs = [named for named in graphs if IRI(named.name) == name.term]
        return AnyOf(tuple(self.demand(source, named.graph) for named in graphs))

    def _pattern(self, pattern: TriplePattern, graph: ActiveGraph) -> Demand:
        """A graph has its triples from the start; those of a stream have to arrive."""
        asked = asked_by(pattern)
        if graph.has_beside_windows(asked):
            return ALWAYS
        return AnyOf(
            tuple(
                Wanted(self.watch(self.streams[table], asked), reach_of(window.window))
                for window, table in graph.windows
            )
        )
