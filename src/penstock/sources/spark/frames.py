"""Streams that are DataFrames: of Spark, with a row for each triple, or of data in Python."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import pyarrow as pa
from pyspark.sql import Column, DataFrame, SparkSession, Window
from pyspark.sql import functions as sf
from pyspark.sql import types as st

from penstock.rdf.blank_nodes import label_prefix
from penstock.rdf.errors import SourceError
from penstock.sources.batches import Batch, Position, Source
from penstock.sources.spark.grammar import COMMON_IRI, TERM
from penstock.sources.spark.ranges import numbered_tables
from penstock.sources.spark.rows import ARROW_NAMED_ROWS, MALFORMED, named
from penstock.sources.spark.terms import object_of, predicate_of, subject_of

_TERMS = ("s", "p", "o")
_COLUMNS = (*_TERMS, "ts")
_SYNTAX = 'terms in the syntax of N-Triples (<http://ex.org/gate>, _:gate, "text", "5"^^<…#integer>)'
NO_TRIPLE = f"a row has {_SYNTAX} and a timestamp; penstock.triples makes triples of other columns"


@dataclass(frozen=True, slots=True)
class FrameSource:
    """A bounded stream whose rows (`rows.ROWS`, or `rows.NAMED_ROWS`) are in Spark.

    Invalid rows have a text in the column `wrong`: the row as JSON. Or malformed input is in a frame of its own
    (`rows.MALFORMED`).
    """

    name: str
    frame: DataFrame
    malformed: DataFrame | None = None
    is_live: bool = field(default=False, init=False)
    can_resume: bool = field(default=True, init=False)

    def batches(self, position: Position | None = None) -> Iterator[Batch]:
        raise SourceError(f"{self.name} is a DataFrame of Spark: only Spark can read it")


@dataclass(frozen=True, slots=True)
class FrameGraph:
    """A graph whose triples are in Spark: encoded terms in the columns s, p and o, NULL for an invalid term.

    `given` is the original row, as JSON.
    """

    name: str
    frame: DataFrame
    changes: bool = field(default=False, init=False)

    def tables(self) -> Iterator[pa.Table]:
        """All triples, for a store that needs them on the driver."""
        self.check()
        yield self.frame.select(*_TERMS).toArrow()

    def check(self) -> None:
        """Raises SourceError for the first row that is not a triple; this takes a job."""
        wrong = self.frame.where("s IS NULL OR p IS NULL OR o IS NULL").first()
        if wrong is not None:
            raise SourceError(
                f"{self.name}: a row of a graph has {_SYNTAX}, but this one does not: {wrong['given']}; "
                "penstock.triples makes triples of other columns"
            )


@dataclass(frozen=True, slots=True)
class FrameHistory:
    """The counterpart of `history.History`, which reads files."""

    source: FrameSource

    def rows(self, *, is_named: bool = False) -> DataFrame:
        return named(self.source.frame.where("wrong IS NULL").drop("wrong"), is_named)

    def malformed(self) -> DataFrame:
        if self.source.malformed is not None:
            return self.source.malformed
        return wrong_rows(self.source.frame.where("wrong IS NOT NULL"), "wrong", self.source.name)


def wrong_rows(rows: DataFrame, column: str, name: str) -> DataFrame:
    """Rows that are not triples, whose text is in a column, as malformed input."""
    parts = [sf.lit(name).alias("place"), sf.col(column).alias("text"), sf.lit(NO_TRIPLE).alias("reason")]
    return rows.select(*parts).to(_schema(MALFORMED))


def gathered(spark: SparkSession, source: Source) -> FrameSource:
    """A bounded source in memory, sent to Spark unchanged."""
    rows = pa.concat_tables([ARROW_NAMED_ROWS.empty_table(), *numbered_tables(source.batches(), is_named=True)])
    if rows["g"].null_count == rows.num_rows:
        rows = rows.drop_columns("g")
    return FrameSource(source.name, spark.createDataFrame(rows).withColumn("wrong", sf.lit(None).cast("string")))


def triples_in_order(frame: DataFrame, name: str, scope: str) -> FrameSource:
    """A frame with the columns s, p, o and ts: terms in the syntax of N-Triples, milliseconds or timestamps.

    Rows are in the order of the frame's partitions. With a column `g`, the name of a graph, rows of the same name and
    timestamp are one element. Raises SourceError if a column is missing.
    """
    rows = encoded(frame, name, scope).withColumn("arrival", sf.monotonically_increasing_id())
    element = element_of() if has_graphs(frame) else sf.col("arrival")
    names = [name_of_graph()] if has_graphs(frame) else []
    return FrameSource(name, rows.select("s", "p", "o", "ts", element.alias("element"), "arrival", *names, "wrong"))


def graph_of_frame(frame: DataFrame, name: str, scope: str) -> FrameGraph:
    """A graph with the columns s, p and o, terms in the syntax of N-Triples. Raises SourceError if one is missing."""
    _check_columns(frame, name, "graph", _TERMS)
    given = sf.to_json(sf.struct(*(frame[name] for name in _TERMS))).alias("given")
    return FrameGraph(name, frame.select(*encoded_terms(frame, label_prefix(scope)), given))


def has_graphs(frame: DataFrame) -> bool:
    return "g" in frame.columns


def element_of(*beside: str) -> Column:
    """The number of the element that a row belongs to: the number of the first row of its graph.

    The rows have `g`, `ts` and `arrival`; the rows of an element also have equal columns `beside`.
    """
    graph = Window.partitionBy(*beside, "g", "ts")
    return sf.when(sf.col("g").isNull(), sf.col("arrival")).otherwise(sf.min("arrival").over(graph))


NO_NAME = " "
"""The prefix of a `g` that is not a term: it groups rows, but it is not the name of a graph."""


def name_of_graph() -> Column:
    """The name of the element that a row belongs to; NULL if `g` is not a name."""
    return sf.when(~sf.startswith(sf.col("g"), sf.lit(NO_NAME)), sf.col("g")).alias("g")


def encoded(frame: DataFrame, name: str, scope: str) -> DataFrame:
    """The triples of a frame, bounded or streaming, with encoded terms. `g` is encoded, too, or unchanged after
    `NO_NAME`.

    Invalid rows have their JSON in the column `wrong`. A row without any term is an element without triples.
    """
    _check_columns(frame, name, "stream", _COLUMNS)
    graph = [_graph(frame["g"].cast("string"), label_prefix(scope)).alias("g")] if has_graphs(frame) else []
    given = sf.to_json(sf.struct(*(frame[name] for name in _COLUMNS))).alias("given")
    is_empty = (frame["s"].isNull() & frame["p"].isNull() & frame["o"].isNull()).alias("is_empty")
    terms, time = encoded_terms(frame, label_prefix(scope)), _milliseconds(frame).alias("ts")
    some_missing = sf.col("s").isNull() | sf.col("p").isNull() | sf.col("o").isNull()
    wrong = sf.when(sf.col("ts").isNull() | (some_missing & ~sf.col("is_empty")), sf.col("given"))
    return frame.select(*terms, time, *graph, given, is_empty).select(
        "s", "p", "o", "ts", *(["g"] if graph else []), wrong.alias("wrong")
    )


def _graph(column: Column, prefix: str) -> Column:
    return sf.coalesce(_term(column, lambda text: subject_of(text, prefix)), sf.concat(sf.lit(NO_NAME), column))


def _check_columns(frame: DataFrame, name: str, kind: str, columns: tuple[str, ...]) -> None:
    missing = [column for column in columns if column not in frame.columns]
    if missing:
        raise SourceError(
            f"{name}: a {kind} has the columns {', '.join(columns[:-1])} and {columns[-1]}, and this frame has no "
            f"{missing[0]!r}: it has {', '.join(frame.columns)}; penstock.triples makes triples of other columns"
        )


def encoded_terms(frame: DataFrame, prefix: str) -> list[Column]:
    """The columns s, p and o of a frame, with encoded terms; NULL for an invalid one."""
    return [
        _term(frame["s"], lambda text: subject_of(text, prefix)).alias("s"),
        _term(frame["p"], predicate_of).alias("p"),
        _term(frame["o"], lambda text: object_of(text, prefix)).alias("o"),
    ]


def _term(column: Column, read: Callable[[Column], Column]) -> Column:
    """A faster test recognises common IRIs."""
    iri = sf.concat(sf.lit("I"), column.substr(sf.lit(2), sf.length(column) - 2))
    return sf.when(column.rlike(COMMON_IRI), iri).when(column.rlike(TERM), read(column))


def _milliseconds(frame: DataFrame) -> Column:
    time = frame["ts"]
    if isinstance(frame.schema["ts"].dataType, st.TimestampType):
        return sf.unix_millis(time)
    return time.cast("bigint")


def _schema(text: str) -> st.StructType:
    parsed = st.StructType.fromDDL(text)
    assert isinstance(parsed, st.StructType)
    return parsed
