"""The dataset at an instant (semantics.md §4): the contents of the default graph, each graph and each window."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from pyoxigraph import NamedNode, Triple

from penstock.algebra.inputs import InputError, Inputs, in_time_order
from penstock.algebra.model import Dataset, StreamWindow
from penstock.algebra.services import ServiceCall
from penstock.oracle.contents import Occurrence, WindowContents, counts_matches
from penstock.oracle.services import DescribedAnswer, described
from penstock.oracle.triples import SinglePattern
from penstock.rdf.elements import GraphName
from penstock.syntax.suggestions import did_you_mean


class Entry(NamedTuple):
    """A triple of an active graph, and its timestamp in each stream that contains it."""

    triple: Triple
    times: tuple[tuple[str, int], ...] = ()

    @property
    def time(self) -> int | None:
        return max((time for _, time in self.times), default=None)


@dataclass(frozen=True, slots=True)
class ActiveGraph:
    """A graph and its IRI in the oracle's store. In a bag (`is_bag`) a triple counts as often as it occurs."""

    iri: str
    entries: tuple[Entry, ...]
    is_bag: bool = False
    elements: Elements | None = None
    """The named elements of a window, which GRAPH inside the window reads."""

    @property
    def has_duplicates(self) -> bool:
        """Whether a triple occurs more than once. The store contains each triple once."""
        return self.is_bag and len({entry.triple for entry in self.entries}) < len(self.entries)


@dataclass(frozen=True, slots=True)
class Elements:
    """The named elements of a window: a graph for each name, and one graph that lists the names."""

    graphs: dict[GraphName, ActiveGraph]
    names: ActiveGraph


NAMED = "urn:oracle:named"
"""The property that names an element's graph. The name may be a blank node, which a query cannot write."""


class ReadableWindow(NamedTuple):
    """A window that WINDOW can read: its name and, if it is over any stream, the variable of the stream."""

    name: str
    graph: ActiveGraph
    stream_variable: str | None
    stream: str


class Sources:
    """The query's dataset tied to its inputs, for any instant."""

    def __init__(self, dataset: Dataset, inputs: Inputs, matched: dict[str, list[SinglePattern]]) -> None:
        self.dataset = dataset
        self.inputs = inputs
        self.first, self.last = _span_of_time(dataset, inputs)
        self.windows: list[WindowContents] = []
        self.matching: dict[tuple[str, tuple[Hashable, ...]], WindowContents] = {}
        for window in dataset.windows:
            for stream in _streams_of(window, inputs, dataset):
                self._add(window, stream, matched)
        self.default_graphs: list[str | None] = [None, *_bound(dataset.default_graphs, inputs)]
        named = dataset.named_graphs if dataset.has_clauses else [g for g in inputs.graphs if g is not None]
        self.named_graphs = [*_bound(named, inputs, may_be_unnamed=False)]

    def _add(self, window: StreamWindow, stream: str, matched: dict[str, list[SinglePattern]]) -> None:
        elements, lateness = self.inputs.streams[stream], self.inputs.lateness
        if not counts_matches(window) or window.name is None:
            self.windows.append(WindowContents(window, stream, elements, lateness, self.last))
            return
        for pattern in matched.get(window.name, ()):
            contents = WindowContents(window, stream, elements, lateness, self.last, pattern.matches)
            self.matching[window.name, pattern.matched] = contents

    @property
    def reporting(self) -> list[WindowContents]:
        """The windows whose reports trigger evaluations."""
        contents = [*self.windows, *self.matching.values()]
        return [content for content in contents if content.window.report is not None]

    def at(self, instant: int) -> InstantaneousDataset:
        return InstantaneousDataset(self, instant)


