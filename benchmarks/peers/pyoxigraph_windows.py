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

import bisect
import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from pyoxigraph import Quad, RdfFormat, Store, parse

Rows = list[tuple[object, ...]]

_TIMESTAMP = re.compile(rb'"(\d+)" \.\n')


@dataclass(frozen=True, slots=True)
class Windows:
    """A query to ask at each closing instant of RANGE `width` STEP `step`, in milliseconds; the origin is 0."""

    query: str
    width: int
    step: int


def evaluate(way: str, windows: Windows, stream: Path, graph: Path) -> Iterator[tuple[int, Rows]]:
    """The answer at each closing instant up to the last timestamp, from the files."""
    parts = _TIMESTAMP.split(stream.read_bytes())
    times = list(map(int, parts[1::2]))
    return WAYS[way](windows, parts[:-1:2], times, graph.read_bytes())


def _closings(windows: Windows, times: list[int]) -> Iterator[tuple[int, int, int]]:
    """The closing instants at which the window is not empty, and the places of its content."""
    first = (times[0] + windows.step - 1) // windows.step * windows.step
    for closing in range(max(first, windows.width), times[-1] + 1, windows.step):
        begin, end = (bisect.bisect_right(times, time) for time in (closing - windows.width, closing))
        if begin < end:
            yield closing, begin, end


def _rows(store: Store, query: str) -> Rows:
    return [tuple(solution) for solution in store.query(query)]  # type: ignore[union-attr]


def _text(lines: list[bytes]) -> bytes:
    return b".\n".join(lines) + b".\n"


def _by_text(windows: Windows, lines: list[bytes], times: list[int], graph: bytes) -> Iterator[tuple[int, Rows]]:
    for closing, begin, end in _closings(windows, times):
        store = Store()
        store.load(graph + _text(lines[begin:end]), RdfFormat.N_TRIPLES)
        yield closing, _rows(store, windows.query)


def _parsed(windows: Windows, lines: list[bytes], times: list[int], graph: bytes) -> Iterator[tuple[int, Rows]]:
    static = list(parse(graph, RdfFormat.N_TRIPLES))
    quads = list(parse(_text(lines), RdfFormat.N_TRIPLES))
    for closing, begin, end in _closings(windows, times):
        store = Store()
        store.extend(static)
        store.extend(quads[begin:end])
        yield closing, _rows(store, windows.query)


def _by_changes(windows: Windows, lines: list[bytes], times: list[int], graph: bytes) -> Iterator[tuple[int, Rows]]:
    static = list(parse(graph, RdfFormat.N_TRIPLES))
    quads = list(parse(_text(lines), RdfFormat.N_TRIPLES))
    store = Store()
    store.extend(static)
    held: Counter[Quad] = Counter(static)
    begun = entered = 0
    for closing, begin, end in _closings(windows, times):
        new = quads[max(entered, begin) : end]
        held.update(new)
        store.extend(new)
        for quad in quads[begun : min(begin, entered)]:
            held[quad] -= 1
            if not held[quad]:
                del held[quad]
                store.remove(quad)
        begun, entered = begin, end
        yield closing, _rows(store, windows.query)


WAYS: dict[str, Callable[[Windows, list[bytes], list[int], bytes], Iterator[tuple[int, Rows]]]] = {
    "text": _by_text,
    "parsed": _parsed,
    "changes": _by_changes,
}
