"""GRAPH inside of WINDOW or STREAM reads the elements of that window by their names (semantics.md §4).

It does not involve the graphs of the dataset or the names of windows, so translations do not change it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from penstock.syntax import ast
from penstock.syntax.ast.traversal import AnyNode, rewrite, rewrite_children, walk

_WINDOWS = (ast.WindowBlock, ast.StreamBlock)


def has_graph(block: ast.Graph | ast.WindowBlock | ast.StreamBlock) -> bool:
    """Whether there is a GRAPH inside the block."""
    return any(isinstance(node, ast.Graph) for node in walk(block.pattern))


def reads_elements(query: ast.Query) -> bool:
    """Whether there is a GRAPH inside a window."""
    return any(has_graph(node) for node in walk(query) if isinstance(node, _WINDOWS))


def rewrite_around(
    query: ast.Query, change: Callable[[ast.Node], ast.Node], *, beside: frozenset[type[ast.Node]] = frozenset()
) -> ast.Query:
    """`rewrite`, but each GRAPH inside a window stays; only its content is changed."""
    if not reads_elements(query):
        return rewrite(query, change, beside=beside)

    def visit(node: AnyNode, is_inside: bool) -> Any:
        if type(node) in beside:
            return node
        is_window = is_inside or isinstance(node, _WINDOWS)
        inner = rewrite_children(node, lambda child: visit(child, is_window))
        return inner if is_inside and isinstance(node, ast.Graph) else change(inner)

    changed: ast.Query = visit(query, False)
    return changed


def blocks_of(query: ast.Query) -> Iterator[ast.Graph | ast.WindowBlock]:
    """GRAPH and WINDOW blocks, without each GRAPH inside of a window."""
    inside = [node for block in walk(query) if isinstance(block, _WINDOWS) for node in walk(block.pattern)]
    left_out = {id(node) for node in inside if isinstance(node, ast.Graph)}
    for node in walk(query):
        if isinstance(node, ast.Graph | ast.WindowBlock) and id(node) not in left_out:
            yield node
