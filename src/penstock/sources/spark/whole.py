"""Sources that Spark does not read itself: each is read as a whole, by the package's own readers, in some executor."""

from __future__ import annotations

import os
import pickle
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
from pyspark import cloudpickle
from pyspark.sql import DataFrame, SparkSession

from penstock.sources.batches import Source
from penstock.sources.spark.rows import ARROW_MALFORMED, ARROW_ROWS, MALFORMED, NUMBERS_PER_FILE, ROWS, batch_of

_MOST_TASKS = 1000


def whole_rows(spark: SparkSession, sources: Mapping[int, Source]) -> DataFrame:
    """The rows of sources, which are given by their places. Their files must be where Spark's executors find them."""
    return _packed(spark, sources).mapInArrow(_rows, ROWS)


def malformed_in_whole(spark: SparkSession, sources: Mapping[int, Source]) -> DataFrame:
    return _packed(spark, sources).mapInArrow(_malformed, MALFORMED)


def _packed(spark: SparkSession, sources: Mapping[int, Source]) -> DataFrame:
    packed = [(place, str(Path.cwd()), _pack(source)) for place, source in sources.items()]
    files = spark.createDataFrame(packed, "place bigint, folder string, source binary")
    return files.repartition(min(len(packed), _MOST_TASKS))


def _pack(source: Source) -> bytes:
    packed: bytes = cloudpickle.dumps(source)  # type: ignore[no-untyped-call]
    return packed


def _unpacked(batches: Iterable[pa.RecordBatch]) -> Iterator[tuple[int, Source]]:
    for batch in batches:
        for row in batch.to_pylist():
            if Path(row["folder"]).is_dir():  # a file may be named as it is seen from there
                os.chdir(row["folder"])
            yield row["place"], pickle.loads(row["source"])


def _rows(packed: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for place, source in _unpacked(packed):
        for table in numbered_tables(source, place * NUMBERS_PER_FILE):
            yield from table.to_batches()


def numbered_tables(source: Source, first: int = 0) -> Iterator[pa.Table]:
    """The rows of a source, batch by batch, with numbers from the first one on."""
    element = arrival = first
    for batch in source.batches():
        table = batch.table
        numbers = pa.arange(arrival, arrival + table.num_rows)
        yield pa.table([*table.columns[:4], pc.add(table["element"], element), numbers], schema=ARROW_ROWS)
        element += batch.elements
        arrival += table.num_rows


def _malformed(packed: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for _, source in _unpacked(packed):
        for batch in source.batches():
            yield batch_of(batch.malformed, ARROW_MALFORMED)
