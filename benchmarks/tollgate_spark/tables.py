"""The tables: seconds over history, milliseconds and Spark jobs of a micro-batch live, and how time grows."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import TypeVar

from pyspark.sql import SparkSession
from targets import Target

from penstock.bench.stopwatch import Time, java_seconds, measure
from penstock.bench.systems import DataFiles
from penstock.bench.tollgates.data import write_districts
from tollgate_spark import live as living
from tollgate_spark.answers import Solutions, embedded_answer, written_answer
from tollgate_spark.history import run_by_hand, run_embedded, run_penstock
from tollgate_spark.workloads import LIMITS, TOLLGATES, Workload, counted_over

TRIAL = 130_000
"""The number of triples for warm-up and for comparing answers: more than two windows of the widest kind."""

LINES = 10_000
"""The number of triples in a file, which is one micro-batch: the content of a window of 10 s."""

WARM_UP = 10
"""The number of warm-up micro-batches."""

HAND, EMBEDDED, OWN = "by hand", "embedded", "penstock"
RUNS = {HAND: run_by_hand, EMBEDDED: run_embedded, OWN: run_penstock}
LIVE_RUNS = {HAND: living.run_by_hand, OWN: living.run_penstock}

MOST_BY_HAND, MOST_EMBEDDED = 0.25, 1.2
MOST_LIVE = 0.5
MOST_JOBS = 1
MOST_MEDIAN, MOST_P95 = 300, 500
MOST_OVERLAPPING = 1.5
MOST_GROWTH = 10.5

Table = Iterator[str | Target]
"""The lines, as they come, and what is wanted."""

Names = Collection[str]
"""The first words of workloads; none for all."""

One = TypeVar("One")


def _chosen(workloads: Mapping[str, One], names: Names) -> list[tuple[str, One]]:
    return [(name, one) for name, one in workloads.items() if not names or name.startswith(tuple(names))]


def history(spark: SparkSession, folder: Path, triples: int, rounds: int, names: Names) -> Table:
    yield f"{'':30}{'':10}{'triples/s':>12}{_HEADS}"
    for name, workload in _chosen({**LIMITS, **TOLLGATES}, names):
        yield from _history(spark, name, workload, folder, triples, rounds)


def limits(spark: SparkSession, folder: Path, triples: int, rounds: int, names: Names) -> Table:
    """T1 to T3 alone."""
    yield f"{'':30}{'':10}{'triples/s':>12}{_HEADS}"
    for name, workload in _chosen(LIMITS, names):
        yield from _history(spark, name, workload, folder, triples, rounds)


def _history(spark: SparkSession, name: str, workload: Workload, folder: Path, triples: int, rounds: int) -> Table:
    _try(spark, name, workload, folder)
    inputs = workload.data(folder, triples)
    ways = {who: partial(run, spark, workload, inputs, folder / "out") for who, run in RUNS.items()}
    times = measure(ways, rounds, partial(java_seconds, spark))
    for who, taken in times.items():
        yield f"{name:30}{who:10}{triples / taken.wall:12,.0f}{_compared(taken, times[HAND])}"
    for who, most in ((HAND, MOST_BY_HAND), (EMBEDDED, MOST_EMBEDDED)):
        ratio = times[OWN].wall / times[who].wall
        yield Target(f"{name}, history, {who}", ratio, most, "times its time")


def sliding(spark: SparkSession, folder: Path, triples: int, rounds: int, names: Names) -> Table:
    ways = {}
    for width, step in ((10, 10), (10, 1), (60, 1), (300, 1)):
        workload = counted_over(width, step)
        run = partial(run_penstock, spark, workload, workload.data(folder, triples), folder / "out")
        run()
        ways[f"{width}s/{step}s"] = run
    times = measure(ways, rounds, partial(java_seconds, spark))
    first = times["10s/10s"]
    yield f"{'COUNT':30}{_HEADS}"
    for name, taken in times.items():
        yield f"{name:>30}{_compared(taken, first)}"
    ratio = times["300s/1s"].wall / first.wall
    yield Target("COUNT at 300:1", ratio, MOST_OVERLAPPING, "times the time of tumbling 10 s")


def growth(spark: SparkSession, folder: Path, triples: int, rounds: int, names: Names) -> Table:
    """The time from a tenth of the triples to all of them."""
    lengths = (triples // 10, triples)
    yield f"{'':30}" + "".join(f"{length:>18,}" for length in lengths) + f"{'ratio':>8}"
    for name, workload in _chosen({**LIMITS, **TOLLGATES}, names):
        _try(spark, name, workload, folder)
        walls = []
        for length in lengths:
            run = partial(run_penstock, spark, workload, workload.data(folder, length), folder / "out")
            walls.append(measure({name: run}, rounds)[name].wall)
        ratio = walls[1] / walls[0]
        yield f"{name:30}" + "".join(f"{wall:16.3f} s" for wall in walls) + f"{ratio:8.2f}"
        yield Target(f"{name}, 10 times as many triples", ratio, MOST_GROWTH, "times the time")


def live(spark: SparkSession, folder: Path, triples: int, rounds: int, names: Names) -> Table:
    """The round with the least median counts."""
    graph, batches = write_districts(folder), max(triples // LINES, 2 * WARM_UP)
    yield _LIVE_HEADS
    for name, workload in _chosen(TOLLGATES, names):
        files = living.write_passages(folder, workload.kind, batches, LINES)
        expected = embedded_answer(workload.text, DataFiles({workload.stream: files}, {None: graph}))
        figures: dict[str, list[living.Figures]] = {who: [] for who in LIVE_RUNS}
        for _ in range(rounds):
            for who, run in LIVE_RUNS.items():
                found, taken = run(spark, workload, files, graph, folder / "live", WARM_UP)
                _compare(f"{name}, {who}, live", found, expected)
                figures[who].append(taken)
        best = {who: min(taken, key=lambda one: one.median) for who, taken in figures.items()}
        hand, own = best[HAND], best[OWN]
        for who, taken in best.items():
            yield _live_line(name, who, taken, hand)
        yield Target(f"{name}, live", own.median / hand.median, MOST_LIVE, "times the time of the job by hand, p50")
        yield from _live_targets(name, own)


def conference(spark: SparkSession, folder: Path, triples: int, rounds: int, names: Names) -> Table:
    """CQELS's queries, live: the round with the least median counts."""
    inputs = living.conference(folder, max(triples // LINES, 2 * WARM_UP), LINES)
    yield _LIVE_HEADS
    for name, text in _chosen(living.CONFERENCE, names):
        expected = embedded_answer(text, inputs)
        figures = []
        for _ in range(rounds):
            found, taken = living.run_text(spark, text, inputs, folder / "live", WARM_UP)
            _compare(f"{name}, live", found, expected)
            figures.append(taken)
        best = min(figures, key=lambda one: one.median)
        yield _live_line(name, OWN, best, best)
        yield from _live_targets(name, best)


def _live_line(name: str, who: str, taken: living.Figures, other: living.Figures) -> str:
    times = "".join(f"{time:8,.0f} ms" for time in (taken.median, taken.percentile(95)))
    ratio = taken.median / other.median
    parts = ", ".join(f"{part} {time:.0f}" for part, time in taken.parts.items())
    return f"{name:30}{who:10}{len(taken.milliseconds):9}{times}{ratio:8.2f}{taken.jobs:7.1f}  {parts}"


def _live_targets(name: str, own: living.Figures) -> Table:
    yield Target(f"{name}, live", own.median, MOST_MEDIAN, "ms a micro-batch, p50")
    yield Target(f"{name}, live", own.percentile(95), MOST_P95, "ms a micro-batch, p95")
    yield Target(f"{name}, live", own.jobs, MOST_JOBS, "Spark jobs a micro-batch")


_LIVE_HEADS = f"{'':30}{'':10}{'batches':>9}{'p50':>11}{'p95':>11}{'ratio':>8}{'jobs':>7}  medians of the parts [ms]"
_HEADS = f"{'wall':>10}{'ratio':>8}{'processor':>12}{'ratio':>8}"


def _compared(taken: Time, other: Time) -> str:
    wall, processor = taken.wall / other.wall, taken.processor / other.processor
    return f"{taken.wall:8.3f} s{wall:8.2f}{taken.processor:10.3f} s{processor:8.2f}"


def _try(spark: SparkSession, name: str, workload: Workload, folder: Path) -> None:
    inputs, out = workload.data(folder, TRIAL), folder / "out"
    expected = embedded_answer(workload.text, inputs)
    for who, run in RUNS.items():
        run(spark, workload, inputs, out)
        _compare(f"{name}, {who}", written_answer(spark, workload, [out]), expected)


def _compare(name: str, found: Solutions, expected: Solutions) -> None:
    assert found == expected, f"{name}: other answers than the embedded engine's"
