"""The results of a query as a DataFrame of Spark; they are not sent to the driver."""

from __future__ import annotations

import re
import weakref
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict
from functools import cache

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as sf
from sqlglot import exp, parse_one

from penstock.algebra import operators as algebra
from penstock.algebra.expressions import Variable
from penstock.algebra.inputs import InputError
from penstock.algebra.operators import Operator
from penstock.engines.protocol import CompiledQuery, Slice
from penstock.engines.spark.range_queries import HistoryQuery
from penstock.rdf.encoding import TAGS_OF_DATATYPES
from penstock.rdf.vocabulary import XSD
from penstock.relational.kinds import kinds_of
from penstock.relational.spark_sql import to_spark
from penstock.sinks.counts import Counts
from penstock.sources.spark.times import time_of_term

_INSTANT = "instant"
"""The form of an xsd:dateTime: Spark's own cast of a text to a timestamp accepts other forms."""

_TEXTS = frozenset(("resource", "string", "language"))
_TYPES = "string boolean tinyint smallint int bigint float double date timestamp timestamp_ntz binary"
_TYPE = re.compile(
    rf"{'|'.join(_TYPES.split())}|byte|short|integer|long|real|timestamp_ltz"
    r"|(decimal|dec|numeric)(\s*\(\s*([1-9]|[12]\d|3[0-8])\s*(,\s*\d+\s*)?\))?",
    re.IGNORECASE,
)


def checked_types(types: Mapping[str, str] | None, columns: Sequence[str]) -> Mapping[str, str]:
    """Spark types for the columns of a query. Raises InputError if there is no such column or type."""
    for name, kind in (types or {}).items():
        if name not in columns:
            raise InputError(f"types has {name!r}, which the query does not return: it returns {', '.join(columns)}")
        if not _TYPE.fullmatch(str(kind).strip()):
            raise InputError(
                f"types has {kind!r} for {name!r}, which is no type: write {', '.join(_TYPES.split())} or "
                "decimal(10, 2)"
            )
    return types or {}


def typed(frame: DataFrame, types: Mapping[str, str]) -> DataFrame:
    """The frame with other types for some columns; a value that does not have its type is NULL."""
    return frame.withColumns({name: frame[name].try_cast(kind) for name, kind in types.items()}) if types else frame


def known_types(expression: Operator) -> dict[str, str]:
    """The types of variables that follow from the query: counts are whole numbers, IRIs and strings are texts."""
    kinds = kinds_of(expression)
    texts = {variable.name: "string" for variable, kind in kinds.items() if kind.family in _TEXTS}
    return texts | {variable.name: "bigint" for variable in _counts(expression)}


def _counts(operator: Operator) -> set[Variable]:
    match operator:
        case algebra.Group(_, _, aggregates):
            return {variable for variable, aggregate in aggregates if aggregate.name == "COUNT"}
        case algebra.Extend(source, variable, Variable() as other):
            found = _counts(source)
            return found | {variable} if other in found else found
        case algebra.Project(source) | algebra.Filter(_, source) | algebra.OrderBy(source) | algebra.Slice(source):
            return _counts(source)
        case algebra.Distinct(source) | algebra.Reduced(source) | algebra.Extend(source):
            return _counts(source)
    return set()


def frame_of(
    found: tuple[CompiledQuery, Slice] | None,
    spark: SparkSession,
    variables: tuple[str, ...],
    *,
    terms: bool,
    types: Mapping[str, str],
    known: Mapping[str, str],
) -> DataFrame:
    """The instants (`time`, in milliseconds) and the values of the variables, of a slice; None is one without instants.

    A variable whose values are all numbers, booleans or dates and times is a column of that type; any other has
    strings: an IRI, a label, a lexical form. With `terms` a value is a term as N-Triples. `types` sets Spark types of
    variables; a value that does not have its type is NULL. `known` types follow from the query.
    """
    types = {**({} if terms else known), **types}
    if found is None:
        columns = ["time bigint", *(f"`{name}` {types.get(name, 'string')}" for name in variables)]
        return spark.createDataFrame([], ", ".join(columns))
    compiled, part = found
    assert isinstance(compiled, HistoryQuery)
    rows = compiled.frame(part)
    places = dict(zip(compiled.variables, rows.columns, strict=False))
    unknown = {} if terms else {name: places[name] for name in variables if name not in types and name in places}
    if unknown:
        rows = rows.persist()
        types = {**types, **_seen_types(rows, unknown)}
    values = (_value(name, places.get(name), types.get(name), terms) for name in variables)
    frame = rows.select(sf.expr("CAST(t AS BIGINT) AS time"), *values)
    frame.answering = compiled  # type: ignore[attr-defined]  # what its store keeps is there as long as the frame
    if unknown:
        weakref.finalize(frame, _forget, rows).atexit = False
    return frame


