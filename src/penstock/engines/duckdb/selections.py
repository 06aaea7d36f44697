"""A statement over tables in memory, in a DuckDB of its own."""

from __future__ import annotations

from collections.abc import Mapping

import duckdb
import pyarrow as pa
from sqlglot import exp


def selected_from(tables: Mapping[str, pa.Table], statement: exp.Query) -> pa.Table:
    """The result of a statement over these tables, and no others."""
    with duckdb.connect(config={"enable_external_access": False}) as connection:
        for name, rows in tables.items():
            connection.register(name, rows)
        return connection.sql(statement.sql("duckdb")).to_arrow_table()
