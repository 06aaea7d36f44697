"""Answers in a comparable form: the solutions of each instant, with terms as N-Triples."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from pathlib import Path

from pyspark.sql import SparkSession

from penstock.bench.systems import DataFiles, Penstock
from penstock.rdf.results import Evaluation
from penstock.rdf.vocabulary import XSD
from tollgate_spark.workloads import Workload

Solutions = dict[int, Counter[tuple[str | None, ...]]]


def embedded_answer(text: str, inputs: DataFiles) -> Solutions:
    """The answers of the embedded engine."""
    return solutions_of(Penstock().evaluations(text, inputs))


def solutions_of(given: Iterable[Evaluation]) -> Solutions:
    """The rows of each instant; those of a CONSTRUCT query are triples."""
    return {one.time: Counter(tuple(map(_text, row)) for row in rows) for one in given if (rows := _rows(one))}


def _rows(evaluation: Evaluation) -> Iterable[Iterable[object]]:
    return evaluation.rows or evaluation.triples or ()


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
