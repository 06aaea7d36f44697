"""C-SPARQL's AGGREGATE as a sub-select, and back (semantics.md §8).

Every solution of the pattern P is extended with the aggregate over its group; the number of rows does not change:

    WHERE P AGGREGATE { (?v, SUM(?x), {?g}) FILTER (c) }
  = WHERE { P  { SELECT ?g (SUM(?x) AS ?v) WHERE P GROUP BY ?g }  FILTER (c) }

which holds where each ?g is bound in every solution of P, so that joining is grouping. Blank nodes of the copies of P
get labels of their own.
"""

from __future__ import annotations

from dataclasses import replace

from penstock.syntax import ast
from penstock.syntax.ast.rewriting import rewrite, walk
from penstock.syntax.checks import certainly_bound
from penstock.syntax.errors import TranslationError


def expand_aggregates(query: ast.Query) -> ast.Query:
    """The query with its AGGREGATE clauses as sub-selects."""
    if not query.aggregates or query.where is None:
        return query
    pattern = query.where
    certain = certainly_bound(pattern)
    elements: list[ast.Element] = [pattern]
    filters: list[ast.Element] = []
    for number, clause in enumerate(query.aggregates, start=1):
        for variable in clause.group:
            if variable.name not in certain:
                reason = f"AGGREGATE by ?{variable.name}, which some solutions leave unbound"
                raise TranslationError("RSP-QL", [reason])
        elements.append(ast.Group((_sub_select(clause, _relabelled(pattern, number)),)))
        if clause.filter is not None:
            filters.append(clause.filter)
    return replace(query, where=ast.Group((*elements, *filters)), aggregates=())


def fold_aggregates(query: ast.Query) -> ast.Query:
    """The inverse of `expand_aggregates`: a query that has not its very form stays as it is."""
    if query.aggregates or query.where is None or len(query.where.elements) < 2:
        return query
    pattern, *rest = query.where.elements
    if not isinstance(pattern, ast.Group):
        return query
    clauses: list[ast.AggregateClause] = []
    while rest and (clause := _aggregate_clause(rest[0], pattern, len(clauses) + 1)) is not None:
        clauses.append(clause)
        rest.pop(0)
    for element in rest:
        position = _owner(element, clauses)
        if position is None or not isinstance(element, ast.Filter):
            return query
        clauses[position] = replace(clauses[position], filter=element)
    return replace(query, where=pattern, aggregates=tuple(clauses)) if clauses else query


def _sub_select(clause: ast.AggregateClause, pattern: ast.Group) -> ast.SubSelect:
    groups = tuple(ast.Projection(variable) for variable in clause.group)
    return ast.SubSelect(
        ast.Select((*groups, ast.Projection(clause.variable, clause.aggregate))),
        pattern,
        ast.Modifiers(group_by=tuple(ast.GroupCondition(variable) for variable in clause.group)),
    )


def _aggregate_clause(element: ast.Element, pattern: ast.Group, number: int) -> ast.AggregateClause | None:
    """The clause whose sub-select this is; None if it is no such sub-select over `pattern`."""
    if not (isinstance(element, ast.Group) and len(element.elements) == 1):
        return None
    sub_select = element.elements[0]
    if not isinstance(sub_select, ast.SubSelect) or not sub_select.select.projections:
        return None
    *groups, last = sub_select.select.projections
    if not isinstance(last.expression, ast.Aggregate):
        return None
    clause = ast.AggregateClause(last.variable, last.expression, tuple(group.variable for group in groups))
    is_same = sub_select == _sub_select(clause, _relabelled(pattern, number))
    return clause if is_same else None


def _owner(element: ast.Element, clauses: list[ast.AggregateClause]) -> int | None:
    """The clause that a filter behind the sub-selects belongs to: the first free one whose variable it mentions."""
    names = {node.name for node in walk(element) if isinstance(node, ast.Variable)}
    free = [i for i, clause in enumerate(clauses) if clause.filter is None]
    mentioned = [i for i in free if clauses[i].variable.name in names]
    return next(iter(mentioned or free), None)


def _relabelled(pattern: ast.Group, number: int) -> ast.Group:
    """A copy of the pattern whose blank nodes are its own."""

    def change(node: ast.Node) -> ast.Node:
        if isinstance(node, ast.BlankNodeLabel):
            return replace(node, label=f"{node.label}_{number}")
        return node

    return rewrite(pattern, change)
