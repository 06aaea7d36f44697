"""Answers as what can be compared: the solutions of each instant, their terms as N-Triples has them."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from pathlib import Path

from pyspark.sql import SparkSession

from penstock.bench.systems import DataFiles, Penstock
from penstock.bench.tollgates.data import STREAM
from penstock.rdf.results import Evaluation
from penstock.rdf.vocabulary import XSD
from tollgate_spark.workloads import Workload

Solutions = dict[int, Counter[tuple[str | None, ...]]]


def embedded_answer(workload: Workload, stream: Path, graph: Path) -> Solutions:
    """What the embedded engine says."""
    inputs = DataFiles({STREAM: stream}, {None: graph})
    return solutions_of(Penstock().evaluations(workload.query.rspql, inputs))


def solutions_of(given: Iterable[Evaluation]) -> Solutions:
    return {one.time: Counter(tuple(map(_text, row)) for row in one.rows) for one in given if one.rows}


def written_answer(spark: SparkSession, workload: Workload, folders: list[Path]) -> Solutions:
    """What was written: rows of `time` and the variables."""
    answer: defaultdict[int, Counter[tuple[str | None, ...]]] = defaultdict(Counter)
    rows = spark.read.parquet(*map(str, folders)).select("time", *workload.variables)
    for time, *values in rows.collect():
        answer[time][tuple(map(_text, values))] += 1
    return dict(answer)


def _text(value: object) -> str | None:
    if isinstance(value, int):
        return f'"{value}"^^<{XSD}integer>'
    return None if value is None else str(value)
