"""The embedded engine: DuckDB, in this process, no JVM."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import duckdb
import pyarrow as pa

from penstock.algebra.model import ContinuousQuery
from penstock.relational.answers import Plan, compile_query
from penstock.relational.functions.library import install
from penstock.relational.reporting import compile_instants, compile_last_end
from penstock.relational.sources import TRIPLE, Tables

Row = tuple[str | None, ...]
StreamRow = tuple[str, str, str, int, int, int]
GraphRow = tuple[str, str, str, int, int]

_STREAM_COLUMNS = ("s", "p", "o", "ts", "seq", "since")
_GRAPH_COLUMNS = ("s", "p", "o", "starts", "ends")


class DuckDBEngine:
    """Input tables, and plans evaluated over them slice by slice."""

    def __init__(self) -> None:
        self.connection = duckdb.connect(":memory:")
        install(self.connection)
        self._streams: dict[str, str] = {}
        self._graphs: dict[str | None, str] = {}

    @property
    def tables(self) -> Tables:
        return Tables(self._streams, self._graphs)

    def load_stream(self, iri: str, rows: Sequence[StreamRow]) -> None:
        """Triples with their timestamps, the number of the element that each is part of, and since when it counts."""
        table = self._streams.get(iri, f"stream_{len(self._streams) + 1}")
        self._streams[iri] = self._load(table, _STREAM_COLUMNS, rows, "ts, seq")

    def load_graph(self, iri: str | None, rows: Sequence[GraphRow]) -> None:
        """The triples of a graph with their validity intervals."""
        table = self._graphs.get(iri, f"graph_{len(self._graphs) + 1}")
        self._graphs[iri] = self._load(table, _GRAPH_COLUMNS, rows, "starts")

    def _load(self, table: str, names: Sequence[str], rows: Sequence[tuple[object, ...]], order: str) -> str:
        columns = list(zip(*rows, strict=True)) if rows else [()] * len(names)
        arrays = [
            pa.array(column, pa.string() if name in TRIPLE else pa.int64())
            for name, column in zip(names, columns, strict=True)
        ]
        self.connection.register("loading", pa.table(dict(zip(names, arrays, strict=True))))
        self.connection.execute(f"CREATE OR REPLACE TEMP TABLE {table} AS SELECT * FROM loading ORDER BY {order}")
        self.connection.unregister("loading")
        return table

    def time_span(self, streams: Sequence[str]) -> tuple[int, int] | None:
        """The first and the last timestamp of the streams."""
        spans = [self._one(f"SELECT min(ts), max(ts) FROM {self._streams[stream]}") for stream in streams]
        bounds = [time for span in spans for time in span if time is not None]
        return (min(bounds), max(bounds)) if bounds else None

    def instants(self, query: ContinuousQuery, first: int, end: int, *, flush: bool) -> list[int]:
        last = end
        if flush:
            (latest,) = self._one(compile_last_end(query, self.tables).sql("duckdb"))
            last = max(end, latest or end)
        statement = compile_instants(query, self.tables, first, last, end).sql("duckdb")
        return [row[0] for row in self.connection.execute(statement).fetchall()]

    def compile(self, query: ContinuousQuery) -> Plan:
        return compile_query(query, self.tables)

    def evaluate(self, plan: Plan, instants: Sequence[int], previous: int | None) -> Iterator[tuple[int, list[Row]]]:
        """The rows of each instant of a slice, in time order; `previous` is the instant before the slice."""
        numbered = [*([] if previous is None else [previous]), *instants]
        reported = [previous is None or position > 0 for position in range(len(numbered))]
        table = pa.table(
            {
                "k": pa.array(range(len(numbered)), pa.int64()),
                "t": pa.array(numbered, pa.int64()),
                "is_reported": pa.array(reported, pa.bool_()),
            }
        )
        self.connection.register("instants_of_slice", table)
        self.connection.execute("CREATE OR REPLACE TEMP TABLE instants AS SELECT * FROM instants_of_slice")
        self.connection.unregister("instants_of_slice")
        found: dict[int, list[Row]] = {instant: [] for instant in instants}
        for *values, instant in self.connection.execute(plan.statement.sql("duckdb")).fetchall():
            found[instant].append(tuple(values))
        yield from found.items()

    def _one(self, statement: str) -> tuple[int | None, ...]:
        (row,) = self.connection.execute(statement).fetchall()
        return row
