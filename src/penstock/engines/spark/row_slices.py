"""Complete streams that are rows of Spark, cut into slices: each task receives the rows that its instants need.

Unlike a file, a DataFrame is in no order, so Spark sends each row to the slices that see it. That is one shuffle of the
rows; the rest is as for streams that are read in ranges.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as sf

from penstock.engines.spark.range_tasks import Answer, RangeTask, TaskSlice
from penstock.engines.spark.survey import RangeSurvey

_BUCKETS = 500
_COLUMNS = "s string, p string, o string, ts bigint, element bigint, arrival bigint, since bigint, g string"


@dataclass(frozen=True)
class StreamRows:
    """A stream whose rows are in Spark: `rows.ROWS` with `since`, and `g` if its elements have names."""

    rows: DataFrame

    @cached_property
    def surveys(self) -> Sequence[RangeSurvey]:
        """The counts of triples by time."""
        ((least, greatest),) = self.rows.agg(sf.min("ts"), sf.max("ts")).collect()
        if least is None:
            return []
        width = (greatest - least) // _BUCKETS + 1
        bucket = sf.expr(f"div(ts - {least}, {width})")
        counts = sf.count("*"), sf.min("ts"), sf.max("ts")
        found = self.rows.groupBy(bucket.alias("bucket")).agg(*counts).orderBy("bucket").drop("bucket").collect()
        return [
            RangeSurvey(None, {}, triples=triples, earliest=earliest, greatest=latest)
            for triples, earliest, latest in found
        ]


def answered(
    session: SparkSession,
    streams: Mapping[str, StreamRows],
    slices: Sequence[TaskSlice],
    answer: Answer,
    task: RangeTask,
    schema: str,
) -> DataFrame:
    """The answers of all slices. Each slice is one group, which has at least a row of no stream."""
    nothing = [f"CAST(NULL AS {kind}) AS {name}" for name, kind in _fields(_COLUMNS)]
    parts = [session.range(len(slices)).selectExpr("CAST(id AS int) AS slice", "-1 AS stream", *nothing)]
    for place, (iri, stream) in enumerate(streams.items()):
        slice_ = _slices_of([part.oldest[iri] for part in slices], [part.part.instants[-1] for part in slices])
        rows = stream.rows if "g" in stream.rows.columns else stream.rows.withColumn("g", sf.lit(None).cast("string"))
        columns = (sf.col(name) for name, _ in _fields(_COLUMNS))
        parts.append(rows.select(slice_.alias("slice"), sf.lit(place).alias("stream"), *columns))
    rows = reduce(DataFrame.unionAll, parts).repartition(len(slices), "slice")
    names = list(streams)

    def run(rows: pa.Table) -> pa.Table:
        return _answer(rows, names, slices, answer, task, schema)

    return rows.groupBy("slice").applyInArrow(run, schema)


def _fields(schema: str) -> list[tuple[str, str]]:
    return [(name, kind) for name, _, kind in (column.partition(" ") for column in schema.split(", "))]


def _slices_of(oldest: Sequence[int], last: Sequence[int]) -> Column:
    """The numbers of the slices that see a row: those from its `oldest` to its `last` timestamp. Both only grow."""
    first, end = _count(last, "ts >"), _count(oldest, "ts >=")
    return sf.expr(f"explode(CASE WHEN {first} < {end} THEN sequence({first}, {end} - 1) ELSE array() END)")


def _count(bounds: Sequence[int], compared: str, before: int = 0) -> str:
    """The number of bounds for which the comparison is true: they are the first ones. A binary search, as SQL."""
    if not bounds:
        return str(before)
    middle = len(bounds) // 2
    above = _count(bounds[middle + 1 :], compared, before + middle + 1)
    below = _count(bounds[:middle], compared, before)
    return f"CASE WHEN {compared} {bounds[middle]} THEN {above} ELSE {below} END"


def _answer(
    rows: pa.Table, names: Sequence[str], slices: Sequence[TaskSlice], answer: Answer, task: RangeTask, schema: str
) -> pa.Table:
    given = {
        name: rows.filter(pc.equal(rows["stream"], place)).drop_columns(["slice", "stream"]).sort_by("arrival")
        for place, name in enumerate(names)
    }
    found = list(answer(slices[rows["slice"][0].as_py()], task, given))
    return pa.Table.from_batches(found) if found else _nothing(schema)


def _nothing(schema: str) -> pa.Table:
    kinds = {"string": pa.string(), "bigint": pa.int64()}
    return pa.table({name: pa.nulls(0, kinds[kind]) for name, kind in _fields(schema)})
