"""Turns patterns of the default graph into STREAM blocks, for dialects whose streams are not in the default graph.

With one stream and no graph, each basic graph pattern becomes a block of the stream. If the default graph merges
several sources, each triple of a pattern can come from any of them, so each becomes a union:

    ?s :p ?o  =  { STREAM <a> [w] { ?s :p ?o } } UNION { STREAM <b> [v] { ?s :p ?o } } UNION { ?s :p ?o }

Blank nodes become variables: a label may occur in only one basic graph pattern (SPARQL 1.1 §5.1.1).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from penstock.rdf import vocabulary
from penstock.rdf.terms import IRI
from penstock.syntax import ast
from penstock.syntax.ast.traversal import WITHOUT_GROUPS, rewrite, walk
from penstock.syntax.checks import in_scope

_ELSEWHERE = WITHOUT_GROUPS | {ast.Graph, ast.Service, ast.WindowBlock, ast.StreamBlock}
"""Blocks whose patterns do not read the default graph."""

_FIRST, _REST, _NIL = (
    ast.Constant(IRI(iri)) for iri in (vocabulary.RDF_FIRST, vocabulary.RDF_REST, vocabulary.RDF_NIL)
)


def in_stream_blocks(query: ast.Query, streams: Sequence[ast.WindowClause], *, has_graph: bool) -> ast.Query:
    """The query with STREAM blocks over `streams`; `has_graph`: the default graph has a static part as well."""
    sources: list[ast.WindowClause | None] = [*streams, *([None] if has_graph else [])]
    if len(sources) > 1:
        query = _without_stars(query)
    triples = _SingleTriples(query)

    def change(node: ast.Node) -> ast.Node:
        if not isinstance(node, ast.Group):
            return node
        elements: list[ast.Element] = []
        pattern: list[ast.Triples] = []
        filters: list[ast.Element] = []
        for element in node.elements:
            if isinstance(element, ast.Triples):
                pattern.append(element)
            elif isinstance(element, ast.Filter):  # it does not end a basic graph pattern, and applies to the group
                filters.append(element)
            else:
                elements += _read(pattern, sources, triples)
                pattern.clear()
                elements.append(element)
        return replace(node, elements=(*elements, *_read(pattern, sources, triples), *filters))

    return rewrite(query, change, beside=_ELSEWHERE)


def has_paths(query: ast.Query) -> bool:
    """Whether a property path occurs; its steps may lead from one source to another."""
    return any(
        isinstance(node, ast.Property) and not isinstance(node.verb, (ast.Variable, ast.Constant))
        for node in walk(query)
    )


def _read(
    pattern: Sequence[ast.Triples], sources: Sequence[ast.WindowClause | None], triples: _SingleTriples
) -> Iterator[ast.Element]:
    """A basic graph pattern over the sources; None is the default graph."""
    if not pattern:
        return
    if len(sources) == 1:
        yield _block(sources[0], tuple(pattern))
        return
    for triple in triples.of(pattern):
        yield ast.Union(tuple(_as_group(_block(source, (triple,))) for source in sources))


def _block(source: ast.WindowClause | None, pattern: tuple[ast.Triples, ...]) -> ast.Element:
    if source is None:
        return ast.Group(pattern)
    return ast.StreamBlock(source.stream, source.window, ast.Group(pattern))


def _as_group(element: ast.Element) -> ast.Group:
    return element if isinstance(element, ast.Group) else ast.Group((element,))


def _without_stars(query: ast.Query) -> ast.Query:
    """Expands `*`, so that the variables that replace blank nodes do not appear in the result."""

    def spelled_out(select: ast.Select, where: ast.Group) -> ast.Select:
        if select.projections is not None:
            return select
        return replace(select, projections=tuple(ast.Projection(ast.Variable(name)) for name in in_scope(where)))

    def change(node: ast.Node) -> ast.Node:
        if isinstance(node, ast.SubSelect):
            return replace(node, select=spelled_out(node.select, node.where))
        return node

    query = rewrite(query, change, beside=WITHOUT_GROUPS)
    where = query.where or ast.Group(())
    match query.form:
        case ast.Select():
            return replace(query, form=spelled_out(query.form, where))
        case ast.Describe(resources=None):
            return replace(query, form=replace(query.form, resources=tuple(map(ast.Variable, in_scope(where)))))
        case _:
            return query


class _SingleTriples:
    """Splits `;`, `,`, `[…]` and `(…)` into single triples, with a new variable for each blank node."""

    def __init__(self, query: ast.Query) -> None:
        self._taken = {node.name for node in walk(query) if isinstance(node, ast.Variable)}

    def of(self, pattern: Sequence[ast.Triples]) -> list[ast.Triples]:
        found: list[ast.Triples] = []
        labels: dict[str, ast.Variable] = {}
        for triples in pattern:
            self._properties(self._node(triples.subject, found, labels), triples.properties, found, labels)
        return found

    def _properties(
        self,
        subject: ast.GraphNode,
        properties: tuple[ast.Property, ...],
        found: list[ast.Triples],
        labels: dict[str, ast.Variable],
    ) -> None:
        for entry in properties:
            for node in entry.objects:
                target = self._node(node, found, labels)
                found.append(ast.Triples(subject, (ast.Property(entry.verb, (target,)),)))

    def _node(self, node: ast.GraphNode, found: list[ast.Triples], labels: dict[str, ast.Variable]) -> ast.GraphNode:
        match node:
            case ast.BlankNodeLabel(label):
                if label not in labels:
                    labels[label] = self._variable(label)
                return labels[label]
            case ast.BlankNodePropertyList(properties):
                blank = self._variable("node")
                self._properties(blank, properties, found, labels)
                return blank
            case ast.Collection(items):
                cells: list[ast.GraphNode] = [self._variable("list") for _ in items]
                for cell, item, rest in zip(cells, items, [*cells[1:], _NIL], strict=True):
                    value = self._node(item, found, labels)
                    found.append(ast.Triples(cell, (ast.Property(_FIRST, (value,)), ast.Property(_REST, (rest,)))))
                return cells[0]
            case _:
                return node

    def _variable(self, name: str) -> ast.Variable:
        while name in self._taken:
            name += "_"
        self._taken.add(name)
        return ast.Variable(name)
