"""Which variables a pattern may bind, and which it surely binds.

For the algebra as well as for the checks: `SELECT *` projects what is in scope, and a join on variables that are
certainly bound is a plain equality.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from penstock.syntax import ast
from penstock.syntax.checks.facts import Facts, Scope
from penstock.syntax.checks.walk import walk_group


def in_scope(group: ast.Group) -> Scope:
    """The variables in scope of a group (SPARQL 1.1 §18.2.1) in text order, each with a place that brings it in."""
    return walk_group(group, Facts())


def certainly_bound(group: ast.Group) -> frozenset[str]:
    """The variables that have a value in every solution of a group.

    Not those of an OPTIONAL, of some branches of a UNION only, or with an UNDEF in their VALUES; nor those that an
    expression assigns, for it may fail.
    """
    certain: set[str] = set()
    for element in group.elements:
        certain |= _CERTAIN[type(element)](element)
    return frozenset(certain)


def _of_triples(triples: ast.Triples) -> frozenset[str]:
    return frozenset(in_scope(ast.Group((triples,))))


def _of_union(union: ast.Union) -> frozenset[str]:
    first, *others = union.patterns
    certain = certainly_bound(first)
    for pattern in others:
        certain &= certainly_bound(pattern)
    return certain


def _of_inline_data(data: ast.InlineData) -> frozenset[str]:
    undefined = {column for row in data.rows for column, value in enumerate(row) if value is None}
    return frozenset(variable.name for column, variable in enumerate(data.variables) if column not in undefined)


def _of_graph(block: ast.Graph | ast.WindowBlock) -> frozenset[str]:
    return _of_name(block.name) | certainly_bound(block.pattern)


def _of_stream_block(block: ast.StreamBlock) -> frozenset[str]:
    return _of_name(block.stream) | certainly_bound(block.pattern)


def _of_service(service: ast.Service) -> frozenset[str]:
    """SERVICE SILENT binds nothing when the service fails (SPARQL 1.1 Federated Query §2.3)."""
    return frozenset() if service.silent else _of_name(service.name) | certainly_bound(service.pattern)


def _of_name(name: ast.Variable | ast.Constant) -> frozenset[str]:
    return frozenset((name.name,)) if isinstance(name, ast.Variable) else frozenset()


def _of_sub_select(query: ast.SubSelect) -> frozenset[str]:
    """Grouping keeps its key variables alone, and VALUES joins after it (§18.2.4.3). COUNT never fails."""
    certain = certainly_bound(query.where)
    keys = query.modifiers.group_by
    if keys:
        certain &= {
            key.expression.name for key in keys if key.variable is None and isinstance(key.expression, ast.Variable)
        }
    if query.values is not None:
        certain |= _of_inline_data(query.values)
    if query.select.projections is None:
        return certain
    return frozenset(
        projection.variable.name
        for projection in query.select.projections
        if (projection.expression is None and projection.variable.name in certain) or _is_count(projection.expression)
    )


def _is_count(expression: ast.Expression | None) -> bool:
    return isinstance(expression, ast.Aggregate) and expression.name == "COUNT"


def _of_none(element: ast.Optional | ast.Minus | ast.Filter | ast.Bind) -> frozenset[str]:
    return frozenset()


_CERTAIN: dict[type[ast.Node], Callable[[Any], frozenset[str]]] = {
    ast.Triples: _of_triples,
    ast.Group: certainly_bound,
    ast.SubSelect: _of_sub_select,
    ast.Optional: _of_none,
    ast.Minus: _of_none,
    ast.Union: _of_union,
    ast.Filter: _of_none,
    ast.Bind: _of_none,
    ast.InlineData: _of_inline_data,
    ast.Graph: _of_graph,
    ast.WindowBlock: _of_graph,
    ast.Service: _of_service,
    ast.StreamBlock: _of_stream_block,
}
