"""explain shows the SQL that Spark runs, and that no function in it is Python's; Spark itself says the same."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner
from pyspark.sql import SparkSession
from sqlglot import exp, select

from penstock.cli import commands
from penstock.engines.spark.sql_text import built_in, functions_called, spark_sql_of
from penstock.explain import explain
from penstock.relational.functions.library import macros

SUITE = Path(__file__).parents[1] / "suite" / "cases"
PLAIN = [query for query in sorted(SUITE.glob("*/query.rq")) if "regular-expressions" not in query.parent.name]
QUERIES = [*PLAIN[::25], *(query for query in PLAIN if query.parent.name.startswith("function-"))][::2]
"""Some of every kind, and some that call functions."""

ORDINARY = """
PREFIX : <http://ex.org/>
SELECT ?district (SUM(?paid * 2) AS ?toll)
FROM <http://ex.org/city>
FROM STREAM <http://ex.org/toll> [RANGE 10m STEP 1m]
{ ?gate :takes ?paid . ?gate :in ?district FILTER (?paid > 3) } GROUP BY ?district
"""

VIEWS = {
    "stream_1": "s STRING, p STRING, o STRING, ts BIGINT, element BIGINT, arrival BIGINT, since BIGINT",
    "graph_1": "s STRING, p STRING, o STRING",
    "instants": "k BIGINT, t BIGINT, is_reported BOOLEAN",
}
FIRST_LINE = "-- Spark SQL: built-in functions only, no Python\n"


@pytest.mark.parametrize("query", QUERIES, ids=lambda query: query.parent.name)
def test_no_macro_is_left(query: Path) -> None:
    sql = explain(query.read_text(), "sql", engine="spark")
    assert sql.startswith(FIRST_LINE)
    assert functions_called(sql).isdisjoint(macros("spark"))
    assert "sparql_" not in sql.lower()


def test_patterns_for_which_java_could_backtrack_are_told() -> None:
    """RE2 matches them, in Python."""
    query = SUITE / "function-regular-expressions-wherever-they-stand" / "query.rq"
    sql = explain(query.read_text(), "sql", engine="spark")
    assert sql.startswith("-- Spark SQL: not built into Spark: penstock_regex, penstock_replace\n")


def test_what_is_not_built_in_is_told() -> None:
    statement = select(exp.func("my_python", exp.column("s")), exp.func("lower", exp.column("o"))).from_("stream_1")
    assert spark_sql_of(statement).startswith("-- Spark SQL: not built into Spark: my_python\n")


def test_what_repeats_is_told_to_be_computed_beforehand() -> None:
    text = "SELECT ?a FROM STREAM <http://ex.org/s> [RANGE 10s STEP 1s] { ?a <http://ex.org/next>+ ?b }"
    assert "\n-- Recursive parts are computed beforehand" in explain(text, "sql", engine="spark")


def test_it_says_who_answers_a_history() -> None:
    text = "SELECT ?a FROM STREAM <http://ex.org/s> [RANGE {}] {{ ?a <http://ex.org/p> ?b }}"
    by_ranges = explain(text.format("10s STEP 1s"), "sql", engine="spark")
    assert (
        "\n-- Complete files and DataFrames are answered by DuckDB in the executors, other streams by Spark SQL.\n"
        in by_ranges
    )
    counting = explain(text.format("TRIPLES 10"), "sql", engine="spark")
    assert "\n-- Answered by Spark SQL: a window over <http://ex.org/s> counts elements.\n" in counting


def test_the_command_shows_the_sql_of_either_engine(tmp_path: Path) -> None:
    query = tmp_path / "query.rq"
    query.write_text(ORDINARY)

    def shown(*options: str) -> str:
        return CliRunner().invoke(commands, ["explain", str(query), "--format", "sql", *options]).stdout

    assert shown("--engine", "spark") == explain(ORDINARY, "sql", engine="spark")
    assert shown() == shown("--engine", "duckdb") == explain(ORDINARY, "sql")


def test_what_is_called_is_built_into_spark(spark: SparkSession) -> None:
    there = {row[0] for row in spark.sql("SHOW SYSTEM FUNCTIONS").collect()}
    called = {name for query in QUERIES for name in functions_called(explain(query.read_text(), "sql", engine="spark"))}
    assert len(called) > 20
    assert called <= built_in()
    assert called <= there


def test_the_physical_plan_has_no_python(spark: SparkSession) -> None:
    for name, columns in VIEWS.items():
        spark.createDataFrame([], columns).createOrReplaceTempView(name)
    sql = explain(ORDINARY, "sql", engine="spark")
    given = {name: 1 for name in ("first", "last", "count", "step", "slice") if f":{name}" in sql}
    ((plan,),) = spark.sql(f"EXPLAIN EXTENDED {sql}", given).collect()
    for name in VIEWS:
        spark.catalog.dropTempView(name)
    assert "HashAggregate" in plan or "SortAggregate" in plan
    assert "Join" in plan
    for python in ("PythonUDF", "BatchEvalPython", "ArrowEvalPython", "MapInArrow", "MapInPandas"):
        assert python not in plan
