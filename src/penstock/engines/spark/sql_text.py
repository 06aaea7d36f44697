"""A statement as Spark runs it, with a check that it calls only built-in functions, none in Python."""

from __future__ import annotations

from pyspark.sql import functions
from sqlglot import exp

from penstock.relational.functions.expansion import expanded, tokens
from penstock.relational.spark_sql import to_spark

_BUILT_IN = "-- Spark SQL: built-in functions only, no Python"
_BEFOREHAND = "-- Recursive parts are computed beforehand, step by step, until no new rows appear."

_FROM_OUTSIDE = ("udf", "udtf", "call_function")
"""Suffixes of PySpark functions that only call other functions."""

_IN_SQL_ALONE = frozenset({"chr", "if", "uuid"})
"""Built-in functions that have another name in PySpark."""

WORDS = frozenset(
    "and as else from in join not on or over then values where cast try_cast decimal double repartition".split()
)
"""Words before a parenthesis that are not functions: SQL keywords, casts, types and a hint."""


def spark_sql_of(statement: exp.Query, *notes: str) -> str:
    """The statement as Spark runs it, after notes: the first reports whether all its functions are built in."""
    sql = expanded(to_spark(statement, pretty=True))
    unknown = sorted(functions_called(sql) - built_in())
    told = [f"-- Spark SQL: not built into Spark: {', '.join(unknown)}" if unknown else _BUILT_IN]
    clause = statement.args.get("with_")
    if clause is not None and clause.recursive:
        told.append(_BEFOREHAND)
    return "\n".join([*told, *notes, sql]) + "\n"


def functions_called(sql: str) -> set[str]:
    """The words before a parenthesis in lower case, except the name of a table after AS."""
    words = [token.lower() for token in tokens(sql) if not token.isspace()]
    following = zip(words, words[1:], words[2:], strict=False)
    found = {word for before, word, after in following if after == "(" and before != "as" and word.isidentifier()}
    return found - WORDS


def built_in() -> frozenset[str]:
    """Spark's built-in functions, as listed by PySpark."""
    return _IN_SQL_ALONE | {name for name in functions.__all__ if not name.endswith(_FROM_OUTSIDE)}
