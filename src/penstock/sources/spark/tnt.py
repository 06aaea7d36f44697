"""Timestamped N-Triples on Spark, in SQL expressions: what is ordinary quickly, and all else that is right as well."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial

import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf

from penstock.rdf.blank_nodes import label_prefix, prefixed
from penstock.rdf.elements import Malformed
from penstock.sources.spark import ordinary
from penstock.sources.spark.grammar import TERM
from penstock.sources.spark.patterns import COMMON_LINE, LINE
from penstock.sources.spark.rows import ARROW_MALFORMED, MALFORMED, batch_of
from penstock.sources.spark.terms import bound, object_of, predicate_of, subject_of
from penstock.sources.spark.times import time_of
from penstock.sources.tnt import read_line

_TIME = """CAST(substring_index(substring_index(value, '"', -2), '"', 1) AS BIGINT)"""
_TERMS = {
    "s": ordinary.iri(0),
    "p": ordinary.iri(1),
    "o": ordinary.object_or_literal("""substring_index(substring_index(value, '"', 3), '"', -1)"""),
}
_TRIPLE = f"struct({', '.join(f'{text} AS {name}' for name, text in _TERMS.items())}, {_TIME} AS ts)"
"""Of an ordinary line, which has been cut."""

_SPACE = "[\\s\\x1c-\\x1f\\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000]"
_ODD_LINE = (
    rf"^{_SPACE}*+({TERM})[ \t]*+({TERM})[ \t]*+({TERM})"
    rf'\s*+"([^"\\]*+)"(?:\^\^<([^<>\s]*+)>)?+\s*+\.(?:\s*+#[^\n]*+|{_SPACE}*+)\z'
)
_NOTHING = rf"^{_SPACE}*+(?:#|\z)"
"""Empty lines and comments, as Python strips them."""


def tnt_rows(lines: DataFrame, scope: str) -> DataFrame:
    """The elements of numbered lines."""
    found = _cut(lines, "number").select(_found(scope), "number")
    triple = sf.inline("found").alias("s", "p", "o", "ts")
    return found.select(triple, sf.col("number").alias("element"), sf.col("number").alias("arrival"))


def _found(scope: str) -> Column:
    return _triples(sf.col("value"), label_prefix(scope)).alias("found")


def _cut(lines: DataFrame, *beside: str) -> DataFrame:
    return lines.selectExpr("value", f"{ordinary.PIECES} AS pieces", *beside)


def ordinary_rows(lines: DataFrame) -> DataFrame:
    """The elements of numbered lines all of which are ordinary; nothing is checked again.

    Spark would cut a line once for each condition on what is in it. It does not where something is not determined by
    the line alone: that is what the partition is for.
    """
    cut = lines.selectExpr(
        "value", "number", f"{ordinary.PIECES} AS pieces", f"{_TIME} AS ts", "spark_partition_id() AS partition"
    )
    terms = [f"{text} AS {name}" for name, text in _TERMS.items()]
    return cut.where("partition >= 0").selectExpr(*terms, "ts", "number AS element", "number AS arrival")


def rows_if_ordinary(lines: DataFrame) -> DataFrame:
    """A row for each of some numbered lines; one that is not ordinary has no `ts`."""
    triple = sf.when(_is_ordinary(), sf.expr(_TRIPLE))
    return _cut(lines, "number").select(triple.alias("found"), "number").selectExpr(
        "found.*", "number AS element", "number AS arrival"
    )  # fmt: skip


def times_of_lines(lines: DataFrame) -> DataFrame:
    """What is soon told of numbered lines: `ts` and `arrival`, and of a line that is not ordinary, that it is odd."""
    is_ordinary = _is_ordinary()
    return lines.select(
        sf.when(is_ordinary, sf.expr(_TIME)).alias("ts"),
        sf.col("number").alias("arrival"),
        (~is_ordinary).alias("is_odd"),
    )


def malformed_tnt(lines: DataFrame, scope: str) -> DataFrame:
    """The lines that are no elements, and why; `place` is where the line is."""
    is_nothing = sf.is_valid_utf8("value") & sf.col("value").rlike(_NOTHING)
    odd = lines.where(~_is_ordinary() & ~is_nothing)
    odd = odd.withColumn("value", sf.col("value").cast("binary"))
    return odd.mapInArrow(partial(_judge, scope=scope), MALFORMED)


def _triples(line: Column, prefix: str) -> Column:
    """The triple of a line with its timestamp, in an array, which is empty where the line is malformed."""
    odd = bound(line, lambda text: sf.filter(sf.array(_odd(text, prefix)), _is_right))
    return sf.when(_is_ordinary(), sf.array(sf.expr(_TRIPLE))).otherwise(odd)


def _is_ordinary() -> Column:
    """Of a line, `value`."""
    line = sf.col("value")
    return line.rlike(COMMON_LINE) | line.rlike(LINE)


def _odd(line: Column, prefix: str) -> Column:
    parts = sf.array(*(sf.regexp_extract(line, _ODD_LINE, group) for group in range(1, 6)))

    def triple(part: Column) -> Column:
        time = sf.when(sf.is_valid_utf8(line), time_of(part[3], part[4]))
        return _struct(subject_of(part[0], prefix), predicate_of(part[1]), object_of(part[2], prefix), time)

    return bound(parts, triple)


def _is_right(row: Column) -> Column:
    return row["s"].isNotNull() & row["p"].isNotNull() & row["o"].isNotNull() & row["ts"].isNotNull()


def _struct(subject: Column, predicate: Column, object_: Column, time: Column) -> Column:
    return sf.struct(subject.alias("s"), predicate.alias("p"), object_.alias("o"), time.alias("ts"))


def _judge(batches: Iterable[pa.RecordBatch], scope: str) -> Iterator[pa.RecordBatch]:
    rename = prefixed(scope)
    for batch in batches:
        judged = []
        for line in batch.to_pylist():
            found: list[Malformed] = []
            read_line(line["value"], "", 0, rename, found.append)
            judged += [malformed._replace(place=line["place"]) for malformed in found]
        yield batch_of(judged, ARROW_MALFORMED)
