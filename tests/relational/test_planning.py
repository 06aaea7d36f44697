"""The path of a query in one function, and t0 set on a query that is built once."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests import cases

import penstock
from penstock.algebra import Settings, build
from penstock.relational.planning import plan, plan_query
from penstock.relational.shapes import LocalSlice
from penstock.relational.tables import Tables

QUERIES = sorted((Path(cases.__file__).parent / "suite" / "cases").glob("*/query.rq"))


def test_from_text_to_sql() -> None:
    text = """PREFIX : <http://ex.org/>
        SELECT ?a FROM NAMED WINDOW :w ON :s [RANGE PT10S STEP PT5S] WHERE { WINDOW :w { ?a :p ?b } }"""
    tables = Tables({"http://ex.org/s": "stream_1"}, {})
    planned = plan(text, tables, LocalSlice(is_regular=True, is_large=False))
    assert planned.variables == ("a",)
    assert "stream_1" in planned.statement.sql("duckdb")
    again = plan_query(build(penstock.parse(text)), tables, LocalSlice(is_regular=True, is_large=False))
    assert again.statement.sql("duckdb") == planned.statement.sql("duckdb")


@pytest.mark.parametrize("path", QUERIES, ids=lambda path: path.parent.name)
def test_an_origin_that_is_set_is_one_that_is_built(path: Path) -> None:
    case = cases.read_case(path.parent)
    assert build(case.query).with_origin(7) == build(case.query, Settings(origin=7))
