"""Tollgates: how time grows with the window, the slide, the patterns and the streams.

The same triples each time, on one engine (DuckDB, if it is among those that are measured). Ratios are to the first line
of each block; all lines of a block take turns, and the best round of each counts. The figure shows processor time.

window: grouped COUNT over tumbling windows. slide: the windows overlap more and more; an answer may have more rows
then, for there are more evaluations, or, under ISTREAM, more changes. patterns: readings of five properties each, and a
query that joins so many of them. streams: the passages come by so many streams, whose windows are put together by
UNION.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from penstock.bench.context import ExperimentContext
from penstock.bench.results import Axis, Cell, Figure, Panel, Result, Series, Table
from penstock.bench.systems import DataFiles, Penstock
from penstock.bench.tollgates.data import (
    NAMESPACE,
    STREAM,
    write_districts,
    write_readings,
    write_share,
    write_stream,
)
from penstock.bench.tollgates.queries import PASSAGES, SPEEDS, TOLLS, UNPAID, Query, over_streams, reading_patterns

COLUMNS = ("what grows", "query", "value", "rows", "wall [s]", "ratio", "processor [s]", "processor ratio")
SLIDES: dict[str, tuple[Query, list[tuple[int, int]]]] = {
    "COUNT": (PASSAGES, [(10, 10), (10, 1), (60, 1), (300, 1)]),
    "AVG": (SPEEDS, [(10, 10), (10, 1), (60, 1), (300, 1)]),
    "OPTIONAL, ISTREAM": (TOLLS, [(60, 60), (60, 6), (60, 1)]),
    "NOT EXISTS, ISTREAM": (UNPAID, [(60, 60), (60, 6), (60, 1)]),
}


@dataclass(frozen=True, slots=True)
class Line:
    """`place` is its position on the axis."""

    value: str
    place: float
    text: str
    inputs: DataFiles


@dataclass(slots=True)
class Block:
    """Lines that are compared with the first of them."""

    what: str
    query: str
    lines: list[Line] = field(default_factory=list)


AXES = {
    "window": Axis("RANGE of a tumbling window [s]", is_logarithmic=True),
    "slide": Axis("windows that overlap (RANGE ÷ STEP)", is_logarithmic=True),
    "patterns": Axis("triple patterns"),
    "streams": Axis("streams"),
}
TITLES = {
    "window": "wider windows",
    "slide": "windows that overlap more",
    "patterns": "more patterns",
    "streams": "more streams",
}


def run(context: ExperimentContext) -> Result:
    triples, rounds = context.size(500_000, 100_000), context.repeats(3, 1)
    system = context.systems()[0]
    rows: list[tuple[Cell, ...]] = []
    curves: dict[str, list[Series]] = {what: [] for what in AXES}
    for block in _blocks(context, triples):
        counted, curve = _measured(context, system, block, rounds)
        rows += counted
        curves[block.what].append(curve)
    panels = tuple(
        Panel(TITLES[what], axis, Axis("processor time ÷ that of the first"), tuple(curves[what]))
        for what, axis in AXES.items()
    )
    return Result(
        (Table(f"{system.name}, {triples:,} triples; ratios are to the first line of a block", COLUMNS, tuple(rows)),),
        (Figure("scaling", f"{system.name}: how time grows over the same triples", panels),),
        tuple(context.remarks),
    )


def _measured(
    context: ExperimentContext, system: Penstock, block: Block, rounds: int
) -> tuple[list[tuple[Cell, ...]], Series]:
    context.say(f"{block.what}, {block.query}")
    found: dict[str, int] = {}

    def work(line: Line) -> None:
        found[line.value] = system.run(line.text, line.inputs)

    work(block.lines[0])  # warms up what all lines share
    times = context.measure({line.value: partial(work, line) for line in block.lines}, rounds)
    first = times[block.lines[0].value]
    rows: list[tuple[Cell, ...]] = []
    for value, taken in times.items():
        ratios = taken.wall / first.wall, taken.processor / first.processor
        rows.append((block.what, block.query, value, found[value], taken.wall, ratios[0], taken.processor, ratios[1]))
    points = tuple((line.place, times[line.value].processor / first.processor) for line in block.lines)
    return rows, Series(block.query, points)


def _blocks(context: ExperimentContext, triples: int) -> Iterator[Block]:
    graph = write_districts(context.folder)

    def one(kind: str) -> DataFiles:
        return DataFiles({STREAM: write_stream(context.folder, kind, triples)}, {None: graph})

    passages = one("passages")
    widths = [1, 10, 60, 300] if not context.is_quick else [1, 10, 50]
    tumbling = [Line(f"{width} s", width, PASSAGES.over(width, width).rspql, passages) for width in widths]
    yield Block("window", "COUNT", tumbling)
    for name, (query, windows) in SLIDES.items():
        inputs = one(query.kind)
        lines = [Line(f"{w} s / {s} s", w // s, query.over(w, s).rspql, inputs) for w, s in windows]
        yield Block("slide", name, lines)
    readings = write_readings(context.folder, triples)
    joined = [
        Line(str(count), count, reading_patterns(count).rspql, DataFiles({STREAM: readings}, {}))
        for count in range(1, 6)
    ]
    yield Block("patterns", "star", joined)
    yield Block("streams", "UNION", [_union(context, graph, triples, count) for count in (1, 2, 4)])


def _union(context: ExperimentContext, graph: Path, triples: int, count: int) -> Line:
    """The passages, split into several streams."""
    shares = {
        f"{NAMESPACE}share{number}": write_share(context.folder, triples, number, count) for number in range(count)
    }
    return Line(str(count), count, over_streams(list(shares)), DataFiles(shares, {None: graph}))
