"""History: from a text file to an answer in Parquet files, by a hand-written job and by Penstock."""

from __future__ import annotations

from pathlib import Path

from pyspark.sql import SparkSession

from penstock import Engine
from penstock.bench.tollgates.data import STREAM
from tollgate_spark.jobs import Windows, read_districts, read_triples
from tollgate_spark.workloads import Workload

_LONGEST_LINE = 1_000


def run_by_hand(spark: SparkSession, workload: Workload, stream: Path, graph: Path, out: Path) -> None:
    windows = Windows(workload.width, workload.step, after=0, until=last_timestamp(stream))
    triples = read_triples(spark.read.text(str(stream)))
    answer = workload.job(triples, read_districts(spark, graph), windows)
    answer.select("time", *workload.variables).write.mode("overwrite").parquet(str(out))


def run_penstock(spark: SparkSession, workload: Workload, stream: Path, graph: Path, out: Path) -> None:
    engine = Engine(spark)
    engine.stream(STREAM, stream)
    engine.graph(graph)
    answer = engine.register(workload.query.rspql).to_df(terms=True)
    answer.write.mode("overwrite").parquet(str(out))


def last_timestamp(stream: Path) -> int:
    """The timestamp of the last line: the stream is ordered by time. Windows that close later are incomplete."""
    with stream.open("rb") as file:
        file.seek(max(0, stream.stat().st_size - _LONGEST_LINE))
        return int(file.read().splitlines()[-1].split(b'"')[-2])
