"""Complete streams that are DataFrames, answered by tasks that receive the rows of their slices."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.bounded import run_bounded
from tests.engines.test_range_queries import QUERIES, tolls
from tests.histories import run_on_spark
from tests.oracle.asking import EX
from tests.ways import NotByRangesError

import penstock
from penstock.algebra import Settings
from penstock.engines.spark import row_slices
from penstock.engines.spark.executors import version_in_executors

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture
def without_sql(monkeypatch: pytest.MonkeyPatch) -> None:
    """Slices of a few rows, and Spark SQL is not asked."""
    from penstock.engines.spark import range_queries
    from penstock.engines.spark.statements import SparkQuery

    def refuse(*arguments: object) -> None:
        raise NotByRangesError

    monkeypatch.setattr(SparkQuery, "evaluate", refuse)
    monkeypatch.setattr(range_queries, "_ROWS_PER_SLICE", 100)


@pytest.mark.parametrize("name", QUERIES)
def test_executors_answer(spark: SparkSession, without_sql: None, name: str) -> None:
    """Some elements are late for good."""
    query, inputs = penstock.parse(QUERIES[name], "rspql", prefixes={"": EX}, base=EX), tolls(400, 4000)
    found = [e for e in run_on_spark(spark, query, inputs, windows="auto") if e.says_something]
    assert found == [e for e in run_bounded(query, inputs, Settings()) if e.says_something]
    assert len(found) > 5


@pytest.mark.parametrize("bounds", [[], [5], [1, 4, 9], [0, 2, 4, 6, 8, 10, 12]])
def test_rows_are_sent_to_the_slices_that_see_them(spark: SparkSession, bounds: list[int]) -> None:
    oldest, last = bounds, [bound + 3 for bound in bounds]
    rows = spark.range(-1, 20).selectExpr("id AS ts")
    found = rows.select("ts", row_slices._slices_of(oldest, last).alias("slice")).collect()
    seen = [(ts, n) for ts in range(-1, 20) for n in range(len(bounds)) if oldest[n] <= ts <= last[n]]
    assert sorted(map(tuple, found)) == seen


def test_counts_by_time(spark: SparkSession) -> None:
    rows = spark.createDataFrame([(time,) for time in (1000, 2000, 2001, 90_000)], "ts bigint")
    surveys = row_slices.StreamRows(rows).surveys
    assert sum(survey.triples for survey in surveys) == 4
    assert (surveys[0].earliest, surveys[-1].greatest) == (1000, 90_000)
    assert row_slices.StreamRows(rows.where("false")).surveys == []


def test_the_version_of_penstock_in_executors(spark: SparkSession) -> None:
    assert version_in_executors(spark) == penstock.__version__
    lacking = "def probe(batches):\n    import nothing_of_this_name\n"
    assert version_in_executors(spark, lacking) == ""
