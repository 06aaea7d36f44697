"""The streams for which a query needs the names of elements: a window over the stream has GRAPH in its block."""

from __future__ import annotations

from penstock.algebra.model import ContinuousQuery, StreamWindow
from penstock.syntax import ast
from penstock.syntax.ast.traversal import walk
from penstock.syntax.translation.element_graphs import has_graph


def reads_names(query: ContinuousQuery, stream: str) -> bool:
    """Whether a window over the stream contains GRAPH, which reads the names of elements."""
    return any(window.stream in (None, stream) for window in _read_by_name(query))


def _read_by_name(query: ContinuousQuery) -> list[StreamWindow]:
    blocks = [node.name for node in walk(query.text) if isinstance(node, ast.WindowBlock) and has_graph(node)]
    if any(isinstance(name, ast.Variable) for name in blocks):
        return list(query.dataset.windows)
    names = {name.text for name in blocks if isinstance(name, ast.Constant)}
    return [window for window in query.dataset.windows if window.name in names]
