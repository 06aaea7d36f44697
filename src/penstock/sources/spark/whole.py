"""Sources that Spark does not read itself: each is read as a whole, by the package's own readers, in some executor."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import TypeVar

import pyarrow as pa
import pyarrow.compute as pc
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

Read = TypeVar("Read")


def whole_rows(spark: SparkSession, sources: Mapping[int, Source], *, is_named: bool = False) -> DataFrame:
    """The rows of sources, which are given by their places. Their files must be where Spark's executors find them."""
    schema = NAMED_ROWS if is_named else ROWS
    return read_in_executors(spark, sources, partial(_rows, is_named=is_named), schema)


def malformed_in_whole(spark: SparkSession, sources: Mapping[int, Source]) -> DataFrame:
    return read_in_executors(spark, sources, _malformed, MALFORMED)


def read_in_executors(
    spark: SparkSession, sources: Mapping[int, Read], read: Callable[[int, Read], Iterable[pa.RecordBatch]], schema: str
) -> DataFrame:
    """What `read` makes of each source, given its place, in some executor.

    The sources go there with the function, as Spark sends every function of Python; the rows have only their places.
    """
    known, folder = dict(sources), Path.cwd()

    def read_batches(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        if folder.is_dir():  # a file may be named as it is seen from there
            os.chdir(folder)
        for batch in batches:
            for place in batch.column(0).to_pylist():
                yield from read(place, known[place])

    places = spark.createDataFrame([(place,) for place in known], "place bigint")
    return places.repartition(min(len(known), _MOST_TASKS)).mapInArrow(read_batches, schema)


def _rows(place: int, source: Source, is_named: bool) -> Iterator[pa.RecordBatch]:
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


def _malformed(place: int, source: Source) -> Iterator[pa.RecordBatch]:
    for batch in source.batches():
        yield batch_of(batch.malformed, ARROW_MALFORMED)
