"""The results of a query as a DataFrame of Spark: nothing of them comes to the driver."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict
from functools import cache
from typing import TYPE_CHECKING

from sqlglot import exp, parse_one

from penstock.algebra.inputs import InputError
from penstock.algebra.model import QueryForm
from penstock.api.frames import columns_of
from penstock.rdf.encoding import TAGS_OF_DATATYPES
from penstock.rdf.vocabulary import XSD
from penstock.relational.spark_sql import to_spark
from penstock.runtime.history import HistoryRun
from penstock.sinks.counts import Counts

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


_TYPES = "string boolean tinyint smallint int bigint float double date timestamp timestamp_ntz binary"
_TYPE = re.compile(
    rf"{'|'.join(_TYPES.split())}|byte|short|integer|long|real|timestamp_ltz"
    r"|(decimal|dec|numeric)(\s*\(\s*([1-9]|[12]\d|3[0-8])\s*(,\s*\d+\s*)?\))?",
    re.IGNORECASE,
)


def checked_types(types: Mapping[str, str] | None, form: QueryForm) -> Mapping[str, str]:
    """Types of Spark's for what a query gives. Raises InputError where there is no such column or type."""
    columns = columns_of(form)
    for name, kind in (types or {}).items():
        if name not in columns:
            raise InputError(f"types has {name!r}, which the query does not give: it gives {', '.join(columns)}")
        if not _TYPE.fullmatch(str(kind).strip()):
            raise InputError(
                f"types has {kind!r} for {name!r}, which is no type for it: write {', '.join(_TYPES.split())} or "
                "decimal(10, 2)"
            )
    return types or {}


def typed(frame: DataFrame, types: Mapping[str, str]) -> DataFrame:
    """The frame with some columns of other types; a value that is none of its type is NULL."""
    return frame.withColumns({name: frame[name].try_cast(kind) for name, kind in types.items()}) if types else frame


def frame_of(
    run: HistoryRun,
    name: str,
    spark: SparkSession,
    variables: tuple[str, ...],
    *,
    terms: bool,
    types: Mapping[str, str],
) -> DataFrame:
    """Of the query of that name the instants (`time`, in milliseconds) and the values of the variables.

    A value is a text: an IRI, a label, a lexical form; or, with `terms`, a term as N-Triples. A variable for which
    `types` has a type of Spark's is a column of that type, NULL where a value is none of it.
    """
    from penstock.engines.spark import SparkQuery

    found = run.slice(name)
    if found is None:
        columns = ["time bigint", *(f"`{name}` {types.get(name, 'string')}" for name in variables)]
        return spark.createDataFrame([], ", ".join(columns))
    answering, part = found
    compiled = answering.solutions
    assert isinstance(compiled, SparkQuery)
    rows = compiled.frame(part)
    places = dict(zip(compiled.variables, rows.columns, strict=False))
    selected = ["CAST(t AS BIGINT) AS time"]
    for name in variables:
        value = _shown(places.get(name), is_term=terms and name not in types)
        if name in types:
            value = f"try_cast({value} AS {types[name]})"
        selected.append(f"{value} AS {to_spark(exp.to_identifier(name, quoted=True))}")
    return rows.selectExpr(*selected)  # one call of Java's, where functions of columns would be hundreds


def with_counts_of(frame: DataFrame, counts: Counts) -> DataFrame:
    """The frame with the counts of its run as metadata of its first column, but for rows, which nobody has counted."""
    known = {name: count for name, count in asdict(counts).items() if name != "rows" and count is not None}
    first = frame.columns[0]
    return frame.withMetadata(first, {"counts": known})


@cache
def _shown(column: str | None, *, is_term: bool) -> str:
    """The value of a column of terms, if there is one, as it is shown."""
    value = exp.cast(exp.null(), "string") if column is None else exp.column(column, quoted=True)
    return to_spark(_applied(_TERM if is_term else _TEXT, value))


def _applied(template: exp.Expr, value: exp.Expr) -> exp.Expr:
    """The template with the value for `term`, and what `_TEXT` says of it for `text`."""

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
"""Of an encoded term, without tag, datatype and language: those of some literals stand before a space."""

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
