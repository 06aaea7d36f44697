"""A continuous query on pyoxigraph, window by window: what one writes who has an RDF store and no stream engine.

Oxigraph is a store in Rust, and answers a query over what is in it. Windows come from outside: for each closing instant
the window's triples are put into a store, beside the static ones, and the query is asked. There are several ways to do
that, and which is the best depends on how far windows overlap (`WAYS`):

- `text`: a new store for each window, filled from the window's lines, which are cut out of the stream's text. No triple
  becomes a Python object; a line is parsed as often as there are windows that see it.
- `parsed`: a new store for each window, filled with triples that have been parsed once, all of them, beforehand.
- `changes`: one store. Parsed triples are added when they enter and removed when they leave, unless an equal one that
  came later is still in the window.

A named graph for each step, dropped when it leaves the window, would be a fourth; but the union of named graphs holds a
triple that is in two of them twice, and counts are wrong.

Timestamps are cut off by one regular expression over the whole text. Answers are tuples of terms.
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
    """`way` is one of `WAYS`. `sparql` stands for the query, where another order of patterns suits Oxigraph better."""

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
