"""From a text file to an answer in Parquet files: by a hand-written job, and by Penstock with and without Spark."""

from __future__ import annotations

import shutil
from pathlib import Path

from pyarrow import parquet
from pyspark.sql import SparkSession

from penstock.bench.systems import DataFiles, Penstock
from tollgate_spark.jobs import Windows, read_districts, read_triples
from tollgate_spark.workloads import Workload

_LONGEST_LINE = 1_000


def run_by_hand(spark: SparkSession, workload: Workload, inputs: DataFiles, out: Path) -> None:
    (stream,), (graph,) = inputs.streams.values(), inputs.graphs.values()
    windows = Windows(workload.width, workload.step, after=0, until=last_timestamp(stream))
    triples = read_triples(spark.read.text(str(stream)))
    answer = workload.job(triples, read_districts(spark, graph), windows)
    answer.select("time", *workload.variables).write.mode("overwrite").parquet(str(out))


def run_penstock(spark: SparkSession, workload: Workload, inputs: DataFiles, out: Path) -> None:
    (query,) = Penstock(spark).registered([workload.text], inputs).queries.values()
    query.to_df(terms=True).write.mode("overwrite").parquet(str(out))


def run_embedded(spark: SparkSession, workload: Workload, inputs: DataFiles, out: Path) -> None:
    (query,) = Penstock().registered([workload.text], inputs).queries.values()
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir()
    parquet.write_table(query.to_arrow(terms=True), out / "answer.parquet")


def last_timestamp(stream: Path) -> int:
    """The timestamp of the last line: the stream is ordered by time. Windows that close later are incomplete."""
    with stream.open("rb") as file:
        file.seek(max(0, stream.stat().st_size - _LONGEST_LINE))
        return int(file.read().splitlines()[-1].split(b'"')[-2])
