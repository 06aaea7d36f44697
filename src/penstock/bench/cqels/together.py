"""Figure 5: many queries at once, each about another author."""

from __future__ import annotations

import time
from pathlib import Path
from typing import NamedTuple

from penstock.bench.cqels.arrivals import pyoxigraph_together
from penstock.bench.cqels.data import FLOORPLAN, RFID, write_detections, write_floorplan, write_publications
from penstock.bench.cqels.queries import Instance
from penstock.bench.results import Axis, Cell, Figure, Panel, Point, Series
from penstock.bench.running import Inputs, Penstock
from penstock.bench.setting import Setting

COLUMNS = ("query", "copies", "system", "wall [s]", "÷ one copy's", "a detection and copy [ms]")
TEMPLATES = ("Q1", "Q3", "Q4")
ALONE, OXIGRAPH = "Penstock on DuckDB, one after another", "pyoxigraph"


class Given(NamedTuple):
    publications: Path
    floorplan: Path
    stream: Path
    detections: int


def many_queries(setting: Setting) -> tuple[list[tuple[Cell, ...]], Figure]:
    count = setting.size(1_000, 200)
    folder = setting.folder
    publications = write_publications(folder, setting.size(100_000, 10_000))
    given = Given(publications, write_floorplan(folder), write_detections(folder, count), count)
    powers = range(0, 11, 2) if not setting.is_quick else range(0, 5, 2)
    rows: list[tuple[Cell, ...]] = []
    panels = []
    for template in TEMPLATES:
        walls: dict[str, dict[int, float]] = {ALONE: {}, OXIGRAPH: {}}
        for copies in (2**power for power in powers):
            setting.say(f"{template}, {copies} copies")
            queries = [Instance(template, author) for author in range(copies)]
            walls[ALONE][copies] = _one_after_another(queries, given)
            walls[OXIGRAPH][copies] = _oxigraph(queries, given)
        series = []
        for who, taken in walls.items():
            one = taken[1]
            points: list[Point] = []
            for copies, wall in taken.items():
                each = wall * 1000 / count / copies
                rows.append((template, copies, who, wall, wall / one, each))
                points.append((copies, wall))
            series.append(Series(who, tuple(points)))
        x, y = Axis("copies of the query", is_logarithmic=True), Axis("whole run [s]", is_logarithmic=True)
        panels.append(Panel(template, x, y, tuple(series)))
    title = "CQELS Figure 5: copies of a query about different authors"
    return rows, Figure("cqels-figure-5", title, tuple(panels))


def _one_after_another(queries: list[Instance], given: Given) -> float:
    """Seconds on DuckDB, each query a run of its own."""
    inputs = Inputs({RFID: given.stream}, {None: given.publications, FLOORPLAN: given.floorplan})
    began = time.perf_counter()
    for query in queries:
        Penstock().run(query.text, inputs)
    return time.perf_counter() - began


def _oxigraph(queries: list[Instance], given: Given) -> float:
    """Seconds of the same on pyoxigraph, all queries asked of one store at each detection."""
    began = time.perf_counter()
    pyoxigraph_together(queries, given.publications, given.floorplan, given.detections)
    return time.perf_counter() - began
