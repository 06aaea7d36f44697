"""Named graphs with a time: `<g> prov:generatedAtTime TS` in the default graph, or that predicate in the graph itself.

The default graph describes the stream and is not part of it. If it states no time for a graph, a triple of the graph
with this predicate does. If there are several times, the latest one counts.
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
    "it contains no named graph, and the default graph is not part of a stream: put the triples of each element "
    'into a graph with a name (TriG: <g> { … }; JSON-LD: "@id" and "@graph")'
)

ReadStatements = Callable[[OnMalformed], Iterable[Statement]]


def graphs_of_document(read: ReadStatements, place: str, options: ReadOptions) -> Iterator[Element]:
    """The graphs of a document, in the order of their first appearance.

    A graph may be split into pieces, and its time may follow it. So the document is read twice: once to find where each
    graph ends, then to yield the graphs one by one. Only graphs that have begun and not ended are in memory.
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
    """The graphs of a live input. A graph ends when the next one begins; its time must be known by then."""
    graphs = _Graphs(place, options)
    for statement in statements:
        if statement.graph is not None and statement.graph != graphs.first():
            yield from graphs.take_all()
        graphs.add(statement)
    yield from graphs.take_all()


class _Graphs:
    """The graphs that have begun, in order, and the times that the default graph states."""

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
        """Yields the graph as an element; reports it if it has no time."""
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
        "or name the predicate for the time (?time=IRI)"
    )


def times_within(triples: Iterable[Triple], time_predicate: NamedNode) -> list[Node]:
    """The objects of the time predicate inside a graph that states its own time."""
    return [_object(triple) for triple in triples if triple.predicate == time_predicate]


def _mentioned(statement: Statement, time_predicate: NamedNode) -> GraphName | None:
    """The graph that contains a statement, or whose time the statement states."""
    graph, triple = statement
    if graph is not None:
        return graph
    if triple.predicate != time_predicate:
        return None
    subject = triple.subject
    assert not isinstance(subject, Triple), "the RDF 1.1 parser rejects such triples"
    return subject


def _object(triple: Triple) -> Node:
    object_ = triple.object
    assert not isinstance(object_, Triple), "the RDF 1.1 parser rejects such triples"
    return object_


def _ignore(malformed: Malformed) -> None:
    """Ignores errors in the first pass; the second pass reports them."""
