"""Statements whose parts are written where they are read, so that Spark knows again what it has persisted."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from sqlglot import exp, parse_one

from penstock.engines.spark.parts import nested

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

NESTED = {
    "none": ("SELECT v FROM t", "SELECT v FROM t"),
    "one": ("WITH a AS (SELECT v FROM t) SELECT a.v FROM a", "SELECT a.v FROM (SELECT v FROM t) AS a"),
    "by another name": ("WITH a AS (SELECT v FROM t) SELECT b.v FROM a AS b", "SELECT b.v FROM (SELECT v FROM t) AS b"),
    "one of another": (
        "WITH a AS (SELECT v FROM t), b AS (SELECT a.v FROM a UNION ALL SELECT 1) SELECT * FROM b JOIN a USING (v)",
        "SELECT * FROM (SELECT a.v FROM (SELECT v FROM t) AS a UNION ALL SELECT 1) AS b "
        "JOIN (SELECT v FROM t) AS a USING (v)",
    ),
    "in a condition": (
        "WITH a AS (SELECT v FROM t) SELECT v FROM t WHERE EXISTS (SELECT 1 FROM a WHERE a.v = t.v)",
        "SELECT v FROM t WHERE EXISTS(SELECT 1 FROM (SELECT v FROM t) AS a WHERE a.v = t.v)",
    ),
}


def _nested(text: str) -> str:
    statement = parse_one(text, dialect="spark")
    assert isinstance(statement, exp.Query)
    found = nested(statement)
    assert found is not None
    return found.sql("spark")


@pytest.mark.parametrize(("text", "expected"), NESTED.values(), ids=NESTED)
def test_parts_are_where_they_are_read(text: str, expected: str) -> None:
    assert _nested(text) == expected


def test_what_would_be_written_out_too_often_is_left_as_it_is() -> None:
    """Each part reads the one before it twice."""
    parts = ["p0 AS (SELECT v FROM t)"]
    parts += (f"p{n + 1} AS (SELECT a.v FROM p{n} AS a JOIN p{n} AS b USING (v))" for n in range(8))
    statement = parse_one(f"WITH {', '.join(parts)} SELECT * FROM p8", dialect="spark")
    assert isinstance(statement, exp.Query)
    assert nested(statement) is None


def test_what_is_persisted_is_known_again_in_a_statement_with_parts(
    spark: SparkSession, capsys: pytest.CaptureFixture[str]
) -> None:
    frame = spark.sql(_nested("WITH a AS (SELECT id AS v FROM range(100)) SELECT v FROM a WHERE v > 3")).persist()
    frame.createOrReplaceTempView("kept_for_a_test")
    try:
        spark.sql("WITH b AS (SELECT 7 AS v), c AS (SELECT * FROM kept_for_a_test JOIN b USING (v)) TABLE c").explain()
    finally:
        spark.catalog.dropTempView("kept_for_a_test")
        frame.unpersist()
    assert "InMemoryTableScan" in capsys.readouterr().out
