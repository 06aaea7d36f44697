"""explain shows the SQL that the engine runs."""

from __future__ import annotations

import duckdb
import pytest

from penstock.explain import explain
from penstock.relational.functions.library import Library

QUERIES = [
    "SELECT ?car FROM STREAM <http://ex.org/toll> [RANGE 10m STEP 1m] { ?gate <http://ex.org/sees> ?car }",
    "SELECT ?gate (COUNT(?car) AS ?cars) FROM <http://ex.org/city> "
    "FROM STREAM <http://ex.org/toll> [RANGE 10m TUMBLING] "
    "{ ?gate <http://ex.org/sees> ?car . ?gate <http://ex.org/in> ?district } GROUP BY ?gate",
    "SELECT ?a { ?a <http://ex.org/p> ?b FILTER (?b > 3) }",
]

TABLES = """
CREATE TABLE stream_1 (s TEXT, p TEXT, o TEXT, ts BIGINT, element BIGINT, arrival BIGINT, since BIGINT);
CREATE TABLE graph_1 (s TEXT, p TEXT, o TEXT);
CREATE TABLE instants (k BIGINT, t BIGINT);
"""


@pytest.mark.parametrize("text", QUERIES)
def test_it_is_a_statement_that_runs(text: str) -> None:
    sql = explain(text, "sql")
    with duckdb.connect(":memory:") as connection:
        connection.execute(TABLES).fetchall()
        Library(connection).provide(sql)
        given = {name: 1 for name in ("first", "last", "count", "step", "reported") if f"${name}" in sql}
        assert connection.execute(sql, given).fetchall() == []


def test_it_is_part_of_the_page() -> None:
    assert "stream_1" in explain(QUERIES[0], "html")
