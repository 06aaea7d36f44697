"""SQL on DuckDB, written by hand for one query, over DuckDB's own CSV reader.

As a program it imports nothing but DuckDB: `python by_hand.py STATEMENT STREAM GRAPH OUT`.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import duckdb

if TYPE_CHECKING:
    import pyarrow as pa

_TRIPLE = "'s': 'VARCHAR', 'p': 'VARCHAR', 'o': 'VARCHAR'"
_STREAM = f"{_TRIPLE}, 'ts': 'BIGINT', 'dot': 'VARCHAR'"
_GRAPH = f"{_TRIPLE}, 'dot': 'VARCHAR'"


def write_answer(statement: str, stream: str, graph: str, out: str) -> None:
    """Reads the files, runs the statement, and writes its rows as lines of JSON."""
    connection = _with_streets(graph)
    connection.execute(f"CREATE TABLE passages AS SELECT s, p, o, ts FROM {_lines(stream, _STREAM)}")
    connection.execute(f"COPY ({statement}) TO '{out}' (FORMAT json)")


def rows_of(stream: str) -> pa.Table:
    """The triples of a stream in memory, as text."""
    with duckdb.connect() as connection:
        return connection.execute(f"SELECT s, p, o, ts FROM {_lines(stream, _STREAM)}").to_arrow_table()


def evaluate(statement: str, rows: pa.Table, graph: str) -> pa.Table:
    """Runs the statement over rows in memory."""
    connection = _with_streets(graph)
    connection.register("passages", rows)
    return connection.execute(statement).to_arrow_table()


def _with_streets(graph: str) -> duckdb.DuckDBPyConnection:
    connection = duckdb.connect()
    connection.execute(f"CREATE TABLE streets AS SELECT s, p, o FROM {_lines(graph, _GRAPH)}")
    return connection


def _lines(path: str, columns: str) -> str:
    """A blank separates the columns."""
    return f"read_csv('{path}', delim=' ', quote='\"', header=false, auto_detect=false, columns={{{columns}}})"


if __name__ == "__main__":
    write_answer(*sys.argv[1:])
