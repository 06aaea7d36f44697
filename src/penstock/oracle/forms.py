"""SELECT clauses in a form that the oracle's store accepts and that has one possible answer."""

from __future__ import annotations

from dataclasses import replace

from penstock.algebra.building import visible_variables
from penstock.oracle.timestamps import integer
from penstock.rdf.terms import Literal
from penstock.rdf.vocabulary import XSD_BOOLEAN
from penstock.syntax import ast
from penstock.syntax.ast.traversal import rewrite_children, walk

_FALSE = ast.Constant(Literal("false", XSD_BOOLEAN))


def spelled_out(
    select: ast.Select, modifiers: ast.Modifiers, where: ast.Group | None, values: ast.InlineData | None
) -> ast.Select:
    """The clause without `*`, REDUCED, repeated variables, and aliases in the expressions of a grouped query."""
    select = _without_star(select, where, values)
    if select.modifier == "REDUCED":  # dropping no duplicates makes the answer unique
        select = replace(select, modifier=None)
    projections = tuple({entry.variable.name: entry for entry in select.projections or ()}.values())
    if modifiers.group_by or any(isinstance(node, ast.Aggregate) for node in walk(select)):
        projections = _without_aliases(projections)
    return replace(select, projections=projections or None)


def only_visible(where: ast.Group, original: ast.Group, form: ast.Form, modifiers: ast.Modifiers) -> ast.Group:
    """Hides blank nodes, inner nodes of paths, and variables added by the oracle from COUNT(DISTINCT *)."""
    nodes = [node for part in (form, modifiers) for node in walk(part)]
    if not any(isinstance(n, ast.Aggregate) and n.argument is None and n.distinct for n in nodes):
        return where
    names = visible_variables(original, None)
    something = ast.Projection(ast.Variable("oracle_something"), integer(1))
    projections = [ast.Projection(ast.Variable(name)) for name in names] or [something]
    return ast.Group((ast.SubSelect(ast.Select(tuple(projections)), where, ast.Modifiers()),))


def _without_star(select: ast.Select, where: ast.Group | None, values: ast.InlineData | None) -> ast.Select:
    """Replaces `*` with its variables, so that the variables added by the oracle stay hidden."""
    if select.projections is not None or where is None:
        return select
    names = visible_variables(where, values)
    return replace(select, projections=tuple(ast.Projection(ast.Variable(name)) for name in names) or None)


def _without_aliases(projections: tuple[ast.Projection, ...]) -> tuple[ast.Projection, ...]:
    """`(SUM(?n) AS ?x) (?x + 1 AS ?y)` with SUM(?n) for ?x: the store's engine knows no alias in a grouped query."""
    known: dict[str, ast.Expression] = {}
    written: list[ast.Projection] = []

    def change(node: ast.Node) -> ast.Node:
        if isinstance(node, ast.Group):
            return node
        if isinstance(node, ast.Variable):
            return known.get(node.name, node)
        if isinstance(node, ast.Call) and node.name == "BOUND" and change(node.arguments[0]) is not node.arguments[0]:
            value: ast.Expression = change(node.arguments[0])  # type: ignore[assignment]
            return ast.Call("COALESCE", (ast.Call("SAMETERM", (value, value)), _FALSE))
        return rewrite_children(node, change)

    for projection in projections:
        if projection.expression is not None:
            expression: ast.Expression = change(projection.expression)  # type: ignore[assignment]
            known[projection.variable.name] = expression
            projection = replace(projection, expression=expression)
        written.append(projection)
    return tuple(written)
