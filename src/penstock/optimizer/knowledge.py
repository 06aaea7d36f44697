"""Facts for the rules besides the expression: the dataset, and the variables that a pattern binds.

A variable is `certain` if every solution binds it, and `possible` if some solution may. Rules that move conditions rely
on this: a condition on certain variables has the same value before and after a join.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from penstock.algebra import operators as algebra
from penstock.algebra.expressions import Constant, Expression, Variable
from penstock.algebra.model import ContinuousQuery, Dataset
from penstock.algebra.operators import Operator, PatternTerm
from penstock.optimizer.sizes import Sizes
from penstock.rdf.terms import IRI
from penstock.syntax import ast
from penstock.syntax.ast.traversal import walk


class Scope(NamedTuple):
    possible: frozenset[Variable]
    certain: frozenset[Variable]


_NO_VARIABLES = Scope(frozenset(), frozenset())


@dataclass(frozen=True, slots=True)
class Knowledge:
    """`asks_for_time`: the query calls timestamp(), which depends on the patterns that bound a variable.

    `sizes` are the recent sizes of streams and graphs.
    """

    dataset: Dataset
    asks_for_time: bool = False
    sizes: Sizes = field(default_factory=Sizes)

    @staticmethod
    def of(query: ContinuousQuery, sizes: Sizes | None = None) -> Knowledge:
        calls = (node for node in walk(query.text) if isinstance(node, ast.Call))
        return Knowledge(query.dataset, any(call.name == "TIMESTAMP" for call in calls), sizes or Sizes())

    def scope(self, operator: Operator) -> Scope:
        """The variables of the solutions of an operator."""
        match operator:
            case algebra.BasicGraphPattern(patterns):
                return _bound(term for p in patterns for term in (p.subject, p.predicate, p.object))
            case algebra.PathPattern(subject, _, object_):
                return _bound((subject, object_))
            case algebra.Join(left, right):
                one, other = self.scope(left), self.scope(right)
                return Scope(one.possible | other.possible, one.certain | other.certain)
            case algebra.LeftJoin(left, right):
                one, other = self.scope(left), self.scope(right)
                return Scope(one.possible | other.possible, one.certain)
            case algebra.Union(left, right):
                one, other = self.scope(left), self.scope(right)
                return Scope(one.possible | other.possible, one.certain & other.certain)
            case algebra.Minus(left):
                return self.scope(left)
            case algebra.Table(variables, rows):
                places = [v for place, v in enumerate(variables) if all(row[place] is not None for row in rows)]
                return Scope(frozenset(variables), frozenset(places))
            case algebra.Extend(source, variable, expression):
                inner = self.scope(source)
                bound = inner.certain | ({variable} if _is_certain(expression, inner) else frozenset())
                return Scope(inner.possible | {variable}, bound)
            case algebra.ReadGraph(name, source) | algebra.ReadElement(name, source):
                return self._named(name, self.scope(source), ())
            case algebra.ReadWindow(name, source):
                return self._named(name, self.scope(source), self._stream_variables(name))
            case algebra.Service(name, source):
                return Scope(self.scope(source).possible | _bound((name,)).possible, frozenset())
            case algebra.Group(source, keys, aggregates):
                inner = self.scope(source)
                certain = {variable for variable, expression in keys if _is_certain(expression, inner)}
                certain |= {variable for variable, aggregate in aggregates if aggregate.name == "COUNT"}
                return Scope(frozenset(variable for variable, _ in (*keys, *aggregates)), frozenset(certain))
            case algebra.Project(source, variables):
                inner = self.scope(source)
                return Scope(inner.possible & set(variables), inner.certain & set(variables))
        (source,) = operator.children  # Filter, Distinct, Reduced, OrderBy, Slice
        return self.scope(source)

    def _named(self, name: PatternTerm, inner: Scope, told: Iterable[Variable]) -> Scope:
        added = _bound((name, *told)).certain
        return Scope(inner.possible | added, inner.certain | added)

    def _stream_variables(self, name: PatternTerm) -> list[Variable]:
        """The variables that are bound to the stream of a window."""
        windows = self.dataset.windows
        if isinstance(name, Constant):
            windows = tuple(window for window in windows if name.term == IRI(window.name or ""))
        return [Variable(window.stream_variable) for window in windows if window.stream_variable is not None]

    def told_by(self, name: PatternTerm) -> frozenset[Variable]:
        """The variables that GRAPH or WINDOW itself binds, or may bind."""
        return _bound((name, *self._stream_variables(name))).possible


def _bound(terms: Iterable[PatternTerm]) -> Scope:
    variables = frozenset(term for term in terms if isinstance(term, Variable))
    return Scope(variables, variables) if variables else _NO_VARIABLES


def _is_certain(expression: Expression, inner: Scope) -> bool:
    return isinstance(expression, Constant) or expression in inner.certain
