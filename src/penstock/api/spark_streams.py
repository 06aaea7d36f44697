"""Streams that only Spark reads: its DataFrames, and folders that grow."""

from __future__ import annotations

from pathlib import Path
from typing import Any, TypeAlias

from penstock.sources.batches import Source

LiveStream: TypeAlias = Any
"""A stream that Spark streams (sources/spark/live.py), which is not loaded without need."""

FOLLOW = "follow"


def is_growing(source: str | Path) -> bool:
    """Whether a source is a folder that grows: `FOLDER?follow`."""
    return FOLLOW in _options(source)


def without_follow(source: str | Path) -> str:
    """The folder, with its other options."""
    path, others = str(source).partition("?")[0], [option for option in _options(source) if option != FOLLOW]
    return f"{path}?{'&'.join(others)}" if others else path


def is_spark_frame(source: object) -> bool:
    """Told by its class alone: PySpark need not be there."""
    return any(kind.__module__.startswith("pyspark.") and kind.__name__ == "DataFrame" for kind in type(source).mro())


def is_streamed_by_spark(source: object) -> bool:
    return is_spark_frame(source) or (isinstance(source, str | Path) and is_growing(source))


def spark_stream(source: Any, iri: str, scope: str) -> Source | LiveStream:
    """A stream for Spark. Raises SourceError where a frame is none."""
    from penstock.sources.spark.frames import encoded, has_graphs, triples_in_order
    from penstock.sources.spark.live import StreamedRows, growing_folder

    name = f"<{iri}>"
    if not is_spark_frame(source):
        return growing_folder(without_follow(source), scope=scope)
    if not source.isStreaming:
        return triples_in_order(source, name, scope)
    rows = encoded(source, name, scope).withColumnRenamed("wrong", "line")
    return StreamedRows(lambda session: rows, name, is_named=has_graphs(source))


def _options(source: str | Path) -> list[str]:
    return str(source).partition("?")[2].split("&")
