"""Inputs that only Spark reads: DataFrames, folders that are followed, and lines from servers."""

from __future__ import annotations

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sf

from penstock.algebra.inputs import InputError
from penstock.rdf.addresses import Address
from penstock.sources.batches import BoundStream
from penstock.sources.spark.frames import FrameGraph, FrameSource, encoded, graph_of_frame, has_graphs, triples_in_order
from penstock.sources.spark.live import StreamedMessages, StreamedRows, growing_folder, socket_lines
from penstock.sources.spark.templates import time_of
from penstock.sources.spark.topics import StreamedTopic, decoded, messages_until_now, refused


def spark_stream(source: DataFrame | Address, iri: str, scope: str) -> BoundStream:
    """A stream for Spark. Raises SourceError if a frame is not a stream, or InputError for the type of its time."""
    name = f"<{iri}>"
    if isinstance(source, Address):
        if source.scheme == "kafka":
            return StreamedMessages(StreamedTopic(source, scope))
        if source.scheme == "tcp":
            return socket_lines(*source.server, scope=scope)
        return growing_folder(source, scope=scope)
    if "ts" in source.columns:
        source = source.withColumn("ts", time_of(source, "ts"))
    if not source.isStreaming:
        return triples_in_order(source, name, scope)
    rows = encoded(source, name, scope).withColumnRenamed("wrong", "line")
    return StreamedRows(lambda session: rows, is_named=has_graphs(source))


def whole_topic(spark: SparkSession, address: Address, scope: str) -> FrameSource:
    """A topic up to its present end. Raises SourceError where there is no such topic, or it may not be read."""
    messages = messages_until_now(spark, address)
    rows = decoded(messages, address, scope).withColumn("wrong", sf.lit(None).cast("string"))
    return FrameSource(address.name, rows, refused(messages, address, scope))


def spark_graph(frame: DataFrame, name: str, scope: str) -> FrameGraph:
    """A graph that is a DataFrame. Raises SourceError if a column is missing."""
    if frame.isStreaming:
        raise InputError(
            "a graph cannot be a streaming DataFrame: bind it as a stream, or change a graph with add() and remove()"
        )
    return graph_of_frame(frame, name, scope)
