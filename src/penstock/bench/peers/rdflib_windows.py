"""A continuous query on rdflib, window by window.

The stream is parsed once, by rdflib's N-Triples parser. One graph contains the static triples and the content of the
window: triples are added when they enter and removed when they leave, unless a later equal triple is still in the
window. rdflib is written in Python and takes seconds where others take milliseconds, so streams are short.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pyoxigraph import BlankNode, Literal, NamedNode

from penstock.bench.peers import SHORT, Rows, WindowQuery
from penstock.bench.peers.closings import Closings
from penstock.rdf.elements import Node

_TIMESTAMP = re.compile(r'"(\d+)" \.$')


@dataclass(frozen=True, slots=True)
class RdflibWindows:
    name: str = "rdflib"
    most_triples: int | None = SHORT

    def evaluate(self, asked: WindowQuery, stream: Path, graph: Path) -> Iterator[tuple[int, Rows]]:
        from rdflib import Graph

        lines = stream.read_text().splitlines()
        parts = [_TIMESTAMP.split(line) for line in lines]
        triples = [_triple(part[0]) for part in parts]
        store = Graph()
        store.parse(graph, format="nt")
        held = Counter(store)
        begun = entered = 0
        for closing, begin, end in Closings(asked.width, asked.step, [int(part[1]) for part in parts]):
            for triple in triples[max(entered, begin) : end]:
                held[triple] += 1
                store.add(triple)
            for triple in triples[begun : min(begin, entered)]:
                held[triple] -= 1
                if not held[triple]:
                    store.remove(triple)
            begun, entered = begin, end
            yield closing, _rows(store, asked.sparql)

    def as_terms(self, rows: Rows) -> Rows:
        return [tuple(map(_term, row)) for row in rows]

    def run(self, asked: WindowQuery, stream: Path, graph: Path) -> None:
        for _ in self.evaluate(asked, stream, graph):
            pass


def _rows(store: Any, query: str) -> Rows:
    return [tuple(row) for row in store.query(query)]


def _triple(line: str) -> Any:
    """The triple of a line; rdflib can only parse into a graph."""
    from rdflib import Graph

    [triple] = Graph().parse(data=f"{line} .", format="nt")
    return triple


def _term(term: Any) -> Node | None:
    from rdflib import BNode, URIRef

    if term is None:
        return None
    if isinstance(term, URIRef):
        return NamedNode(str(term))
    if isinstance(term, BNode):
        return BlankNode(str(term))
    if term.language is not None:
        return Literal(str(term), language=term.language)
    return Literal(str(term), datatype=None if term.datatype is None else NamedNode(str(term.datatype)))
