"""Shows C-SPARQL's AGGREGATE as one operator, as its paper draws it (§3.4).

Each clause extends every solution of the pattern with an aggregate over its group; the number of rows stays the same.
The algebra defines this as a join of the pattern with a grouped copy of itself, which is hard to read.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import NoReturn

from penstock.algebra import ContinuousQuery, Settings, build
from penstock.algebra.expressions import Aggregate, Variable
from penstock.algebra.model import SelectForm
from penstock.algebra.operators import Filter, Operator, Project
from penstock.algebra.patterns import PatternBuilder
from penstock.syntax import ast
from penstock.syntax.ast.traversal import walk
from penstock.syntax.translation.variables import plain_variables


@dataclass(frozen=True, slots=True)
class Aggregation(Operator):
    """Extends each solution: `variable` is the aggregate over all solutions with the same values for `group`."""

    source: Operator
    variable: Variable
    aggregate: Aggregate
    group: tuple[Variable, ...]


def expression_to_show(query: ast.Query, continuous: ContinuousQuery, settings: Settings) -> Operator:
    """The query's expression with its AGGREGATE clauses as operators."""
    if not query.aggregates or query.where is None:
        return continuous.expression
    plain = plain_variables(query)
    without = build(replace(plain, aggregates=()), settings).expression

    def insert(operator: Operator, depth: int) -> Operator:
        if depth == 0:
            return _with_clauses(operator, plain.aggregates)
        inner = operator.children[0]
        changed = _with_child(operator, inner, insert(inner, depth - 1))
        if isinstance(changed, Project) and isinstance(continuous.form, SelectForm):
            return replace(changed, variables=continuous.form.variables)
        return changed

    return insert(without, _operators_above_the_pattern(plain))


def _with_clauses(pattern: Operator, clauses: tuple[ast.AggregateClause, ...]) -> Operator:
    expressions = PatternBuilder(_no_sub_select)
    for clause in clauses:
        argument = clause.aggregate.argument
        aggregate = Aggregate(
            clause.aggregate.name,
            None if argument is None else expressions.expression(argument),
            clause.aggregate.distinct,
            clause.aggregate.separator,
        )
        group = tuple(Variable(variable.name) for variable in clause.group)
        pattern = Aggregation(pattern, Variable(clause.variable.name), aggregate, group)
        if clause.filter is not None:
            pattern = Filter(expressions.expression(clause.filter.condition), pattern)
    return pattern


def _no_sub_select(sub_select: ast.SubSelect) -> NoReturn:
    raise TypeError(f"an AGGREGATE clause has no pattern: {sub_select}")


def _with_child(operator: Operator, old: Operator, new: Operator) -> Operator:
    name = next(field.name for field in fields(operator) if getattr(operator, field.name) is old)
    return replace(operator, **{name: new})


def _operators_above_the_pattern(query: ast.Query) -> int:
    """The number of operators that the form and the modifiers add above the pattern (SPARQL 1.1 §18.2.4, §18.2.5)."""
    modifiers, form = query.modifiers, query.form
    projections = form.projections or () if isinstance(form, ast.Select) else ()
    extensions = [projection.expression for projection in projections if projection.expression is not None]
    expressions = [*extensions, *modifiers.having, *(condition.expression for condition in modifiers.order_by)]
    has_aggregates = any(isinstance(node, ast.Aggregate) for expression in expressions for node in walk(expression))
    parts = (
        modifiers.limit is not None or bool(modifiers.offset),
        isinstance(form, ast.Select),
        isinstance(form, ast.Select) and form.modifier is not None,
        bool(modifiers.order_by),
        query.values is not None,
        bool(modifiers.group_by) or has_aggregates,
    )
    return sum(parts) + len(extensions) + len(modifiers.having)
