"""A continuous query on pyoxigraph, window by window: the approach with an RDF store and no stream engine.

Oxigraph is a store in Rust without windows: for each closing instant the triples of the window are put into a store,
next to the static ones, and the query is evaluated. There are several ways to fill the store; the best one depends on
how much windows overlap (`WAYS`):

- `text`: a new store for each window, filled from the lines of the window, cut out of the text of the stream. No triple
  becomes a Python object; a line is parsed once for each window that contains it.
- `parsed`: a new store for each window, filled with triples that were all parsed once, beforehand.
- `changes`: one store. Parsed triples are added when they enter and removed when they leave the window, unless a later
  equal triple is still in it.

A fourth way would be a named graph for each step, dropped when it leaves the window. But a triple in two named graphs
occurs twice in their union, so counts would be wrong.

One regular expression removes the timestamps from the whole text. Answers are tuples of terms.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from pyoxigraph import Quad, QuerySolutions, RdfFormat, Store, parse

from penstock.bench.peers import Rows, WindowQuery
from penstock.bench.peers.closings import Closings

_TIMESTAMP = re.compile(rb'"(\d+)" \.\n')


@dataclass(frozen=True, slots=True)
class PyoxigraphWindows:
    """`way` is one of `WAYS`. `sparql` replaces the query if another order of patterns is faster in Oxigraph."""

    way: str
    sparql: str | None = None

    @property
    def name(self) -> str:
        return "pyoxigraph" if self.sparql is None else "pyoxigraph, by hand"

    @property
    def most_triples(self) -> int | None:
        return None

    def evaluate(self, asked: WindowQuery, stream: Path, graph: Path) -> Iterator[tuple[int, Rows]]:
        parts = _TIMESTAMP.split(stream.read_bytes())
        closings = Closings(asked.width, asked.step, list(map(int, parts[1::2])))
        return WAYS[self.way](self.sparql or asked.sparql, closings, parts[:-1:2], graph.read_bytes())

    def as_terms(self, rows: Rows) -> Rows:
        return rows

    def run(self, asked: WindowQuery, stream: Path, graph: Path) -> None:
        for _ in self.evaluate(asked, stream, graph):
            pass


def _rows(store: Store, query: str) -> Rows:
    solutions = store.query(query)
    assert isinstance(solutions, QuerySolutions)
    return [tuple(solution) for solution in solutions]


def _text(lines: list[bytes]) -> bytes:
    return b".\n".join(lines) + b".\n"


def _by_text(query: str, closings: Closings, lines: list[bytes], graph: bytes) -> Iterator[tuple[int, Rows]]:
    for closing, begin, end in closings:
        store = Store()
        store.load(graph + _text(lines[begin:end]), RdfFormat.N_TRIPLES)
        yield closing, _rows(store, query)


def _parsed(query: str, closings: Closings, lines: list[bytes], graph: bytes) -> Iterator[tuple[int, Rows]]:
    static = list(parse(graph, RdfFormat.N_TRIPLES))
    quads = list(parse(_text(lines), RdfFormat.N_TRIPLES))
    for closing, begin, end in closings:
        store = Store()
        store.extend(static)
        store.extend(quads[begin:end])
        yield closing, _rows(store, query)


def _by_changes(query: str, closings: Closings, lines: list[bytes], graph: bytes) -> Iterator[tuple[int, Rows]]:
    static = list(parse(graph, RdfFormat.N_TRIPLES))
    quads = list(parse(_text(lines), RdfFormat.N_TRIPLES))
    store = Store()
    store.extend(static)
    held: Counter[Quad] = Counter(static)
    begun = entered = 0
    for closing, begin, end in closings:
        new = quads[max(entered, begin) : end]
        held.update(new)
        store.extend(new)
        for quad in quads[begun : min(begin, entered)]:
            held[quad] -= 1
            if not held[quad]:
                del held[quad]
                store.remove(quad)
        begun, entered = begin, end
        yield closing, _rows(store, query)


WAYS: dict[str, Callable[[str, Closings, list[bytes], bytes], Iterator[tuple[int, Rows]]]] = {
    "text": _by_text,
    "parsed": _parsed,
    "changes": _by_changes,
}
