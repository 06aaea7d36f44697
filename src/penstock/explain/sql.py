"""The SQL that a query compiles to: one statement for all evaluation instants of a slice (architecture.md)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal as OneOf

from penstock.algebra import ContinuousQuery
from penstock.algebra.inputs import InputError
from penstock.algebra.services import service_calls
from penstock.relational.planning import plan_query
from penstock.relational.shapes import DistributedSlice, LocalSlice
from penstock.relational.tables import AnswerTable, Tables

EngineName = OneOf["duckdb", "spark"]


def sql_of(
    query: ContinuousQuery,
    bound: Iterable[str | None] = (),
    *,
    is_optimized: bool = True,
    engine: EngineName = "duckdb",
) -> str:
    """The SQL as the engine runs it; `bound` are graphs that the query may read besides those that it names.

    `instants` numbers the evaluation instants of the slice. `$first` and `$last` are the first and the last of them,
    `$count` is their number, `$step` the distance between them, and `$reported` the number of the first instant that is
    reported. On Spark the parameters are `:first` and so on.
    """
    streams = query.dataset.streams or ("any",)
    graphs = dict.fromkeys([*query.dataset.default_graphs, *query.dataset.named_graphs, *bound])
    try:
        calls = service_calls(query.text)
    except InputError as error:
        return f"-- {error}\n"
    tables = Tables(
        {stream: f"stream_{number}" for number, stream in enumerate(streams, 1)},
        {graph: f"graph_{number}" for number, graph in enumerate(graphs, 1)},
        services={call: AnswerTable(f"service_{n}", frozenset(), False) for n, call in enumerate(calls, 1)},
    )
    shape = DistributedSlice(is_regular=True) if engine == "spark" else LocalSlice(is_regular=True, is_large=False)
    plan = plan_query(query, tables, shape, is_optimized=is_optimized)
    if engine == "spark":
        from penstock.engines.spark.sql_text import spark_sql_of  # PySpark takes a while to load

        return spark_sql_of(plan.statement, _way(query, tables))
    return plan.statement.sql("duckdb", pretty=True) + "\n"


def _way(query: ContinuousQuery, tables: Tables) -> str:
    """Who answers the query over complete streams on Spark, as a comment."""
    from penstock.engines.spark.coverage import reason_for_sql

    reason = reason_for_sql(query, query.operator, tables, tables.streams)
    if reason is None:
        return "-- Complete files and DataFrames are answered by DuckDB in the executors, other streams by Spark SQL."
    return f"-- Answered by Spark SQL: {reason}."
