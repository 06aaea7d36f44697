"""The embedded engine: DuckDB, in this process, no JVM."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
from sqlglot import exp

from penstock.algebra.inputs import GraphTriple
from penstock.algebra.model import ContinuousQuery
from penstock.algebra.operators import Operator
from penstock.engines.protocol import Slice, StorageError
from penstock.rdf.conversion import encode_oxigraph
from penstock.relational.answers import Delivery, Plan, compile_dataset, compile_query
from penstock.relational.functions.library import Library
from penstock.relational.intervals import INSTANTS
from penstock.relational.reporting import InstantsPlan, compile_instants, compile_last_end
from penstock.relational.retention import compile_oldest, compile_uncounted
from penstock.relational.sources import Tables
from penstock.relational.windows import FOREVER, passed

_FEWEST_TO_EVICT = 50_000
"""So many rows come before it is asked which are still needed: to forget some costs time, too."""


@dataclass(slots=True)
class _Stream:
    table: str
    arrived: int = 0
    """How many triples have come."""
    looked_at: int = 0
    """How many had come when it was last asked whether they are still needed."""
    passed: int = 0
    """How many elements that came in time have been evicted."""


class DuckDBEngine:
    """Tables of streams and graphs, and statements over them. `database` is a file; without one all is in memory."""

    def __init__(self, database: Path | None = None) -> None:
        with _told():
            self.connection = duckdb.connect(":memory:" if database is None else str(database))
        self._library = Library(self.connection)
        self._streams: dict[str, _Stream] = {}
        self._graphs: dict[str | None, str] = {}
        self._changing: set[str | None] = set()

    @property
    def tables(self) -> Tables:
        streams = {iri: stream.table for iri, stream in self._streams.items()}
        return Tables(streams, dict(self._graphs), frozenset(self._changing))

    # Input

    def clear(self) -> None:
        """Forget all input."""
        for table in [*self.tables.streams.values(), *self._graphs.values()]:
            self.run(f"DROP TABLE {table}")
        self._streams, self._graphs, self._changing = {}, {}, set()

    def add_stream(self, iri: str) -> None:
        table = f"stream_{len(self._streams) + 1}"
        self._streams[iri] = _Stream(table)
        numbers = "ts BIGINT, element BIGINT, arrival BIGINT, since BIGINT"
        self.run(f"CREATE OR REPLACE TABLE {table} (s VARCHAR, p VARCHAR, o VARCHAR, {numbers})")

    def append(self, stream: str, rows: pa.Table) -> None:
        known = self._streams[stream]
        arrival = pa.arange(known.arrived, known.arrived + rows.num_rows)
        known.arrived += rows.num_rows
        with self._view("incoming", rows.append_column("arrival", arrival)):
            self.run(f"INSERT INTO {known.table} SELECT s, p, o, ts, element, arrival, since FROM incoming")

    def load_graph(self, iri: str | None, triples: Sequence[GraphTriple]) -> None:
        table = self._graphs.get(iri, f"graph_{len(self._graphs) + 1}")
        self._graphs[iri] = table
        columns: dict[str, pa.Array] = {
            "s": pa.array([encode_oxigraph(triple.subject) for triple, _ in triples], pa.string()),
            "p": pa.array([encode_oxigraph(triple.predicate) for triple, _ in triples], pa.string()),
            "o": pa.array([encode_oxigraph(triple.object) for triple, _ in triples], pa.string()),
        }
        self._changing.discard(iri)
        if any(valid.end is not None or valid.start > -FOREVER for _, valid in triples):
            self._changing.add(iri)
            columns["starts"] = pa.array([valid.start for _, valid in triples], pa.int64())
            ends = [FOREVER if valid.end is None else valid.end for _, valid in triples]
            columns["ends"] = pa.array(ends, pa.int64())
        with self._view("loading", pa.table(columns)):
            self.run(f"CREATE OR REPLACE TABLE {table} AS SELECT DISTINCT * FROM loading")

    # Restarts

    @property
    def state(self) -> dict[str, list[object]]:
        """The streams, beside their rows."""
        return {
            iri: [stream.table, stream.arrived, stream.looked_at, stream.passed]
            for iri, stream in self._streams.items()
        }

    def restore(self, state: Mapping[str, Sequence[Any]]) -> None:
        """The streams of a database that was there before."""
        self._streams = {iri: _Stream(*entry) for iri, entry in state.items()}

    def begin(self) -> None:
        with _told():
            self.connection.begin()

    def commit(self) -> None:
        with _told():
            self.connection.commit()

    def close(self) -> None:
        self.connection.close()

    # Answers

    def compile(self, query: ContinuousQuery, expression: Operator, delivery: Delivery) -> DuckDBQuery:
        return DuckDBQuery(self, compile_query(query, expression, delivery, self.tables))

    def compile_dataset(self, query: ContinuousQuery) -> DuckDBQuery:
        return DuckDBQuery(self, compile_dataset(query, self.tables))

    def compile_report(self, query: ContinuousQuery) -> DuckDBReport:
        return DuckDBReport(self, compile_instants(query, self.tables), compile_last_end(query, self.tables))

    # Forgetting

    def take_uncounted(self, query: ContinuousQuery, stream: str) -> pa.Table:
        known = self._streams[stream]
        statement = self.prepared(compile_uncounted(query, self.tables, stream))
        late = statement.table({"first": -FOREVER // 2, "last": FOREVER})
        with self._view("uncounted", late):
            self.run(f"DELETE FROM {known.table} WHERE arrival IN (SELECT arrival FROM uncounted)")
        return late

    def evict(self, query: ContinuousQuery, horizon: int) -> None:
        """Tables are written anew, without what nobody needs, when that is more than half of them."""
        for iri, stream in self._streams.items():
            if stream.arrived < stream.looked_at + _FEWEST_TO_EVICT:
                continue
            stream.looked_at = stream.arrived
            oldest = self.prepared(compile_oldest(query, self.tables, iri)).value({"horizon": horizon})
            if oldest is None or oldest <= -FOREVER // 2:
                continue
            is_old, table = f"ts < {oldest}", stream.table
            counted = f"count(*) FILTER ({is_old}), count(*)"
            elements = f"count(DISTINCT element) FILTER ({is_old} AND since IS NULL)"
            (old, rows, of_elements) = self.rows(f"SELECT {counted}, {elements} FROM {table}")[0]
            if old > rows - old:
                self.run(f"CREATE OR REPLACE TABLE {table} AS SELECT * FROM {table} WHERE NOT {is_old}")
                stream.passed += of_elements

    # Statements

    def prepared(self, statement: exp.Select) -> PreparedStatement:
        return PreparedStatement(self, statement)

    @property
    def passed(self) -> Mapping[str, int]:
        return {passed(stream.table): stream.passed for stream in self._streams.values()}

    def provide(self, text: str) -> None:
        self._library.provide(text)

    def set_instants(self, times: Sequence[int], is_first_reported: bool) -> None:
        columns = {
            "k": pa.array(range(len(times)), pa.int64()),
            "t": pa.array(times, pa.int64()),
            "is_reported": pa.array([place > 0 or is_first_reported for place in range(len(times))], pa.bool_()),
        }
        self.connection.register(INSTANTS, pa.table(columns))

    def run(self, text: str) -> None:
        self.rows(text)

    def insert(self, table: str, row: tuple[object, ...]) -> None:
        with _told():
            marks = ", ".join("?" * len(row))
            self.connection.execute(f"INSERT INTO {table} VALUES ({marks})", list(row)).fetchall()

    def rows(self, text: str) -> list[tuple[Any, ...]]:
        with _told():
            return self.connection.execute(text).fetchall()

    @contextmanager
    def _view(self, name: str, table: pa.Table) -> Iterator[None]:
        self.connection.register(name, table)
        try:
            yield
        finally:
            self.connection.unregister(name)


@contextmanager
def _told() -> Iterator[None]:
    """What is wrong with a disk, as one sentence."""
    try:
        yield
    except (duckdb.IOException, duckdb.FatalException) as error:
        raise StorageError(str(error).splitlines()[0]) from None


class PreparedStatement:
    """The text of a statement, with what it calls made known, and the names of its parameters."""

    def __init__(self, engine: DuckDBEngine, statement: exp.Select) -> None:
        self.engine = engine
        self.text = statement.sql("duckdb")
        self.parameters = {placeholder.this for placeholder in statement.find_all(exp.Placeholder)}
        engine.provide(self.text)

    def table(self, parameters: Mapping[str, int | None]) -> pa.Table:
        given = {name: value for name, value in {**self.engine.passed, **parameters}.items() if name in self.parameters}
        with _told():
            return self.engine.connection.sql(self.text, params=given).to_arrow_table()

    def value(self, parameters: Mapping[str, int | None]) -> int | None:
        found: int | None = self.table(parameters).column(0)[0].as_py()
        return found


class DuckDBQuery:
    def __init__(self, engine: DuckDBEngine, plan: Plan) -> None:
        self.engine = engine
        self.variables = plan.variables
        self.statement = engine.prepared(plan.statement)

    def evaluate(self, part: Slice) -> pa.Table:
        times = [*([] if part.previous is None else [part.previous]), *part.instants]
        self.engine.set_instants(times, part.previous is None)
        return self.statement.table({"first": times[0], "last": times[-1], "count": len(times)})


class DuckDBReport:
    def __init__(self, engine: DuckDBEngine, plan: InstantsPlan, last_end: exp.Select) -> None:
        self.plan = plan
        self.statement = engine.prepared(plan.statement)
        self.last_end_statement = engine.prepared(last_end)

    def instants(self, first: int, last: int, end: int | None) -> list[int]:
        self.plan.check(first, last)
        found: list[int] = self.statement.table({"first": first, "last": last, "end": end}).column(0).to_pylist()
        return found

    def last_end(self, first: int) -> int | None:
        return self.last_end_statement.value({"first": first, "last": FOREVER})