class InstantaneousDataset:
    def __init__(self, sources: Sources, instant: int) -> None:
        self._sources = sources
        self.instant = instant
        static = list(dict.fromkeys(entry for graph in sources.default_graphs for entry in self._static(graph)))
        unnamed = [contents for contents in sources.windows if not contents.window.is_named]
        streamed = [entry for contents in unnamed for entry in self._streamed(contents)]
        is_bag = any(contents.window.duplicates == "bag" for contents in unnamed)
        self.default = _active("default", [*static, *streamed], is_bag)
        self.graphs = {iri: _active(f"graph:{iri}", self._static(iri), False) for iri in sources.named_graphs}
        self.windows: list[ReadableWindow] = []
        for number, contents in enumerate(sources.windows):
            self._add_window(number, contents, static)

    def _add_window(self, number: int, contents: WindowContents, static: list[Entry]) -> None:
        window, entries = contents.window, self._streamed(contents)
        if window.name is None:
            return
        is_bag = window.duplicates == "bag"
        graph = replace(_active(f"window:{number}", entries, is_bag), elements=self._elements(number, contents))
        self.windows.append(ReadableWindow(window.name, graph, window.stream_variable, contents.stream))
        if window.stream_variable is None:
            # GRAPH sees a window of the default graph merged with the static part of it (C-SPARQL's FullStreets).
            seen = graph if window.is_named else _active(f"merged:{number}", [*static, *entries], is_bag)
            self.graphs[window.name] = seen

    def _elements(self, number: int, contents: WindowContents) -> Elements:
        """Elements of one name are merged, as those of a window are."""
        graphs: dict[GraphName, ActiveGraph] = {}
        names: list[Entry] = []
        for place, (name, occurrences) in enumerate(contents.named(self.instant).items()):
            entries = [_entry(contents, occurrence) for occurrence in occurrences]
            graphs[name] = _active(f"window:{number}:element:{place}", entries, contents.window.duplicates == "bag")
            names.append(Entry(Triple(NamedNode(graphs[name].iri), NamedNode(NAMED), name)))
        return Elements(graphs, _active(f"window:{number}:names", names, False))

    def matching(self, window: str, pattern: SinglePattern) -> ActiveGraph:
        """The content of a window that counts matches, for one triple pattern."""
        contents = self._sources.matching[window, pattern.matched]
        number = list(self._sources.matching).index((window, pattern.matched))
        return _active(f"matching:{number}", self._streamed(contents), contents.window.duplicates == "bag")

    def answer(self, call: ServiceCall) -> tuple[ActiveGraph, DescribedAnswer]:
        """The latest answer of a service at the time of the instant's evaluation."""
        given = self._sources.inputs.services
        if call not in given:
            raise InputError(f"the oracle has no answer of the service <{call.endpoint}>")
        (rows,) = (rows for rows, valid in given[call] if valid.holds(self.instant))
        answer = described(call, rows)
        entries = [Entry(triple) for triple in answer.triples]
        return _active(f"service:{list(given).index(call)}", entries, False), answer

    @property
    def all_entries(self) -> list[Entry]:
        """All triples of the dataset, for DESCRIBE."""
        graphs = [self.default, *self.graphs.values(), *(window.graph for window in self.windows)]
        counted = [entry for contents in self._sources.matching.values() for entry in self._streamed(contents)]
        return [*(entry for graph in graphs for entry in graph.entries), *counted]

    def _static(self, graph: str | None) -> list[Entry]:
        triples = self._sources.inputs.graphs.get(graph, ())
        return [Entry(triple) for triple in dict.fromkeys(t for t, valid in triples if valid.holds(self.instant))]

    def _streamed(self, contents: WindowContents) -> list[Entry]:
        return [_entry(contents, occurrence) for occurrence in contents.content(self.instant)]


def _entry(contents: WindowContents, occurrence: Occurrence) -> Entry:
    return Entry(occurrence.triple, ((contents.stream, occurrence.time),))


def _active(name: str, entries: Sequence[Entry], is_bag: bool) -> ActiveGraph:
    """A bag keeps all occurrences. A set contains each triple once, with its greatest timestamp in each stream."""
    iri = f"urn:oracle:{name}"
    if is_bag:
        return ActiveGraph(iri, tuple(entries), True)
    times: dict[Triple, dict[str, int]] = {}
    for entry in entries:
        known = times.setdefault(entry.triple, {})
        for stream, time in entry.times:
            known[stream] = max(time, known.get(stream, time))
    distinct = (Entry(triple, tuple(by_stream.items())) for triple, by_stream in times.items())
    return ActiveGraph(iri, tuple(distinct))


def _streams_of(window: StreamWindow, inputs: Inputs, dataset: Dataset) -> list[str]:
    if window.stream is None:
        return list(inputs.streams)
    if window.stream not in inputs.streams:
        unread = [stream for stream in inputs.streams if stream not in dataset.streams]
        hint = did_you_mean(window.stream, unread) or f"bind it with --stream {window.stream}=FILE"
        raise InputError(f"the query reads the stream <{window.stream}>, which is not bound: {hint}")
    return [window.stream]


def _bound(graphs: Sequence[str], inputs: Inputs, *, may_be_unnamed: bool = True) -> list[str]:
    """The graphs of the query; a graph bound without an IRI may stand for one of the default graph."""
    for graph in graphs:
        if graph not in inputs.graphs and not (may_be_unnamed and None in inputs.graphs):
            hint = did_you_mean(graph, [g for g in inputs.graphs if g is not None]) or f"bind it: --graph {graph}=FILE"
            raise InputError(f"the query reads the graph <{graph}>, which is not bound: {hint}")
    return list(graphs)


def _span_of_time(dataset: Dataset, inputs: Inputs) -> tuple[int | None, int | None]:
    """The first and the last timestamp of the query's streams."""
    streams = {stream for window in dataset.windows for stream in _streams_of(window, inputs, dataset)}
    times = [
        element.time
        for stream in streams
        for element, known_from in in_time_order(inputs.streams[stream], inputs.lateness)
        if known_from is None
    ]
    return (min(times), max(times)) if times else (None, None)
