"""Generates names for windows without one, and resolves which window a name reads."""

from __future__ import annotations

from penstock.rdf.terms import IRI
from penstock.syntax import ast
from penstock.syntax.ast.traversal import walk


class WindowNames:
    """Generates unused IRIs for windows, derived from the names of their streams."""

    def __init__(self, query: ast.Query) -> None:
        self._taken = {node.text for node in walk(query) if isinstance(node, ast.Constant)}

    def name(self, stream: ast.Constant | ast.Variable) -> ast.Constant:
        base = stream.text if isinstance(stream, ast.Constant) else f"urn:window:{stream.name}"
        mark = "-" if "#" in base else "#"
        number = 1
        while (candidate := f"{base}{mark}window{number}") in self._taken:
            number += 1
        self._taken.add(candidate)
        return ast.Constant(IRI(candidate))


def windows_of(query: ast.Query) -> tuple[ast.WindowClause, ...]:
    return tuple(clause for clause in query.dataset if isinstance(clause, ast.WindowClause))


def streams_read_by_name(query: ast.Query) -> frozenset[ast.Constant | ast.Variable]:
    """SPARQLstream: the declared streams that a STREAM block, or GRAPH with the same IRI, reads by name."""
    blocks = [node for node in walk(query) if isinstance(node, ast.StreamBlock)]
    declared = frozenset(window.stream for window in windows_of(query))
    if any(isinstance(block.stream, ast.Variable) for block in blocks):
        return declared
    return declared & {*(block.stream for block in blocks), *graphs_read(query)}


def graphs_read(query: ast.Query) -> tuple[ast.Variable | ast.Constant, ...]:
    """The names in all GRAPH blocks of the pattern."""
    return tuple(node.name for node in walk(query) if isinstance(node, ast.Graph))


def unread_windows(query: ast.Query) -> tuple[ast.WindowClause, ...]:
    """The named windows of an explicit query that no block reads."""
    read = {node.name for node in walk(query) if isinstance(node, (ast.Graph, ast.WindowBlock))}
    if any(isinstance(name, ast.Variable) for name in read):
        return ()
    return tuple(window for window in windows_of(query) if window.named and window.name not in read)
