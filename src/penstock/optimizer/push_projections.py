"""Drops variables that no operator above needs (C-SPARQL §5.1).

π_V(P ⟕ Q) = π_V(π_W(P) ⟕ π_W(Q)) where W contains V, the variables of the condition, and those that P and Q share. The
same applies to MINUS and below a grouping. Solutions are a bag, so a projection keeps their number. A BIND or an
aggregate that is not needed is not computed. DISTINCT, REDUCED and LIMIT need all variables below them, EXISTS may need
any, and timestamp() needs the patterns themselves.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from penstock.algebra.expressions import Exists, Expression, Variable, parts_of
from penstock.algebra.operators import (
    Distinct,
    Extend,
    Filter,
    Group,
    Join,
    LeftJoin,
    Minus,
    Operator,
    OrderBy,
    Project,
    ReadElement,
    ReadGraph,
    ReadWindow,
    Reduced,
    Service,
    Slice,
    Table,
    Union,
)
from penstock.optimizer.knowledge import Knowledge

Wanted = frozenset[Variable] | None
"""The variables that are needed; None: all of them."""


def push_projections(operator: Operator, knowledge: Knowledge) -> Operator:
    return operator if knowledge.asks_for_time else _Pushing(knowledge).into(operator, None)


class _Pushing:
    def __init__(self, knowledge: Knowledge) -> None:
        self._knowledge = knowledge

    def into(self, operator: Operator, wanted: Wanted) -> Operator:
        match operator:
            case Project(source, variables):
                kept = variables if wanted is None else tuple(v for v in variables if v in wanted)
                return Project(self.into(source, frozenset(kept)), kept)
            case Distinct(source) | Reduced(source) | Slice(source):
                return replace(operator, source=self.into(source, None))
            case OrderBy(source, conditions):
                return replace(operator, source=self.into(source, _and(wanted, (e for e, _ in conditions))))
            case Filter(condition, source):
                return Filter(condition, self.into(source, _and(wanted, [condition])))
            case Extend(source, variable, expression):
                if wanted is not None and variable not in wanted:
                    return self.into(source, wanted)
                return Extend(self.into(source, _and(wanted, [expression])), variable, expression)
            case Join(left, right):
                asked = self._shared(left, right, wanted)
                return Join(self.into(left, asked), self.into(right, asked))
            case LeftJoin(left, right, condition):
                asked = self._shared(left, right, _and(wanted, [] if condition is None else [condition]))
                return LeftJoin(self._narrowed(left, asked), self._narrowed(right, asked), condition)
            case Minus(left, right):
                asked, compared = (self._shared(left, right, above) for above in (wanted, frozenset[Variable]()))
                return Minus(self._narrowed(left, asked), self._narrowed(right, compared))
            case Union(left, right):
                return Union(self.into(left, wanted), self.into(right, wanted))
            case ReadGraph(name, source) | ReadWindow(name, source) | ReadElement(name, source):
                told = self._knowledge.told_by(name)
                return replace(operator, source=self.into(source, None if wanted is None else wanted | told))
            case Group():
                return self._into_group(operator, wanted)
        return operator

    def _shared(self, left: Operator, right: Operator, wanted: Wanted) -> Wanted:
        """The variables needed from the sides of a join, including those they are joined by."""
        if wanted is None:
            return None
        return wanted | (self._knowledge.scope(left).possible & self._knowledge.scope(right).possible)

    def _narrowed(self, operator: Operator, wanted: Wanted) -> Operator:
        """Adds a projection if it removes a variable."""
        inner = self.into(operator, wanted)
        possible = self._knowledge.scope(inner).possible
        if wanted is None or possible <= wanted or isinstance(inner, Table | Service):
            return inner
        return Project(inner, tuple(sorted(possible & wanted, key=lambda variable: variable.name)))

    def _into_group(self, group: Group, wanted: Wanted) -> Operator:
        aggregates = group.aggregates
        if wanted is not None and group.keys:
            aggregates = tuple((variable, a) for variable, a in aggregates if variable in wanted)
        if any(aggregate.argument is None and aggregate.distinct for _, aggregate in aggregates):
            return replace(group, source=self.into(group.source, None), aggregates=aggregates)
        arguments = (aggregate.argument for _, aggregate in aggregates if aggregate.argument is not None)
        asked = _and(frozenset(), [*(expression for _, expression in group.keys), *arguments])
        return replace(group, source=self._narrowed(group.source, asked), aggregates=aggregates)


def _and(wanted: Wanted, expressions: Iterable[Expression]) -> Wanted:
    """The variables needed above, and those that the expressions read; EXISTS may read all."""
    parts = [part for expression in expressions for part in parts_of(expression)]
    if wanted is None or any(isinstance(part, Exists) for part in parts):
        return None
    return wanted | {part for part in parts if isinstance(part, Variable)}