def _forget(rows: DataFrame) -> None:
    """The frame that was kept to determine its types; later readers compute it again."""
    with suppress(Exception):  # there may be no Spark any more
        rows.unpersist()


def _seen_types(rows: DataFrame, columns: Mapping[str, str]) -> dict[str, str]:
    """The types of the values in some columns, by one job over all of them, as `frames.arrow_table` decides."""
    seen = rows.agg(*(sf.collect_set(_type(column)).alias(column) for column in columns.values())).first()
    assert seen is not None
    return {name: _common(set(seen[column])) for name, column in columns.items()}


def _common(types: set[str]) -> str:
    if types == {"bigint", "double"}:
        return "double"
    return types.pop() if len(types) == 1 else "string"


def _type(column: str) -> Column:
    """The type of one value: NULL for none."""
    term, text = sf.col(f"`{column}`"), sf.expr(_shown(column, is_term=False))
    tag = sf.substring(term, 1, 1)
    time = sf.when(text.contains("T"), time_of_term(term))
    return (
        sf.when(term.isNull(), None)
        .when(tag.isin("i", "n") & text.try_cast("bigint").isNotNull(), "bigint")
        .when(tag.isin("d", "e", "f") & text.try_cast("double").isNotNull(), "double")
        .when((tag == "b") & text.isin("true", "false", "1", "0"), "boolean")
        .when((tag == "t") & time.isNotNull(), _INSTANT)
        .otherwise("string")
    )


def _value(name: str, column: str | None, kind: str | None, is_term: bool) -> Column:
    """The values of a variable, as a column of its name."""
    if kind == _INSTANT and column is not None:
        return sf.timestamp_millis(time_of_term(sf.col(f"`{column}`"))).alias(name)
    value = _shown(column, is_term=is_term and kind is None)
    return sf.expr(value if kind in (None, "string") else f"try_cast({value} AS {kind})").alias(name)


def with_counts_of(frame: DataFrame, counts: Counts) -> DataFrame:
    """The frame with the counts of its run as metadata of its first column, except rows, which are not counted."""
    known = {name: count for name, count in asdict(counts).items() if name != "rows" and count is not None}
    counted = frame.withMetadata(frame.columns[0], {"counts": known})
    counted.without_counts = frame  # type: ignore[attr-defined]  # its persisted rows stay in Spark as long as this frame
    return counted


@cache
def _shown(column: str | None, *, is_term: bool) -> str:
    """The value of a column of terms, if there is one, as it is shown."""
    value = exp.cast(exp.null(), "string") if column is None else exp.column(column, quoted=True)
    return to_spark(_applied(_TERM if is_term else _TEXT, value))


def _applied(template: exp.Expr, value: exp.Expr) -> exp.Expr:
    """The template with the value in place of `term`, and its `_TEXT` in place of `text`."""

    def filled(node: exp.Expr) -> exp.Expr:
        if not isinstance(node, exp.Column):
            return node
        return value.copy() if node.name == "term" else _applied(_TEXT, value)

    return template.transform(filled)


_TEXT = parse_one(
    """
    CASE WHEN substr(term, 1, 1) IN ('n', 'L', 'O') THEN substr(substr(term, 2), locate(' ', substr(term, 2)) + 1)
    ELSE substr(term, 2) END
    """,
    dialect="spark",
)
"""The text of an encoded term, without tag, datatype and language; these are followed by a space in some literals."""

_TERM = parse_one(
    rf"""
    CASE
      WHEN startswith(term, 'I') THEN concat('<', substr(term, 2), '>')
      WHEN startswith(term, 'B') THEN concat('_:', substr(term, 2))
      ELSE concat(
        '"',
        replace(replace(replace(replace(text, '\\', '\\\\'), '"', '\\"'), '\n', '\\n'), '\r', '\\r'),
        '"',
        CASE substr(term, 1, 1)
          WHEN 'S' THEN ''
          WHEN 'L' THEN concat('@', substring_index(substr(term, 2), ' ', 1))
          WHEN 'n' THEN concat('^^<{XSD}', substring_index(substr(term, 2), ' ', 1), '>')
          WHEN 'O' THEN concat('^^<', substring_index(substr(term, 2), ' ', 1), '>')
          {" ".join(f"WHEN '{tag}' THEN '^^<{datatype}>'" for datatype, tag in TAGS_OF_DATATYPES.items())}
        END
      )
    END
    """,
    dialect="spark",
)
"""In the syntax of N-Triples."""
