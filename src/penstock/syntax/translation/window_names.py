"""Names for windows that had none, and which window a name reads."""

from __future__ import annotations

from penstock.rdf.terms import IRI
from penstock.syntax import ast
from penstock.syntax.ast.rewriting import walk


class WindowNames:
    """Hands out IRIs for windows, after the stream they are over, that the query does not use yet."""

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


def graphs_read(query: ast.Query) -> tuple[ast.Variable | ast.Constant, ...]:
    """What GRAPH is said of in the pattern."""
    return tuple(node.name for node in walk(query) if isinstance(node, ast.Graph))
