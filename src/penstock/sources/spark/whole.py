"""Sources that Spark does not read itself: each is read as a whole, by the package's own readers, in some executor."""

from __future__ import annotations

import os
import pickle
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pyspark import cloudpickle
from pyspark.sql import DataFrame, SparkSession

from penstock.sources.batches import Source
from penstock.sources.spark.rows import (
    ARROW_MALFORMED,
    ARROW_NAMED_ROWS,
    ARROW_ROWS,
    MALFORMED,
    NAMED_ROWS,
    NUMBERS_PER_FILE,
    ROWS,
    batch_of,
)

_MOST_TASKS = 1000


def whole_rows(spark: SparkSession, sources: Mapping[int, Source], *, is_named: bool = False) -> DataFrame:
    """The rows of sources, which are given by their places. Their files must be where Spark's executors find them."""
    schema = NAMED_ROWS if is_named else ROWS
    return packed(spark, sources).mapInArrow(partial(_rows, is_named=is_named), schema)


def malformed_in_whole(spark: SparkSession, sources: Mapping[int, Source]) -> DataFrame:
    return packed(spark, sources).mapInArrow(_malformed, MALFORMED)


def packed(spark: SparkSession, sources: Mapping[int, Any]) -> DataFrame:
    """What is to be read, a row each, for `unpacked` in some executor."""
    rows = [(place, str(Path.cwd()), _pack(source)) for place, source in sources.items()]
    files = spark.createDataFrame(rows, "place bigint, folder string, source binary")
    return files.repartition(min(len(rows), _MOST_TASKS))


def _pack(source: object) -> bytes:
    written: bytes = cloudpickle.dumps(source)  # type: ignore[no-untyped-call]
    return written


def unpacked(batches: Iterable[pa.RecordBatch]) -> Iterator[tuple[int, Any]]:
    for batch in batches:
        for row in batch.to_pylist():
            if Path(row["folder"]).is_dir():  # a file may be named as it is seen from there
                os.chdir(row["folder"])
            yield row["place"], pickle.loads(row["source"])


def _rows(batches: Iterable[pa.RecordBatch], is_named: bool) -> Iterator[pa.RecordBatch]:
    for place, source in unpacked(batches):
        for table in numbered_tables(source, place * NUMBERS_PER_FILE, is_named=is_named):
            yield from table.to_batches()


def numbered_tables(source: Source, first: int = 0, *, is_named: bool = False) -> Iterator[pa.Table]:
    """The rows of a source, batch by batch, with numbers from the first one on."""
    element = arrival = first
    for batch in source.batches():
        table = batch.table
        numbers = pa.arange(arrival, arrival + table.num_rows)
        columns = [*table.columns[:4], pc.add(table["element"], element), numbers]
        if is_named:
            has_names = "g" in table.column_names
            columns.append(table["g"] if has_names else pa.nulls(table.num_rows, pa.string()))
        yield pa.table(columns, schema=ARROW_NAMED_ROWS if is_named else ARROW_ROWS)
        element += batch.elements
        arrival += table.num_rows


def _malformed(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for _, source in unpacked(batches):
        for batch in source.batches():
            yield batch_of(batch.malformed, ARROW_MALFORMED)
