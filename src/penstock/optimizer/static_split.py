"""Finds the largest parts of a query that read only static graphs (C-SPARQL's D-graph, CQELS's cache).

The solutions of such a part are the same at every instant. So they are computed once and kept, and the rest of the
query is joined with them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from penstock.algebra import operators as algebra
from penstock.algebra.certain import NEW_EACH_TIME
from penstock.algebra.expressions import Apply, Exists, Expression, Variable, parts_of
from penstock.algebra.operators import Operator, PatternTerm, TriplePattern
from penstock.optimizer.rewriting import joined


class Reading(Protocol):
    """The graph that patterns are matched against, as far as it is known."""

    def is_static_for(self, pattern: TriplePattern) -> bool:
        """Whether all matches of the pattern are in a static graph, now and later."""

    @property
    def is_static(self) -> bool:
        """Whether all of it is."""

    def within(self, name: PatternTerm) -> Reading | None:
        """The graph that GRAPH reads there; None if it is not a single graph."""


def is_static(operator: Operator, reading: Reading) -> bool:
    """Whether the operator has the same solutions at every instant, and reads a graph."""
    match operator:
        case algebra.BasicGraphPattern(patterns):
            return bool(patterns) and all(map(reading.is_static_for, patterns))
        case algebra.PathPattern():
            return reading.is_static
        case algebra.ReadGraph(name, source):
            inner = reading.within(name)
            return inner is not None and is_static(source, inner)
        case algebra.Join() | algebra.Union() | algebra.Minus() | algebra.LeftJoin():
            sides = [side for side in operator.children if not isinstance(side, algebra.Table)]
            are_static = bool(sides) and all(is_static(side, reading) for side in sides)
            return are_static and all(_is_settled(e, reading) for e in _expressions(operator))
        case algebra.Filter() | algebra.Extend() | algebra.Group() | algebra.OrderBy():
            (source,) = operator.children
            return is_static(source, reading) and all(_is_settled(e, reading) for e in _expressions(operator))
        case algebra.Project(source) | algebra.Distinct(source) | algebra.Reduced(source) | algebra.Slice(source):
            return is_static(source, reading)
    return False


def _expressions(operator: Operator) -> list[Expression]:
    match operator:
        case algebra.LeftJoin(_, _, condition):
            return [] if condition is None else [condition]
        case algebra.Filter(condition):
            return [condition]
        case algebra.Extend(_, _, expression):
            return [expression]
        case algebra.Group(_, keys, aggregates):
            arguments = [aggregate.argument for _, aggregate in aggregates if aggregate.argument is not None]
            return [*(expression for _, expression in keys), *arguments]
        case algebra.OrderBy(_, conditions):
            return [expression for expression, _ in conditions]
    return []


def _is_settled(expression: Expression, reading: Reading) -> bool:
    """Whether the expression has the same value for a solution at every instant."""
    for part in parts_of(expression):
        if isinstance(part, Apply) and part.function in NEW_EACH_TIME:
            return False
        if isinstance(part, Exists) and not is_static(part.pattern, reading):
            return False
    return True


def together(
    operands: Sequence[Operator],
    can_be_kept: Callable[[Operator], bool],
    variables: Callable[[Operator], frozenset[Variable]],
) -> list[Operator]:
    """The operands of a join; static operands that share a variable are joined with each other first.

    Static operands without a shared variable stay apart, because their product would be large. The order of these joins
    is fixed, so that kept results are found again whatever the order of the operands.
    """
    streaming: list[Operator] = []
    groups: list[tuple[list[Operator], frozenset[Variable]]] = []
    for operand in operands:
        if not can_be_kept(operand):
            streaming.append(operand)
            continue
        members, shared = [operand], variables(operand)
        for group in [group for group in groups if group[1] & shared]:
            groups.remove(group)
            members, shared = [*group[0], *members], group[1] | shared
        groups.append((members, shared))
    return [*streaming, *(joined(sorted(members, key=repr)) for members, _ in groups)]
