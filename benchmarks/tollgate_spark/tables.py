"""The tables: seconds over history, milliseconds and Spark jobs of a micro-batch live."""

from __future__ import annotations

import statistics
from functools import partial
from pathlib import Path

from pyspark.sql import SparkSession
from tollgate.data import write_districts, write_stream
from tollgate.measuring import measure

from tollgate_spark import live as living
from tollgate_spark.answers import Solutions, embedded_answer, written_answer
from tollgate_spark.history import last_timestamp, run_by_hand
from tollgate_spark.workloads import WORKLOADS, Workload

TRIAL = 130_000
"""So many triples warm a job up, and show that its answers are right: two windows of the widest, and more."""

LINES = 10_000
"""In a file, which is a micro-batch: the content of a window of 10 s."""

WARM_UP = 10
"""Micro-batches that are not counted."""


def history(spark: SparkSession, folder: Path, triples: int, rounds: int) -> str:
    graph, out = write_districts(folder), folder / "history"
    for name, workload in WORKLOADS.items():
        trial = write_stream(folder, workload.query.kind, TRIAL)
        run_by_hand(spark, workload, trial, graph, out)
        _compare(name, written_answer(spark, workload, [out]), embedded_answer(workload, trial, graph))
    ways = {
        name: partial(run_by_hand, spark, workload, write_stream(folder, workload.query.kind, triples), graph, out)
        for name, workload in WORKLOADS.items()
    }
    lines = [f"{'':30}{'wall':>10}{'triples/s':>12}"]
    for name, taken in measure(ways, rounds).items():
        lines.append(f"{name:30}{taken.wall:8.3f} s{triples / taken.wall:12,.0f}")
    return "\n".join(lines)


def live(spark: SparkSession, folder: Path, triples: int, rounds: int) -> str:
    """The round with the least median counts."""
    graph, batches = write_districts(folder), max(triples // LINES, 2 * WARM_UP)
    lines = [f"{'':30}{'batches':>9}{'p50':>11}{'p95':>11}{'jobs':>7}"]
    for name, workload in WORKLOADS.items():
        files = living.write_folder(folder, workload.query.kind, batches, LINES)
        figures = [_run_live(spark, name, workload, files, graph, folder / "live") for _ in range(rounds)]
        best = min(figures, key=lambda figure: statistics.median(figure.milliseconds))
        percentiles = statistics.quantiles(best.milliseconds, n=100, method="inclusive")
        taken = "".join(f"{percentiles[place - 1]:8,.0f} ms" for place in (50, 95))
        lines.append(f"{name:30}{len(best.milliseconds):9}{taken}{best.jobs:7.1f}")
    return "\n".join(lines)


def _run_live(
    spark: SparkSession, name: str, workload: Workload, files: Path, graph: Path, work: Path
) -> living.Figures:
    job, figures = living.run_by_hand(spark, workload, files, graph, work, WARM_UP)
    expected = embedded_answer(workload, files, graph)
    # Live, nothing says that no other element has the last timestamp.
    expected.pop(last_timestamp(max(files.iterdir())), None)
    _compare(name, written_answer(spark, workload, job.answers()), expected)
    return figures


def _compare(name: str, found: Solutions, expected: Solutions) -> None:
    assert found == expected, f"{name}: other answers than the embedded engine's"
