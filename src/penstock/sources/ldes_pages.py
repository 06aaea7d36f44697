"""Pages of a Linked Data Event Stream (LDES, an extension of W3C TREE): members, and relations to other pages.

A member is what its page says of it: the triples about it, those about the blank nodes in them, and the graph of its
name. Relations over the timestamps of the members say which pages can be skipped, and which are next.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias, cast

from pyoxigraph import BlankNode, NamedNode, Quad, RdfFormat, Triple, serialize

from penstock.rdf.blank_nodes import numbered
from penstock.rdf.elements import GraphName, Node, Statement
from penstock.rdf.errors import ReadingError
from penstock.rdf.parser import parse_statements
from penstock.rdf.timestamps import timestamp_of
from penstock.rdf.vocabulary import RDF_FIRST, RDF_NIL, RDF_REST, RDF_TYPE

LDES, TREE = "https://w3id.org/ldes#", "https://w3id.org/tree#"
ANY_TIME = -(10**18)
"""The lower bound of a page that may have members of any time."""

_LOWER = {TREE + name for name in ("GreaterThanRelation", "GreaterThanOrEqualToRelation", "EqualToRelation")}
_UPPER = {TREE + name for name in ("LessThanRelation", "LessThanOrEqualToRelation", "EqualToRelation")}
_MEMBER, _RELATION, _NODE = (NamedNode(TREE + name) for name in ("member", "relation", "node"))
_PATH, _VALUE, _VIEW = (NamedNode(TREE + name) for name in ("path", "value", "view"))
_TIMESTAMP_PATH = NamedNode(LDES + "timestampPath")
_TYPE, _FIRST, _REST = NamedNode(RDF_TYPE), NamedNode(RDF_FIRST), NamedNode(RDF_REST)

FORMATS = {
    "application/n-quads": RdfFormat.N_QUADS,
    "application/trig": RdfFormat.TRIG,
    "text/turtle": RdfFormat.TURTLE,
    "application/n-triples": RdfFormat.N_TRIPLES,
    "application/ld+json": RdfFormat.JSON_LD,
}

TimestampPath: TypeAlias = tuple[str, ...]
"""Predicates, one after the other."""


class StreamMember(NamedTuple):
    """`time` is None where `error` says why there is none; `content` is N-Quads."""

    time: int | None
    iri: str
    content: bytes
    error: str | None = None


class Bounds(NamedTuple):
    """The times that members of a page, and of those behind it, can have."""

    least: int = ANY_TIME
    most: int = -ANY_TIME


@dataclass(frozen=True, slots=True)
class StreamPage:
    """`next` are the pages behind this one; `views` those at which the stream begins."""

    members: Sequence[StreamMember]
    next: Mapping[str, Bounds]
    views: Sequence[str]
    path: TimestampPath


class _Descriptions:
    """The triples about each node."""

    def __init__(self, statements: Iterable[Statement]) -> None:
        self.named: dict[GraphName, list[Triple]] = defaultdict(list)
        self.triples: dict[Node, list[Triple]] = defaultdict(list)
        for graph, triple in statements:
            (self.triples[cast(Node, triple.subject)] if graph is None else self.named[graph]).append(triple)

    def objects(self, subject: Node, predicate: NamedNode) -> list[Node]:
        return [_object(triple) for triple in self.triples.get(subject, ()) if triple.predicate == predicate]

    def pairs(self, predicate: NamedNode) -> Iterator[tuple[Node, Node]]:
        for subject, triples in self.triples.items():
            yield from ((subject, _object(triple)) for triple in triples if triple.predicate == predicate)

    def description(self, subject: NamedNode) -> list[Triple]:
        """The triples about a node, and about the blank nodes in them."""
        found: list[Triple] = []
        waiting: list[Node] = [subject]
        seen: set[Node] = {subject}
        while waiting:
            for triple in self.triples.get(waiting.pop(), ()):
                found.append(triple)
                if isinstance(triple.object, BlankNode) and triple.object not in seen:
                    seen.add(triple.object)
                    waiting.append(triple.object)
        return found

    def path(self, node: Node) -> TimestampPath:
        """A predicate, or a list of predicates. Raises ReadingError for any other path."""
        if isinstance(node, NamedNode) and node.value != RDF_NIL:
            return (node.value,)
        found: list[str] = []
        while isinstance(node, BlankNode):
            first, rest = self.objects(node, _FIRST), self.objects(node, _REST)
            if len(first) != 1 or len(rest) != 1 or not isinstance(first[0], NamedNode):
                break
            found.append(first[0].value)
            node = rest[0]
        else:
            if found:
                return tuple(found)
        raise ReadingError(
            "the path of its timestamps is neither a predicate nor a list of predicates: name one, ?time="
        )


def _object(triple: Triple) -> Node:
    return cast(Node, triple.object)  # no triple: the reader refuses RDF 1.2


def read_page(
    content: bytes, format: RdfFormat, address: str, path: TimestampPath | None, *, is_path_given: bool = False
) -> StreamPage:
    """`path` is that of the timestamps, if it is known. Raises ReadingError."""
    statements = parse_statements(content, format, numbered("p", "1"), address)
    graph = _Descriptions(statements)
    stated = [node for _, node in graph.pairs(_TIMESTAMP_PATH)]
    if stated and not is_path_given:
        path = graph.path(stated[0])
    members = list(dict.fromkeys(node for _, node in graph.pairs(_MEMBER)))
    if members and path is None:
        raise ReadingError("it has no ldes:timestampPath: name the predicate of the time of its members, ?time=")
    return StreamPage(
        [_member(graph, member, path or ()) for member in members],
        _relations(graph, path or ()),
        sorted({node.value for _, node in graph.pairs(_VIEW) if isinstance(node, NamedNode)}),
        path or (),
    )


def _member(graph: _Descriptions, member: Node, path: TimestampPath) -> StreamMember:
    if not isinstance(member, NamedNode):
        return StreamMember(
            None, str(member), str(member).encode(), "a member without an IRI cannot be told from others"
        )
    own = graph.named.get(member, [])
    about = graph.description(member)
    quads = [Quad(*_parts(triple)) for triple in about] + [Quad(*_parts(triple), member) for triple in own]
    content = serialize(quads, format=RdfFormat.N_QUADS) or b""
    try:
        inside = _Descriptions([Statement(None, triple) for triple in (*about, *own)])
        nodes: list[Node] = [member]
        for predicate in path:
            nodes = [found for node in nodes for found in inside.objects(node, NamedNode(predicate))]
        if not nodes:
            return StreamMember(None, member.value, content, f"the member has no time: no triple has <{path[-1]}>")
        return StreamMember(max(map(timestamp_of, nodes)), member.value, content)
    except ReadingError as error:
        return StreamMember(None, member.value, content, error.reason)


def _parts(triple: Triple) -> tuple[NamedNode | BlankNode, NamedNode, Node | Triple]:
    return triple.subject, triple.predicate, triple.object  # type: ignore[return-value]


def _relations(graph: _Descriptions, path: TimestampPath) -> dict[str, Bounds]:
    """The pages behind this one. Several relations to a page all hold."""
    found: dict[str, Bounds] = {}
    for _, relation in graph.pairs(_RELATION):
        bounds = _bounds(graph, relation, path)
        for node in graph.objects(relation, _NODE):
            if isinstance(node, NamedNode):
                page = node.value.partition("#")[0]
                known = found.get(page, Bounds())
                found[page] = Bounds(max(known.least, bounds.least), min(known.most, bounds.most))
    return found


def _bounds(graph: _Descriptions, relation: Node, path: TimestampPath) -> Bounds:
    try:
        paths = [graph.path(node) for node in graph.objects(relation, _PATH)]
        values = [timestamp_of(node) for node in graph.objects(relation, _VALUE)]
    except ReadingError:
        return Bounds()
    if paths != [path] or len(values) != 1:
        return Bounds()
    kinds = {node.value for node in graph.objects(relation, _TYPE) if isinstance(node, NamedNode)}
    return Bounds(values[0] if kinds & _LOWER else ANY_TIME, values[0] if kinds & _UPPER else -ANY_TIME)
