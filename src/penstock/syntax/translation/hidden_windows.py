"""Windows that have names only in RSP-QL: `GRAPH ?g` and `WINDOW ?w` must not range over them.

The windows of CQELS have no names, and SPARQLstream reads its windows with STREAM. In RSP-QL a variable ranges over
everything with a name, so translation adds a filter: GRAPH ?g { … } FILTER (?g NOT IN (<window>, …)).
"""

from __future__ import annotations

from collections.abc import Sequence

from penstock.syntax import ast
from penstock.syntax.ast.traversal import WITHOUT_GROUPS, rewrite, walk
from penstock.syntax.translation.element_graphs import blocks_of, rewrite_around

Block = ast.Graph | ast.WindowBlock


def hide(
    query: ast.Query, from_graphs: Sequence[ast.Constant], from_windows: Sequence[ast.Constant] = ()
) -> ast.Query:  # fmt: skip
    """Excludes windows from each `GRAPH ?g` and each `WINDOW ?w`."""

    def change(node: ast.Node) -> ast.Node:
        if not isinstance(node, Block) or not isinstance(node.name, ast.Variable):
            return node
        hidden = from_graphs if isinstance(node, ast.Graph) else from_windows
        if not hidden:
            return node
        return ast.Group((node, ast.Filter(ast.Operation("NOT IN", (node.name, *hidden)))))

    return rewrite_around(query, change, beside=WITHOUT_GROUPS)


def unhide(query: ast.Query) -> ast.Query:
    """The inverse of `hide`."""
    windows = _window_names(query)
    return rewrite(query, lambda node: _hidden_from(node, windows) or node)


def is_seen_by_variable(query: ast.Query, kind: type[Block]) -> bool:
    """Whether a `GRAPH ?g` or `WINDOW ?w` ranges over all windows, without exclusions by `hide`."""
    windows = _window_names(query)
    variables = [node for node in blocks_of(query) if isinstance(node, kind) and isinstance(node.name, ast.Variable)]
    return len(variables) > sum(isinstance(_hidden_from(node, windows), kind) for node in walk(query))


def _window_names(query: ast.Query) -> set[ast.Constant]:
    clauses = (clause for clause in query.dataset if isinstance(clause, ast.WindowClause))
    return {clause.name for clause in clauses if clause.name is not None}


def _hidden_from(node: ast.Node, windows: set[ast.Constant]) -> Block | None:
    """The block that `hide` wrapped into this group; None if `hide` did not create the group."""
    match node:
        case ast.Group((ast.Graph() | ast.WindowBlock() as block, ast.Filter(ast.Operation("NOT IN", (name, *rest))))):
            if name == block.name and rest and all(window in windows for window in rest):
                return block
    return None
