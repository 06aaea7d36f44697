"""The tables: seconds over history, milliseconds and Spark jobs of a micro-batch live, and how time grows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

from pyspark.sql import SparkSession
from targets import Target

from penstock.bench.stopwatch import Time, java_seconds, measure
from penstock.bench.tollgates.data import write_districts, write_stream
from tollgate_spark import live as living
from tollgate_spark.answers import Solutions, embedded_answer, written_answer
from tollgate_spark.history import run_by_hand, run_penstock
from tollgate_spark.workloads import WORKLOADS, Workload

TRIAL = 130_000
"""The number of triples for warm-up and for comparing answers: more than two windows of the widest kind."""

LINES = 10_000
"""The number of triples in a file, which is one micro-batch: the content of a window of 10 s."""

WARM_UP = 10
"""The number of warm-up micro-batches."""

HAND, OWN = "by hand", "penstock"
RUNS = {HAND: run_by_hand, OWN: run_penstock}
LIVE_RUNS = {HAND: living.run_by_hand, OWN: living.run_penstock}

MOST_IN_HISTORY = 1.3
MOST_LIVE = 1.5
MOST_JOBS = 1
MOST_OVERLAPPING = 1.5
MOST_GROWTH = 11

Table = Iterator[str | Target]
"""The lines, as they come, and what is wanted."""


def history(spark: SparkSession, folder: Path, triples: int, rounds: int) -> Table:
    graph = write_districts(folder)
    yield f"{'':30}{'':10}{'triples/s':>12}{_HEADS}"
    for name, workload in WORKLOADS.items():
        _try(spark, name, workload, folder, graph)
        stream = write_stream(folder, workload.query.kind, triples)
        ways = {who: partial(run, spark, workload, stream, graph, folder / "out") for who, run in RUNS.items()}
        times = measure(ways, rounds, partial(java_seconds, spark))
        for who, taken in times.items():
            yield f"{name:30}{who:10}{triples / taken.wall:12,.0f}{_compared(taken, times[HAND])}"
        ratio = times[OWN].wall / times[HAND].wall
        yield Target(f"{name}, history", ratio, MOST_IN_HISTORY, "times the time of the job by hand")


def sliding(spark: SparkSession, folder: Path, triples: int, rounds: int) -> Table:
    tumbling = WORKLOADS["COUNT, tumbling 10s"]
    graph, stream = write_districts(folder), write_stream(folder, tumbling.query.kind, triples)
    windows = [(10, 10), (10, 1), (60, 1), (300, 1)]
    ways = {}
    for width, step in windows:
        name, workload = f"{width}s/{step}s", replace(tumbling, query=tumbling.query.over(width, step))
        run_penstock(spark, workload, stream, graph, folder / "out")
        ways[name] = partial(run_penstock, spark, workload, stream, graph, folder / "out")
    times = measure(ways, rounds, partial(java_seconds, spark))
    first = times["10s/10s"]
    yield f"{'COUNT':30}{_HEADS}"
    for name, taken in times.items():
        yield f"{name:>30}{_compared(taken, first)}"
    ratio = times["300s/1s"].wall / first.wall
    yield Target("COUNT at 300:1", ratio, MOST_OVERLAPPING, "times the time of tumbling 10 s")


def growth(spark: SparkSession, folder: Path, triples: int, rounds: int) -> Table:
    """The time from two to twenty times as many triples."""
    graph, lengths = write_districts(folder), (2 * triples, 20 * triples)
    yield f"{'':30}" + "".join(f"{length:>18,}" for length in lengths) + f"{'ratio':>8}"
    for name, workload in WORKLOADS.items():
        _try(spark, name, workload, folder, graph)
        walls = []
        for length in lengths:
            stream = write_stream(folder, workload.query.kind, length)
            run = partial(run_penstock, spark, workload, stream, graph, folder / "out")
            walls.append(measure({name: run}, rounds)[name].wall)
        ratio = walls[1] / walls[0]
        yield f"{name:30}" + "".join(f"{wall:16.3f} s" for wall in walls) + f"{ratio:8.2f}"
        yield Target(f"{name}, 10 times as many triples", ratio, MOST_GROWTH, "times the time")


def live(spark: SparkSession, folder: Path, triples: int, rounds: int) -> Table:
    """The round with the least median counts."""
    graph, batches = write_districts(folder), max(triples // LINES, 2 * WARM_UP)
    yield f"{'':30}{'':10}{'batches':>9}{'p50':>11}{'p95':>11}{'ratio':>8}{'jobs':>7}"
    for name, workload in WORKLOADS.items():
        files = living.write_folder(folder, workload.query.kind, batches, LINES)
        expected = embedded_answer(workload, files, graph)
        figures: dict[str, list[living.Figures]] = {who: [] for who in LIVE_RUNS}
        for _ in range(rounds):
            for who, run in LIVE_RUNS.items():
                found, taken = run(spark, workload, files, graph, folder / "live", WARM_UP)
                _compare(f"{name}, {who}, live", found, expected)
                figures[who].append(taken)
        best = {who: min(taken, key=lambda one: one.median) for who, taken in figures.items()}
        hand, own = best[HAND], best[OWN]
        for who, taken in best.items():
            times = "".join(f"{time:8,.0f} ms" for time in (taken.median, taken.percentile(95)))
            ratio = taken.median / hand.median
            yield f"{name:30}{who:10}{len(taken.milliseconds):9}{times}{ratio:8.2f}{taken.jobs:7.1f}"
        ratio = own.median / hand.median
        yield Target(f"{name}, live", ratio, MOST_LIVE, "times the time of the job by hand, p50")
        more = own.jobs - hand.jobs
        yield Target(f"{name}, live", more, MOST_JOBS, "Spark jobs more in a micro-batch")


_HEADS = f"{'wall':>10}{'ratio':>8}{'processor':>12}{'ratio':>8}"


def _compared(taken: Time, other: Time) -> str:
    wall, processor = taken.wall / other.wall, taken.processor / other.processor
    return f"{taken.wall:8.3f} s{wall:8.2f}{taken.processor:10.3f} s{processor:8.2f}"


def _try(spark: SparkSession, name: str, workload: Workload, folder: Path, graph: Path) -> None:
    trial, out = write_stream(folder, workload.query.kind, TRIAL), folder / "out"
    expected = embedded_answer(workload, trial, graph)
    for who, run in RUNS.items():
        run(spark, workload, trial, graph, out)
        _compare(f"{name}, {who}", written_answer(spark, workload, [out]), expected)


def _compare(name: str, found: Solutions, expected: Solutions) -> None:
    assert found == expected, f"{name}: other answers than the embedded engine's"
