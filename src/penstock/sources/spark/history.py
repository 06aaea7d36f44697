"""Bounded streams on Spark: files and folders of any size, read in the executors' Python."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from penstock.sources.batches import Source
from penstock.sources.files import OneAfterAnother
from penstock.sources.spark.ranges import Range, cut_sources, numbered_tables, read_in_executors, with_line_numbers
from penstock.sources.spark.rows import ARROW_MALFORMED, MALFORMED, NAMED_ROWS, ROWS, batch_of


@dataclass(frozen=True, slots=True)
class History:
    """A complete stream. It is not read until Spark runs one of its DataFrames."""

    spark: SparkSession
    ranges: Sequence[Range]

    def rows(self, *, is_named: bool = False) -> DataFrame:
        """A row for each triple (`rows.ROWS`); `arrival` and `element` are in the order of the input.

        `is_named`: with the names of elements (`rows.NAMED_ROWS`).
        """
        read = partial(_rows, is_named=is_named)
        return read_in_executors(self.spark, self.ranges, read, NAMED_ROWS if is_named else ROWS)

    def malformed(self) -> DataFrame:
        """Malformed input (`rows.MALFORMED`): its place, the text, and the reason."""
        return read_in_executors(self.spark, with_line_numbers(self.ranges), _malformed, MALFORMED)


def history_of(spark: SparkSession, source: Source) -> History:
    """A bounded source, whose files the executors must see under the same path.

    Plain files of `.tnt` are read in ranges; compressed files and other formats, each as a whole.
    """
    parts = [part for _, part in source.files] if isinstance(source, OneAfterAnother) else [source]
    return History(spark, cut_sources(spark, dict(enumerate(parts))))


def _rows(part: Range, is_named: bool) -> Iterator[pa.RecordBatch]:
    for table in numbered_tables(part.batches(), part.first_number, is_named=is_named):
        yield from table.to_batches()


def _malformed(part: Range) -> Iterator[pa.RecordBatch]:
    for batch in part.batches():
        yield batch_of(batch.malformed, ARROW_MALFORMED)
