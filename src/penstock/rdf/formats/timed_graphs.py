"""Named graphs with a time: `<g> prov:generatedAtTime TS` in the default graph, or that predicate in the graph itself.

The default graph is about the stream and not part of it. If it says nothing about a graph, any triple of the graph with
the predicate gives the time. Of several times the greatest counts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from math import inf

from pyoxigraph import NamedNode, Triple

from penstock.rdf.elements import Element, GraphName, Malformed, Node, OnMalformed, Statement
from penstock.rdf.errors import ReadingError
from penstock.rdf.formats.read_options import ReadOptions
from penstock.rdf.timestamps import greatest

ALL_IN_DEFAULT_GRAPH = (
    "there is no named graph in it, and the default graph is not part of a stream: put the triples of each element "
    'into a graph with a name (TriG: <g> { … }; JSON-LD: "@id" and "@graph")'
)

ReadStatements = Callable[[OnMalformed], Iterable[Statement]]


def graphs_of_document(read: ReadStatements, place: str, options: ReadOptions) -> Iterator[Element]:
    """The graphs of a document, in the order in which they first appear.

    A graph may come in pieces, and its time after it, so the document is read twice: once to see where each graph ends,
    and again to take them one by one. Only the graphs that have begun and not ended are ever held.
    """
    last_mention: dict[GraphName, int] = {}
    has_statements = has_graphs = False
    for index, statement in enumerate(read(_ignore)):
        has_statements, has_graphs = True, has_graphs or statement.graph is not None
        mentioned = _mentioned(statement, options.time_predicate)
        if mentioned is not None:
            last_mention[mentioned] = index
    if has_statements and not has_graphs:
        options.on_malformed(Malformed(place, "", ALL_IN_DEFAULT_GRAPH))
    graphs = _Graphs(place, options)
    for index, statement in enumerate(read(options.on_malformed)):
        graphs.add(statement)
        while (first := graphs.first()) is not None and last_mention.get(first, inf) <= index:
            yield from graphs.take(first)
    yield from graphs.take_all()


def graphs_in_passing(statements: Iterable[Statement], place: str, options: ReadOptions) -> Iterator[Element]:
    """The graphs of a live input: a graph is over, and its time must be known, when the next one begins."""
    graphs = _Graphs(place, options)
    for statement in statements:
        if statement.graph is not None and statement.graph != graphs.first():
            yield from graphs.take_all()
        graphs.add(statement)
    yield from graphs.take_all()


class _Graphs:
    """The graphs that have begun, in their order, and the times that the default graph gives."""

    def __init__(self, place: str, options: ReadOptions) -> None:
        self._place = place
        self._options = options
        self._triples: dict[GraphName, dict[Triple, None]] = {}
        self._times: dict[GraphName, list[Node]] = {}

    def first(self) -> GraphName | None:
        return next(iter(self._triples), None)

    def add(self, statement: Statement) -> None:
        graph, triple = statement
        if graph is not None:
            self._triples.setdefault(graph, {})[triple] = None
        elif (dated := _mentioned(statement, self._options.time_predicate)) is not None:
            self._times.setdefault(dated, []).append(_object(triple))

    def take(self, graph: GraphName) -> Iterator[Element]:
        """The graph as an element; nothing if it has no time, which is reported."""
        triples = tuple(self._triples.pop(graph))
        try:
            time = self._time(graph, triples)
        except ReadingError as error:
            text = "\n".join(f"{triple} {graph} ." for triple in triples)
            self._options.on_malformed(Malformed(self._place, text, error.reason))
        else:
            yield Element(time, triples, graph)

    def take_all(self) -> Iterator[Element]:
        while (graph := self.first()) is not None:
            yield from self.take(graph)

    def _time(self, graph: GraphName, triples: Iterable[Triple]) -> int:
        predicate = self._options.time_predicate
        times = self._times.pop(graph, None) or times_within(triples, predicate)
        if not times:
            raise ReadingError(without_time(graph, predicate))
        return greatest(times)


def without_time(graph: Node, time_predicate: NamedNode) -> str:
    return (
        f"the graph {graph} has no time: write {graph} {time_predicate} "
        '"2024-05-01T12:00:00Z"^^xsd:dateTime in the default graph (in a live stream: before the next graph begins), '
        "or say which predicate gives the time (?time=IRI)"
    )


def times_within(triples: Iterable[Triple], time_predicate: NamedNode) -> list[Node]:
    """The objects of the time predicate in a graph that carries its own time."""
    return [_object(triple) for triple in triples if triple.predicate == time_predicate]


def _mentioned(statement: Statement, time_predicate: NamedNode) -> GraphName | None:
    """The graph that a statement belongs to, or that it dates."""
    graph, triple = statement
    if graph is not None:
        return graph
    if triple.predicate != time_predicate:
        return None
    subject = triple.subject
    assert not isinstance(subject, Triple), "the parser of RDF 1.1 lets no such triple pass"
    return subject


def _object(triple: Triple) -> Node:
    object_ = triple.object
    assert not isinstance(object_, Triple), "the parser of RDF 1.1 lets no such triple pass"
    return object_


def _ignore(malformed: Malformed) -> None:
    """The first reading; the second one reports."""
