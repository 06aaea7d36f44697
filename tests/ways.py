"""The ways in which Spark answers, over input in memory: windows of live runs, and histories by ranges.

Windows beside the driver need no session of Spark, and tasks over ranges can run in this process. So most of this is as
quick as the embedded engine.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import pyarrow as pa
import pytest

from penstock.engines.spark.history import HistoryStore
from penstock.engines.spark.live_store import LiveStore
from penstock.runtime.settings import Windows

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

NO_SESSION = cast(
    Any,
    SimpleNamespace(
        conf=SimpleNamespace(get=lambda name, default: default),
        catalog=SimpleNamespace(dropTempView=lambda name: False),
        createDataFrame=lambda rows: SimpleNamespace(createOrReplaceTempView=lambda name: None),
        sparkContext=SimpleNamespace(
            master="local[2]", defaultParallelism=2, broadcast=lambda value: SimpleNamespace(value=value)
        ),
    ),
)
"""A session of Spark as far as windows beside the driver need one, and tasks over ranges in this process."""


class NotByRangesError(Exception):
    """Spark SQL would have to answer."""


class Reread(LiveStore):
    """Every other batch another DuckDB beside the driver evaluates, which reads the log."""

    _looks = 0

    def _place(self) -> None:
        self._looks += 1
        if self._looks % 4 == 0:
            self._change("driver")


class Commuting(LiveStore):
    """Every other batch the windows move from the driver to the cluster, or back."""

    _looks = 0

    def _place(self) -> None:
        self._looks += 1
        if self._looks % 4 == 0:
            self._change("cluster" if self._is_on_driver else "driver")


@contextmanager
def live_windows(
    windows: Windows, spark: SparkSession = NO_SESSION, kind: type[LiveStore] = LiveStore
) -> Iterator[LiveStore]:
    """An empty store of live windows."""
    with TemporaryDirectory() as folder:
        store = kind(spark, Path(folder), is_durable=True, windows=windows)
        try:
            yield store
        finally:
            store.close()


# Ranges


class ReadHere:
    """A DataFrame as far as stores need it; what executors do is done in this process."""

    def __init__(self, parts: Sequence[Any], read: Callable[[Any], Iterable[pa.RecordBatch]], schema: str) -> None:
        self._parts, self._read = parts, read
        self._columns = [column.partition(" ")[0] for column in schema.split(", ")]

    def toArrow(self) -> pa.Table:  # noqa: N802
        batches = [batch for part in self._parts for batch in self._read(part)]
        return pa.Table.from_batches(batches) if batches else pa.table({name: [] for name in self._columns})


def run_tasks_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ranges of a few lines, slices of a few rows, and no task of Spark: where Spark SQL is asked, NotByRangesError."""
    from penstock.engines.spark import range_queries, survey
    from penstock.engines.spark.statements import SparkQuery, SparkReport
    from penstock.sources.spark import ranges

    def read_here(spark: object, parts: Sequence[Any], read: Any, schema: str) -> ReadHere:
        return ReadHere(parts, read, schema)

    def refuse(*arguments: object) -> None:
        raise NotByRangesError

    def none_late(store: object, query: object, stream: str) -> pa.Table:
        return pa.table({"arrival": [], "element": []})

    for module in (range_queries, survey):
        monkeypatch.setattr(module, "read_in_executors", read_here)
    monkeypatch.setattr(ranges, "bytes_per_range", lambda spark, files: 120)
    monkeypatch.setattr(range_queries, "_ROWS_PER_SLICE", 4)
    monkeypatch.setattr(SparkQuery, "evaluate", refuse)
    monkeypatch.setattr(SparkReport, "instants", refuse)
    monkeypatch.setattr(SparkReport, "last_end", refuse)
    monkeypatch.setattr(HistoryStore, "uncounted", none_late)
