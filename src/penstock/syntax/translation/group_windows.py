"""Streaming SPARQL's windows inside groups as RSP-QL's WINDOW blocks, and back (Algorithm 1 of the paper).

The window of a group replaces the FROM window for the triple patterns that stand directly in that group; groups inside
it have their own or, again, the FROM window. It applies to the matches of each pattern, which makes a difference to
counting windows alone: ELEMENTS n MATCHING.
"""

from __future__ import annotations

from dataclasses import replace

from penstock.syntax import ast
from penstock.syntax.ast.traversal import AnyNode, rewrite, rewrite_children
from penstock.syntax.errors import TranslationError
from penstock.syntax.translation.window_names import WindowNames, windows_of


def expand_group_windows(query: ast.Query) -> ast.Query:
    expansion = _Expansion(query)
    expanded = expansion.change(query, expansion.default_stream())
    return replace(expanded, dataset=(*query.dataset, *expansion.clauses))


class _Expansion:
    def __init__(self, query: ast.Query) -> None:
        self.query = query
        self.names = WindowNames(query)
        self.clauses: list[ast.WindowClause] = []
        self.has_several = False

    def default_stream(self) -> ast.Constant | None:
        """The stream of the default graph, or None."""
        streams = list(dict.fromkeys(window.stream for window in windows_of(self.query) if not window.named))
        self.has_several = len(streams) > 1
        return streams[0] if streams and isinstance(streams[0], ast.Constant) else None

    def change(self, node: AnyNode, stream: ast.Constant | None) -> AnyNode:
        """Expands the windows below a node; `stream` is the stream that triple patterns read here."""
        if isinstance(node, ast.Graph):
            named = {window.stream for window in windows_of(self.query) if window.named}
            inner = node.name if isinstance(node.name, ast.Constant) and node.name in named else None
            if node.pattern.window is None or inner is None:
                return rewrite_children(node, lambda child: self.change(child, inner))
            return self.change(node.pattern, inner)  # type: ignore[return-value]
        changed = rewrite_children(node, lambda child: self.change(child, stream))
        if isinstance(changed, ast.Group) and changed.window is not None:
            return self._group(changed, stream)  # type: ignore[return-value]
        return changed

    def _group(self, group: ast.Group, stream: ast.Constant | None) -> ast.Group:
        reads_triples = any(isinstance(element, ast.Triples) for element in group.elements)
        if stream is None or not reads_triples:  # the window applies to nothing: static data is always valid
            return replace(group, window=None)
        if self.has_several and stream == self.default_stream():
            raise TranslationError("RSP-QL", ["a window in a group that reads several streams at once"])
        window = group.window
        if isinstance(window, ast.CountWindow):
            window = replace(window, matching=True)
        assert window is not None
        name = self.names.name(stream)
        self.clauses.append(ast.WindowClause(stream, window, True, name))
        return replace(group, elements=_windowed(group.elements, name), window=None)


def _windowed(elements: tuple[ast.Element, ...], name: ast.Constant) -> tuple[ast.Element, ...]:
    """Each basic graph pattern in a WINDOW block; the FILTERs among its triples go behind it (they hold groupwide)."""
    result: list[ast.Element] = []
    triples: list[ast.Element] = []
    filters: list[ast.Element] = []

    def close() -> None:
        if triples:
            result.append(ast.WindowBlock(name, ast.Group(tuple(triples))))
        result.extend(filters)
        triples.clear()
        filters.clear()

    for element in elements:
        if isinstance(element, ast.Triples):
            triples.append(element)
        elif isinstance(element, ast.Filter):
            filters.append(element)
        else:
            close()
            result.append(element)
    close()
    return tuple(result)


def fold_group_windows(query: ast.Query, windows: dict[ast.Constant, ast.Window]) -> ast.Query:
    """Turns WINDOW blocks over the given windows into windows of their groups.

    A group that reads only one such window and has no other triples gets the window; otherwise the block becomes a
    group.
    """

    def change(node: ast.Node) -> ast.Node:
        if not isinstance(node, ast.Group):
            return node
        blocks = [e for e in node.elements if isinstance(e, ast.WindowBlock) and e.name in windows]
        if not blocks:
            return node
        plain = all(isinstance(triples, ast.Triples) for block in blocks for triples in block.pattern.elements)
        has_triples = any(isinstance(element, ast.Triples) for element in node.elements)
        if plain and not has_triples and len({block.name for block in blocks}) == 1:
            elements: list[ast.Element] = []
            for element in node.elements:
                elements += element.pattern.elements if element in blocks else (element,)
            return replace(node, elements=tuple(elements), window=_window(blocks[0], windows))
        return replace(
            node,
            elements=tuple(replace(e.pattern, window=_window(e, windows)) if e in blocks else e for e in node.elements),
        )

    return rewrite(query, change)


def _window(block: ast.WindowBlock, windows: dict[ast.Constant, ast.Window]) -> ast.Window:
    assert isinstance(block.name, ast.Constant)
    window = windows[block.name]
    return replace(window, matching=False) if isinstance(window, ast.CountWindow) else window
