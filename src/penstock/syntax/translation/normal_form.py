"""When two queries are the same but for names that nobody sees: of their windows, and of their prefixes."""

from __future__ import annotations

from dataclasses import replace

from penstock.rdf.terms import IRI
from penstock.syntax import ast
from penstock.syntax.ast.rewriting import rewrite, walk
from penstock.syntax.translation.explicit import explicit
from penstock.syntax.translation.window_names import windows_of


def normal_form(query: ast.Query) -> ast.Query:
    """The explicit query without its prologue, its windows named in the order in which they are declared.

    Where a variable ranges over the windows, their names are part of the answer and stay.
    """
    written = explicit(query)
    windows = [window for window in windows_of(written) if window.name is not None]
    if _names_are_seen(written):
        return replace(written, prologue=ast.Prologue())
    names = {window.name: ast.Constant(IRI(f"urn:window:{i}")) for i, window in enumerate(windows, start=1)}
    reached_by_name_alone = {window.name for window in windows if window.named}

    def change(node: ast.Node) -> ast.Node:
        if not isinstance(node, (ast.WindowClause, ast.WindowBlock, ast.Graph)) or node.name not in names:
            return node
        name = names[node.name]
        if isinstance(node, ast.Graph) and node.name in reached_by_name_alone:
            return ast.WindowBlock(name, node.pattern)
        return replace(node, name=name)

    return replace(rewrite(written, change), prologue=ast.Prologue())


def _names_are_seen(query: ast.Query) -> bool:
    return any(
        isinstance(node, (ast.WindowBlock, ast.Graph)) and isinstance(node.name, ast.Variable) for node in walk(query)
    )
