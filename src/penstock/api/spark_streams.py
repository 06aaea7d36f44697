"""Streams that only Spark reads: its DataFrames, and folders that grow."""

from __future__ import annotations

from pathlib import Path
from typing import Any, TypeAlias

from penstock.sources.batches import Source

LiveStream: TypeAlias = Any
"""A stream that Spark streams (sources/spark/live.py), which is not loaded without need."""

_FOLLOW = "follow"


def is_spark_frame(source: object) -> bool:
    """Told by its class alone: PySpark need not be there."""
    return any(kind.__module__.startswith("pyspark.") and kind.__name__ == "DataFrame" for kind in type(source).mro())


def is_streamed_by_spark(source: object) -> bool:
    return is_spark_frame(source) or (isinstance(source, str | Path) and _FOLLOW in _options(source))


def spark_stream(source: Any, iri: str, scope: str) -> Source | LiveStream:
    """A stream for Spark. Raises SourceError where a frame is none."""
    from penstock.sources.spark.frames import encoded, triples_in_order
    from penstock.sources.spark.live import StreamedRows, growing_folder

    name = f"<{iri}>"
    if not is_spark_frame(source):
        others = "&".join(option for option in _options(source) if option != _FOLLOW)
        path = str(source).partition("?")[0]
        return growing_folder(f"{path}?{others}" if others else path, scope=scope)
    if not source.isStreaming:
        return triples_in_order(source, name, scope)
    rows = encoded(source, name, scope)
    return StreamedRows(lambda session: rows)


def _options(source: str | Path) -> list[str]:
    return str(source).partition("?")[2].split("&")
