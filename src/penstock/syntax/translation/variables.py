"""C-SPARQL's hyphenated variables as plain ones, for other dialects: `?total-sensor` becomes `?total_sensor`."""

from __future__ import annotations

from dataclasses import replace

from penstock.syntax import ast
from penstock.syntax.ast.traversal import rewrite, walk


def plain_names(query: ast.Query) -> dict[str, str]:
    """A plain name for each variable that has a hyphen."""
    names = {node.name for node in walk(query) if isinstance(node, ast.Variable)}
    renamed: dict[str, str] = {}
    for name in sorted(names):
        if "-" in name:
            plain = name.replace("-", "_")
            while plain in names or plain in renamed.values():
                plain += "_"
            renamed[name] = plain
    return renamed


def plain_variables(query: ast.Query) -> ast.Query:
    renamed = plain_names(query)

    def change(node: ast.Node) -> ast.Node:
        if isinstance(node, ast.Variable) and node.name in renamed:
            return replace(node, name=renamed[node.name])
        return node

    return rewrite(query, change) if renamed else query
