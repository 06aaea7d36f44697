"""Answers as what can be compared: the solutions of each instant, their terms as N-Triples has them."""

from __future__ import annotations

from collections import Counter, defaultdict
from pathlib import Path

from pyspark.sql import SparkSession
from tollgate.running import evaluations

from penstock.rdf.vocabulary import XSD
from tollgate_spark.workloads import Workload

Solutions = dict[int, Counter[tuple[str | None, ...]]]


def embedded_answer(workload: Workload, stream: Path, graph: Path) -> Solutions:
    """What the embedded engine says."""
    answer: Solutions = {}
    for evaluation in evaluations(workload.query.rspql, stream, graph):
        assert evaluation.variables == workload.variables
        if evaluation.rows:
            answer[evaluation.time] = Counter(tuple(map(_text, row)) for row in evaluation.rows)
    return answer


def written_answer(spark: SparkSession, workload: Workload, folders: list[Path]) -> Solutions:
    """What a job wrote: rows of `time` and the variables."""
    answer: defaultdict[int, Counter[tuple[str | None, ...]]] = defaultdict(Counter)
    rows = spark.read.parquet(*map(str, folders)).select("time", *workload.variables)
    for time, *values in rows.collect():
        answer[time][tuple(map(_text, values))] += 1
    return dict(answer)


def _text(value: object) -> str | None:
    if isinstance(value, int):
        return f'"{value}"^^<{XSD}integer>'
    return None if value is None else str(value)
