"""The part of a query whose solutions no later input can remove (semantics.md §8, SPARQL over a stream).

A stream only grows, so a solution of a monotonic pattern stays a solution. `certain_part` is the largest monotonic part
of a query: each of its solutions is final. It excludes the unmatched left side of an OPTIONAL, MINUS, NOT EXISTS,
aggregates, ORDER BY and LIMIT, and everything that changes when evaluated again: NOW() and new blank nodes.
"""

from __future__ import annotations

from dataclasses import replace

from penstock.syntax import ast
from penstock.syntax.ast.traversal import walk

NEW_EACH_TIME = frozenset({"BNODE", "NOW", "RAND", "STRUUID", "UUID"})
"""Functions whose value may change when they are evaluated again."""


def certain_part(query: ast.Query) -> ast.Query | None:
    """The query for the certain solutions; None if no solution is certain before the stream ends."""
    projections = query.form.projections or () if isinstance(query.form, ast.Select) else ()
    if not _keeps_certainty(projections, query.modifiers) or query.aggregates:
        return None
    if query.where is None:
        return query
    where = _certain_group(query.where)
    return None if where is None else replace(query, where=where)


def _keeps_certainty(projections: tuple[ast.Projection, ...], modifiers: ast.Modifiers) -> bool:
    if modifiers != ast.Modifiers():
        return False
    expressions = [projection.expression for projection in projections if projection.expression is not None]
    return all(_is_settled(expression) for expression in expressions)


def _is_settled(expression: ast.Expression) -> bool:
    """Whether the expression always has the same value for a solution."""
    return not any(_may_change(node) for node in walk(expression))


def _may_change(node: ast.Node) -> bool:
    is_new = isinstance(node, ast.Call) and node.name in NEW_EACH_TIME
    return is_new or isinstance(node, (ast.Aggregate, ast.Exists))


def _certain_group(group: ast.Group) -> ast.Group | None:
    elements: list[ast.Element] = []
    for element in group.elements:
        certain = _certain_element(element)
        if certain is None:
            return None
        elements.append(certain)
        if isinstance(element, ast.Optional) and isinstance(certain, ast.Group):
            # The filter of an OPTIONAL belongs to the left join, and sees both sides of it.
            filters = [inner for inner in certain.elements if isinstance(inner, ast.Filter)]
            rest = tuple(inner for inner in certain.elements if not isinstance(inner, ast.Filter))
            elements[-1:] = [replace(certain, elements=rest), *filters]
    return replace(group, elements=tuple(elements))


def _certain_element(element: ast.Element) -> ast.Element | None:
    """The part of an element whose solutions are final; None if the whole group has no certain solution."""
    match element:
        case ast.Minus():
            return None
        case ast.Filter(condition):
            certain = _certain_condition(condition)
            return None if certain is None else replace(element, condition=certain)
        case ast.Bind(expression):
            return element if _is_settled(expression) else None
        case ast.Optional(pattern):
            return _certain_group(pattern)
        case ast.Group():
            return _certain_group(element)
        case ast.Graph(pattern=pattern) | ast.WindowBlock(pattern=pattern):
            inner = _certain_group(pattern)
            return None if inner is None else replace(element, pattern=inner)
        case ast.Union(patterns):
            return _certain_union(element, patterns)
        case ast.SubSelect(select, where, modifiers):
            if not _keeps_certainty(select.projections or (), modifiers):
                return None
            inner = _certain_group(where)
            return None if inner is None else replace(element, where=inner)
        case _:
            return element


def _certain_union(union: ast.Union, patterns: tuple[ast.Group, ...]) -> ast.Element | None:
    """A side without certain solutions adds none."""
    certain = [group for pattern in patterns if (group := _certain_group(pattern)) is not None]
    if not certain:
        return None
    return replace(union, patterns=tuple(certain)) if len(certain) > 1 else certain[0]


def _certain_condition(condition: ast.Expression) -> ast.Expression | None:
    """EXISTS may be part of a conjunction or disjunction: a match that exists is never removed."""
    if isinstance(condition, ast.Exists):
        inner = None if condition.negated else _certain_group(condition.pattern)
        return None if inner is None else replace(condition, pattern=inner)
    if isinstance(condition, ast.Operation) and condition.operator in ("&&", "||"):
        parts = [_certain_condition(operand) for operand in condition.operands]
        certain = tuple(part for part in parts if part is not None)
        return replace(condition, operands=certain) if len(certain) == len(parts) else None
    return condition if _is_settled(condition) else None
