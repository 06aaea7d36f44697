"""Detections one by one: the time until each is answered, by Penstock and by pyoxigraph."""

from __future__ import annotations

import threading
import time
from collections import Counter, deque
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from pyoxigraph import NamedNode, Quad, QuerySolutions, QueryTriples, RdfFormat, Store

from penstock.api.engine import Engine
from penstock.bench.answers import Answer
from penstock.bench.cqels.data import EVERY, FLOORPLAN, RFID, detections
from penstock.bench.cqels.queries import Instance
from penstock.oracle.stored_terms import as_stored
from penstock.rdf.elements import Row
from penstock.rdf.results import Evaluation

MOST_SECONDS = 120
"""The timeout for one answer."""


class Times(list[float]):
    """Milliseconds from the arrival of each detection to its answer; `answer` is the whole answer."""

    def __init__(self) -> None:
        super().__init__()
        self.answer: Answer = {}


def penstock_times(query: Instance, publications: Path, floorplan: Path, count: int, **settings: str) -> Times:
    """The embedded engine. An instant ends when the next detection arrives; the time counts from then."""
    engine = Engine()
    engine.graph(publications)
    engine.graph(floorplan, FLOORPLAN)
    came: dict[int, float] = {}
    turn = threading.Semaphore(2)
    engine.stream(RFID, _one_by_one(count, came, turn))
    following = dict(pairwise(ts for *_, ts in detections(count)))
    times = Times()
    for evaluation in engine.register(query.text, empty=True, **settings).results():  # type: ignore[arg-type]
        if evaluation.time in following:
            times.append((time.perf_counter() - came[following[evaluation.time]]) * 1000)
        if evaluation.says_something:
            times.answer[evaluation.time] = _rows(as_stored(evaluation))
        turn.release()
    return times


def _one_by_one(count: int, came: dict[int, float], turn: threading.Semaphore) -> Iterator[tuple[str, str, str, int]]:
    """Yields each detection after the previous one has been answered; the first one waits for the second."""
    for detection in detections(count):
        if not turn.acquire(timeout=MOST_SECONDS):
            raise TimeoutError(f"a detection has not been answered within {MOST_SECONDS} s")
        came[detection[3]] = time.perf_counter()
        yield detection


def _rows(evaluation: Evaluation) -> Counter[Row]:
    if evaluation.triples is not None:
        return Counter(map(_terms, evaluation.triples))
    return Counter(evaluation.rows or ())


def _terms(triple: Any) -> Row:
    return triple.subject, triple.predicate, triple.object


def pyoxigraph_times(query: Instance, publications: Path, floorplan: Path, count: int) -> Times:
    """A store with the static data and a graph for each window, to which detections are added and later removed."""
    [times] = pyoxigraph_together([query], publications, floorplan, count)
    return times


def pyoxigraph_together(queries: Sequence[Instance], publications: Path, floorplan: Path, count: int) -> list[Times]:
    """Several copies of a query that share their windows."""
    store = Store()
    store.bulk_load(path=str(publications), format=RdfFormat.N_TRIPLES)
    store.load(path=str(floorplan), format=RdfFormat.N_TRIPLES, to_graph=NamedNode(FLOORPLAN))
    windows = [_Window(store, place, window) for place, window in enumerate(queries[0].windows)]
    texts = [query.sparql for query in queries]
    before: list[Counter[Row]] = [Counter() for _ in queries]
    times = [Times() for _ in queries]
    for s, p, o, ts in detections(count):
        began = time.perf_counter()
        for window in windows:
            window.take(s, p, o, ts)
        for place, text in enumerate(texts):
            rows = _asked(store, text)
            new = rows - before[place]
            times[place].append((time.perf_counter() - began) * 1000)
            if new:
                times[place].answer[ts] = new
            before[place] = rows
    return times


def _asked(store: Store, text: str) -> Counter[Row]:
    found = store.query(text)
    if isinstance(found, QueryTriples):
        return Counter(set(map(_terms, found)))
    assert isinstance(found, QuerySolutions)
    return Counter(tuple(solution) for solution in found)


class _Window:
    """The content of a window as a graph of the store, which is a set."""

    def __init__(self, store: Store, place: int, window: str) -> None:
        self._store, self._graph = store, NamedNode(f"urn:window:{place}")
        self._held: deque[tuple[int, Quad]] = deque()
        self._copies: Counter[Quad] = Counter()
        kind, _, size = window.partition(" ")
        self._width = int(size.removesuffix("s")) * 1000 if kind == "RANGE" else EVERY

    def take(self, s: str, p: str, o: str, ts: int) -> None:
        """NOW and the latest triple are windows as wide as the time between two detections."""
        subject, predicate, place = (NamedNode(term[1:-1]) for term in (s, p, o))
        quad = Quad(subject, predicate, place, self._graph)
        self._held.append((ts, quad))
        self._copies[quad] += 1
        self._store.add(quad)
        while self._held[0][0] <= ts - self._width:
            _, gone = self._held.popleft()
            self._copies[gone] -= 1
            if not self._copies[gone]:
                del self._copies[gone]
                self._store.remove(gone)
