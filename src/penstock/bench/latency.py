"""Tollgates: from a window's closing to its rows, live.

Windows have 10,000 triples. The clock runs from the arrival of the input that moves the watermark past the closing
instant, its lines not yet parsed, to the evaluation with its rows.

DuckDB: lines arrive through a pipe, 1,000 at a time, 20 times a second. Spark: a followed folder receives files of
10,000 lines, one per micro-batch; the next file is written after the previous one has been answered, so that no input
queues up. The first windows are warm-up and do not count. The round with the lowest median counts.
"""

from __future__ import annotations

import shutil
import statistics
import threading
import time
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from penstock.api.engine import Engine
from penstock.bench.context import ExperimentContext
from penstock.bench.pipes import piped
from penstock.bench.results import Axis, Cell, Figure, Panel, Result, Series, Table
from penstock.bench.systems import DUCKDB, SPARK, DataFiles, Penstock
from penstock.bench.tollgates.data import FIRST, STREAM, stream_lines, write_districts
from penstock.bench.tollgates.queries import PAIRS, PASSAGES, Query
from penstock.rdf.results import Evaluation

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

WORKLOADS: dict[str, Query] = {
    "COUNT, tumbling 10s": PASSAGES,
    "COUNT, RANGE 10s STEP 1s": PASSAGES.over(10, 1),
    "pairs, RANGE 10s STEP 5s": PAIRS.over(10, 5),
}
COLUMNS = ("workload", "system", "windows", "p50 [ms]", "p95 [ms]", "p99 [ms]")
LINES = 1_000
PACE = 0.05
"""Seconds from one batch to the next: 20 times as fast as the stream's own time."""

WARM_UP = 20_000
"""Milliseconds of event time: windows that close earlier have fewer triples, or run cold code."""

FILE_LINES = 10_000
LEAST_BATCHES, LEAST_FILES = 60, 3
MOST_SECONDS = 120
"""For one micro-batch."""


def run(context: ExperimentContext) -> Result:
    rounds = context.repeats(2, 1)
    graph = write_districts(context.folder)
    spark = context.spark()
    rows: list[tuple[Cell, ...]] = []
    curves: dict[str, list[Series]] = {}
    for name, query in WORKLOADS.items():
        measured: dict[str, list[float]] = {}
        if "duckdb" in context.engines:
            context.say(f"{name}, {DUCKDB}")
            batches = max(context.size(300, 120), LEAST_BATCHES)
            measured[DUCKDB] = min((_delays(query, graph, batches) for _ in range(rounds)), key=statistics.median)
        if spark is not None:
            context.say(f"{name}, {SPARK}")
            files = max(context.size(20, 8), LEAST_FILES) + WARM_UP // FILE_LINES
            measured[SPARK] = _spark_delays(spark, query, graph, context.folder / "followed", files)
        for who, delays in measured.items():
            percentiles = statistics.quantiles(delays, n=100, method="inclusive")
            rows.append((name, who, len(delays), *(percentiles[place - 1] for place in (50, 95, 99))))
            curves.setdefault(who, []).append(Series(name, _distribution(delays)))
    panels = tuple(
        Panel(who, Axis("time from closing to rows [ms]"), Axis("windows answered by then [%]"), tuple(series), "steps")
        for who, series in curves.items()
    )
    return Result(
        (Table("From the closing of a window to its rows", COLUMNS, tuple(rows)),),
        (Figure("latency", "Tollgates, live: how soon the rows of a closed window are there", panels),),
        tuple(context.remarks),
    )


def _distribution(delays: list[float]) -> tuple[tuple[float, float], ...]:
    ordered = sorted(delays)
    return tuple((delay, 100 * (place + 1) / len(ordered)) for place, delay in enumerate(ordered))


def _delays(query: Query, graph: Path, batches: int) -> list[float]:
    """In milliseconds, from the lines that move the watermark past a closing instant to the evaluation's rows."""
    arrived: dict[int, float] = {}
    delays: list[float] = []
    with piped(_at_a_pace(batches, arrived)) as pipe:
        for evaluation in Penstock().evaluations(query.rspql, DataFiles({STREAM: pipe}, {None: graph})):
            came = arrived.get(evaluation.time)
            if came is not None and evaluation.time > FIRST + WARM_UP:
                delays.append((time.perf_counter() - came) * 1000)
    return delays


def _at_a_pace(batches: int, arrived: dict[int, float]) -> Iterator[bytes]:
    """Yields lines at a steady pace; `arrived` records when the lines that end a second of event time arrived."""
    lines = stream_lines("passages", LINES * batches)
    due = time.perf_counter()
    for number in range(batches):
        piece = "".join(islice(lines, LINES)).encode()
        due += PACE
        time.sleep(max(0, due - time.perf_counter()))
        arrived[FIRST - 1 + number * LINES] = time.perf_counter()
        yield piece


def _spark_delays(spark: SparkSession, query: Query, graph: Path, folder: Path, files: int) -> list[float]:
    """In milliseconds, from a file to the rows of the windows that it closes."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    engine = Engine(spark)
    engine.stream(STREAM, f"{folder}/?follow")
    engine.graph(graph)
    answered = threading.Condition()
    rows_at: dict[int, float] = {}

    def note(evaluation: Evaluation) -> None:
        with answered:
            rows_at[evaluation.time] = time.perf_counter()
            answered.notify_all()

    delays: list[float] = []
    lines = stream_lines("passages", FILE_LINES * (files + 1))
    _drop(folder, 0, list(islice(lines, FILE_LINES)))
    with engine.register(query.rspql).start(note) as run:
        for number in range(1, files + 1):
            closing = FIRST - 1 + number * FILE_LINES
            came = _drop(folder, number, list(islice(lines, FILE_LINES)))
            with answered:
                answered.wait_for(lambda closing=closing: closing in rows_at, MOST_SECONDS)  # type: ignore[misc]
            if closing not in rows_at:
                run.wait(0)  # raises what has gone wrong
                raise TimeoutError(f"Spark has not answered a micro-batch within {MOST_SECONDS} s")
            if closing > FIRST + WARM_UP:
                delays.append((rows_at[closing] - came) * 1000)
    return delays


def _drop(folder: Path, number: int, lines: list[str]) -> float:
    """Moves a complete file into the folder and returns the time."""
    unfinished = folder / f".{number:06}.unfinished"
    unfinished.write_text("".join(lines))
    came = time.perf_counter()
    unfinished.rename(folder / f"{number:06}.tnt")
    return came
