"""Windows that have a name in RSP-QL alone: `GRAPH ?g` must not range over them.

CQELS's windows have no names, SPARQLstream's are reached by STREAM. In RSP-QL `GRAPH ?g` ranges over all that has a
name, so it gets a filter: GRAPH ?g { … } FILTER (?g NOT IN (<window>, …)).
"""

from __future__ import annotations

from collections.abc import Collection

from penstock.syntax import ast
from penstock.syntax.ast.rewriting import rewrite


def hide(query: ast.Query, windows: Collection[ast.Constant]) -> ast.Query:
    """The query with the windows kept out of each `GRAPH ?g`."""

    def change(node: ast.Node) -> ast.Node:
        if isinstance(node, ast.Graph) and isinstance(node.name, ast.Variable):
            return ast.Group((node, ast.Filter(ast.Operation("NOT IN", (node.name, *windows)))))
        return node

    return rewrite(query, change) if windows else query


def unhide(query: ast.Query) -> ast.Query:
    """The inverse of `hide`."""
    windows = {clause.name for clause in query.dataset if isinstance(clause, ast.WindowClause)}

    def change(node: ast.Node) -> ast.Node:
        match node:
            case ast.Group(
                (ast.Graph(ast.Variable() as name) as graph, ast.Filter(ast.Operation("NOT IN", (first, *rest))))
            ):
                if first == name and rest and all(window in windows for window in rest):
                    return graph
        return node

    return rewrite(query, change)
