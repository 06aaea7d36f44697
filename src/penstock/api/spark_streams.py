"""Streams and graphs that only Spark reads: DataFrames, folders that it follows, and lines from servers."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from penstock.algebra.inputs import InputError
from penstock.sources.addresses import is_endless, server_of, without_follow
from penstock.sources.batches import Source
from penstock.sources.graphs import Graph

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

LiveStream: TypeAlias = Any
"""A stream that Spark streams (sources/spark/live.py), which is not loaded without need."""

_TIMES = frozenset(("tinyint", "smallint", "int", "bigint", "timestamp"))
_MILLISECONDS_OF_A_DAY = 86_400_000


def is_spark_frame(source: object) -> bool:
    return _is_of_spark(source, "DataFrame")


def is_spark_session(given: object) -> bool:
    return _is_of_spark(given, "SparkSession")


def is_streamed_by_spark(source: object) -> bool:
    return is_spark_frame(source) or (isinstance(source, str | Path) and is_endless(source))


def spark_stream(source: Any, iri: str, scope: str) -> Source | LiveStream:
    """A stream for Spark. Raises SourceError, or InputError for the type of its time, where a frame is none."""
    from penstock.sources.spark.frames import encoded, has_graphs, triples_in_order
    from penstock.sources.spark.live import StreamedRows, growing_folder, socket_lines

    name = f"<{iri}>"
    if not is_spark_frame(source):
        server = server_of(source)
        return (
            growing_folder(without_follow(source), scope=scope)
            if server is None
            else socket_lines(*server, scope=scope)
        )
    if "ts" in source.columns:
        source = source.withColumn("ts", time_of(source, "ts"))
    if not source.isStreaming:
        return triples_in_order(source, name, scope)
    rows = encoded(source, name, scope).withColumnRenamed("wrong", "line")
    return StreamedRows(lambda session: rows, is_named=has_graphs(source))


def spark_graph(frame: Any, name: str, scope: str) -> Graph:
    """A graph that is a DataFrame. Raises SourceError where a column is missing."""
    from penstock.sources.spark.frames import graph_of_frame

    if frame.isStreaming:
        raise InputError(
            "a graph is not a streaming DataFrame: bind it as a stream, or change a graph with add() and remove()"
        )
    return graph_of_frame(frame, name, scope)


def time_of(frame: DataFrame, name: str) -> Column:
    """The column of that name as milliseconds or a timestamp; where it has no zone, it is UTC (semantics.md §1)."""
    from pyspark.sql import functions as sf

    kind, time = frame.schema[name].dataType.simpleString(), frame[name]
    if kind in _TIMES:
        return time
    if kind == "timestamp_ntz":  # a cast would take the session's zone
        return sf.concat(time.cast("string"), sf.lit("Z")).cast("timestamp")
    if kind == "date":
        return sf.unix_date(time).cast("bigint") * _MILLISECONDS_OF_A_DAY
    raise InputError(
        f"the column {name!r} is {kind}, and a time is a whole number of milliseconds or a timestamp: cast it first, "
        f"with to_timestamp({name}), or with CAST({name} AS BIGINT) if it has milliseconds"
    )


def _is_of_spark(given: object, name: str) -> bool:
    """Told by its class alone: PySpark need not be there."""
    return any(kind.__module__.startswith("pyspark.") and kind.__name__ == name for kind in type(given).mro())
