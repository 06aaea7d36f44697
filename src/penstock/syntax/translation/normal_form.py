"""A normal form: equal for queries that differ only in prefixes and in invisible names of windows."""

from __future__ import annotations

from dataclasses import replace

from penstock.rdf.terms import IRI
from penstock.syntax import ast
from penstock.syntax.translation.element_graphs import blocks_of, has_graph, rewrite_around
from penstock.syntax.translation.to_rspql import explicit
from penstock.syntax.translation.variables import plain_variables
from penstock.syntax.translation.window_names import windows_of


def normal_form(query: ast.Query) -> ast.Query:
    """The explicit query without its prologue, with windows renamed in the order of their declaration.

    If a variable ranges over the windows, their names are part of the answer and stay.
    """
    written = _without_unread_names(_in_order(plain_variables(explicit(query))))
    windows = [window for window in windows_of(written) if window.name is not None]
    if _names_are_seen(written):
        return replace(written, prologue=ast.Prologue(base=query.prologue.base))
    names = {window.name: ast.Constant(IRI(f"urn:window:{i}")) for i, window in enumerate(windows, start=1)}
    reached_by_name_alone = {window.name for window in windows if window.named}

    def change(node: ast.Node) -> ast.Node:
        if not isinstance(node, (ast.WindowClause, ast.WindowBlock, ast.Graph)) or node.name not in names:
            return node
        name = names[node.name]
        if isinstance(node, ast.Graph) and node.name in reached_by_name_alone and not has_graph(node):
            return ast.WindowBlock(name, node.pattern)
        return replace(node, name=name)

    return replace(rewrite_around(written, change), prologue=ast.Prologue(base=query.prologue.base))


def _in_order(query: ast.Query) -> ast.Query:
    """Puts graphs before windows and drops origins of 0, the default."""
    graphs = [clause for clause in query.dataset if isinstance(clause, ast.DatasetClause)]
    windows = [
        replace(window, settings=replace(window.settings, origin=window.settings.origin or None))
        for window in windows_of(query)
    ]
    return replace(query, dataset=(*graphs, *windows))


def _without_unread_names(query: ast.Query) -> ast.Query:
    """A window of the default graph needs no name unless something reads it by that name."""
    read = {block.name for block in blocks_of(query)}
    if any(isinstance(name, ast.Variable) for name in read):
        return query
    dataset = tuple(
        replace(clause, name=None)
        if isinstance(clause, ast.WindowClause) and not clause.named and clause.name not in read
        else clause
        for clause in query.dataset
    )
    return replace(query, dataset=dataset)


def _names_are_seen(query: ast.Query) -> bool:
    return any(isinstance(block.name, ast.Variable) for block in blocks_of(query))
