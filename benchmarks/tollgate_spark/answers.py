"""Answers in a comparable form: the solutions of each instant, with terms as N-Triples."""

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
    """The answers of the embedded engine."""
    inputs = DataFiles({STREAM: stream}, {None: graph})
    return solutions_of(Penstock().evaluations(workload.query.rspql, inputs))


def solutions_of(given: Iterable[Evaluation]) -> Solutions:
    return {one.time: Counter(tuple(map(_text, row)) for row in one.rows) for one in given if one.rows}


def written_answer(spark: SparkSession, workload: Workload, folders: list[Path]) -> Solutions:
    """The written answers: rows of `time` and the variables."""
    answer: defaultdict[int, Counter[tuple[str | None, ...]]] = defaultdict(Counter)
    rows = spark.read.parquet(*map(str, folders)).select("time", *workload.variables)
    for time, *values in rows.collect():
        answer[time][tuple(map(_text, values))] += 1
    return dict(answer)


def _text(value: object) -> str | None:
    if isinstance(value, int):
        return f'"{value}"^^<{XSD}integer>'
    return None if value is None else str(value)
