"""Answers over complete streams as a folder of Parquet, written by the executors of Spark: no row passes the driver."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from penstock.algebra.model import SelectForm
from penstock.api.engine import Engine
from penstock.api.queries import RegisteredQuery
from penstock.runtime.ways import RunRequest, Way, choose_way
from penstock.sinks.parquet_folder import check_new, partition


def can_write_frames(engine: Engine, queries: Sequence[RegisteredQuery]) -> bool:
    """Whether Spark answers the queries as a history: SELECT over streams that end."""
    if not engine.is_on_spark:
        return False
    request = RunRequest((), engine.bound_streams(), settings=queries[0].options.how)
    is_history = choose_way(request, on_spark=True) is Way.HISTORY
    return is_history and all(
        isinstance(query.meaning.form, SelectForm) and not query.meaning.waits_for_certainty for query in queries
    )


def write_frames(queries: Sequence[RegisteredQuery], folder: Path) -> None:
    """The same partitions and columns as `ParquetFolder` writes. Raises SinkError if the folder is not empty."""
    check_new(folder)
    for query in queries:
        query.to_df(terms=True).write.parquet(str(folder / partition(query.name)))
