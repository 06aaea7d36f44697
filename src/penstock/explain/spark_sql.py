"""A statement as Spark runs it, and whether Spark runs it alone: without a function that is written in Python."""

from __future__ import annotations

from pyspark.sql import functions
from sqlglot import exp

from penstock.relational.functions.expansion import expanded, tokens
from penstock.relational.spark_sql import to_spark

_BUILT_IN = "-- Spark SQL: built-in functions alone, no Python"
_BEFOREHAND = "-- What is recursive is computed beforehand, step by step, until nothing new is reached."

_FROM_OUTSIDE = ("udf", "udtf", "call_function")
"""How the names of those functions of PySpark end that are there to call others."""

_IN_SQL_ALONE = frozenset({"chr", "if", "uuid"})
"""Functions that are built in, and have another name in PySpark."""

WORDS = frozenset(
    "and as else from in join not on or over then values where cast try_cast decimal double repartition".split()
)
"""What stands before a parenthesis and is no function: words of SQL, casts, types and a hint."""


def spark_sql_of(statement: exp.Query, *notes: str) -> str:
    """As Spark runs it, below notes, the first of which is about the functions in it."""
    sql = expanded(to_spark(statement, pretty=True))
    unknown = sorted(functions_called(sql) - built_in())
    told = [f"-- Spark SQL: Spark itself has no {', '.join(unknown)}" if unknown else _BUILT_IN]
    clause = statement.args.get("with_")
    if clause is not None and clause.recursive:
        told.append(_BEFOREHAND)
    return "\n".join([*told, *notes, sql]) + "\n"


def functions_called(sql: str) -> set[str]:
    """The words before a parenthesis, in small letters, but for a table's name after AS."""
    words = [token.lower() for token in tokens(sql) if not token.isspace()]
    following = zip(words, words[1:], words[2:], strict=False)
    found = {word for before, word, after in following if after == "(" and before != "as" and word.isidentifier()}
    return found - WORDS


def built_in() -> frozenset[str]:
    """The functions that PySpark knows are those of Spark."""
    return _IN_SQL_ALONE | {name for name in functions.__all__ if not name.endswith(_FROM_OUTSIDE)}
