"""SQL on DuckDB, written by hand for one query: a program of its own, which imports nothing but DuckDB."""

from __future__ import annotations

import sys

READING = "read_csv('{}', delim=' ', quote='\"', header=false, auto_detect=false, columns={{{}}})"
TRIPLE = "'s': 'VARCHAR', 'p': 'VARCHAR', 'o': 'VARCHAR'"


def answer(statement: str, stream: str, graph: str, out: str) -> None:
    """Reads the files, runs the statement, writes its rows as lines of JSON."""
    import duckdb

    connection = duckdb.connect()
    of_stream = READING.format(stream, f"{TRIPLE}, 'ts': 'BIGINT', 'dot': 'VARCHAR'")
    of_graph = READING.format(graph, f"{TRIPLE}, 'dot': 'VARCHAR'")
    connection.execute(f"CREATE TABLE passages AS SELECT s, p, o, ts FROM {of_stream}")
    connection.execute(f"CREATE TABLE streets AS SELECT s, p, o FROM {of_graph}")
    connection.execute(f"COPY ({statement}) TO '{out}' (FORMAT json)")


if __name__ == "__main__":
    answer(*sys.argv[1:])
