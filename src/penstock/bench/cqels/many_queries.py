"""Figure 5: many queries at once, each about another author."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

from penstock.bench.context import ExperimentContext
from penstock.bench.cqels.arrivals import pyoxigraph_together
from penstock.bench.cqels.data import FLOORPLAN, RFID, write_detections, write_floorplan, write_publications
from penstock.bench.cqels.queries import Instance
from penstock.bench.results import Axis, Cell, Figure, Panel, Point, Series, times_as_long
from penstock.bench.systems import DUCKDB, DataFiles, Penstock

COLUMNS = (
    "query",
    "copies",
    "system",
    "registering [s]",
    "run [s]",
    "÷ one copy's",
    "a detection and copy [ms]",
    "run ÷ Penstock's",
    "beside Penstock",
)
TEMPLATES = ("Q1", "Q3", "Q4")
ALONE, OXIGRAPH = f"{DUCKDB}, one after another", "pyoxigraph"

POWERS, QUICK_POWERS = (0, 2, 4, 6, 8, 10), (0, 4, 10)
"""There are 2^n copies."""

MOST_ALONE = 16
"""The limit for the number of copies that run one after another."""


class Taken(NamedTuple):
    """Seconds to register queries, if the system registers any, and to run them."""

    registering: float | None
    run: float


class Given(NamedTuple):
    publications: Path
    floorplan: Path
    stream: Path
    detections: int

    @property
    def inputs(self) -> DataFiles:
        return DataFiles({RFID: self.stream}, {None: self.publications, FLOORPLAN: self.floorplan})


def many_queries(context: ExperimentContext) -> tuple[list[tuple[Cell, ...]], Figure]:
    count = context.size(1_000, 200)
    folder = context.folder
    publications = write_publications(folder, context.size(100_000, 10_000))
    given = Given(publications, write_floorplan(folder), write_detections(folder, count), count)
    powers = QUICK_POWERS if context.is_quick else POWERS
    rows: list[tuple[Cell, ...]] = []
    panels = []
    for template in TEMPLATES:
        runs: dict[str, dict[int, Taken]] = {}
        for copies in (2**power for power in powers):
            queries = [Instance(template, author) for author in range(copies)]
            for who, way in _ways(context, queries, given).items():
                context.say(f"{template}, copies: {copies:,}, {who}")
                if copies == 1:
                    way()  # warm-up
                runs.setdefault(who, {})[copies] = way()
        series = []
        own = next(iter(runs))
        for who, taken in runs.items():
            points: list[Point] = []
            for copies, (registering, run) in taken.items():
                each = run * 1000 / count / copies
                ratio = run / runs[own][copies].run
                words = "" if who == own else times_as_long(ratio)
                rows.append((template, copies, who, registering, run, run / taken[1].run, each, ratio, words))
                points.append((copies, run))
            series.append(Series(who, tuple(points)))
        x = Axis("copies of the query", is_logarithmic=True)
        y = Axis("time of a run, once registered [s]", is_logarithmic=True)
        panels.append(Panel(template, x, y, tuple(series)))
    title = "CQELS Figure 5: time for copies of a query about different authors"
    return rows, Figure("cqels-figure-5", title, tuple(panels))


Way = Callable[[], Taken]


def _ways(context: ExperimentContext, queries: Sequence[Instance], given: Given) -> dict[str, Way]:
    """The ways to answer the copies, by system."""
    texts = [query.text for query in queries]
    ways: dict[str, Way] = {system.name: partial(_all_at_once, system, texts, given) for system in context.systems()}
    if len(queries) <= MOST_ALONE:
        ways[ALONE] = partial(_one_after_another, texts, given)
    if len(queries) <= MOST_ALONE or not context.is_quick:
        ways[OXIGRAPH] = partial(_oxigraph, queries, given)
    return ways


def _all_at_once(system: Penstock, texts: Sequence[str], given: Given) -> Taken:
    """All copies in one engine, which loads its graphs during the run."""
    began = time.perf_counter()
    engine = system.registered(texts, given.inputs)
    registered = time.perf_counter()
    for _ in engine.results():
        pass
    return Taken(registered - began, time.perf_counter() - registered)


def _one_after_another(texts: Sequence[str], given: Given) -> Taken:
    """Each query in a separate run."""
    taken = [_all_at_once(Penstock(), [text], given) for text in texts]
    return Taken(*map(sum, zip(*taken, strict=True)))


def _oxigraph(queries: Sequence[Instance], given: Given) -> Taken:
    """All queries on one store, at each detection."""
    began = time.perf_counter()
    pyoxigraph_together(queries, given.publications, given.floorplan, given.detections)
    return Taken(None, time.perf_counter() - began)
