"""The windows of a run as tables of DuckDB, in memory or in a file."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, ClassVar
from weakref import WeakSet

import duckdb
import pyarrow as pa
import pyarrow.compute as pc
from pyoxigraph import Triple
from sqlglot import exp

from penstock.algebra.inputs import GraphTriple
from penstock.algebra.model import ContinuousQuery
from penstock.algebra.operators import Operator
from penstock.algebra.services import ServiceAnswer, ServiceCall
from penstock.engines.answer_tables import answer_table, described
from penstock.engines.arrival_reports import arrival_report
from penstock.engines.arrivals import numbered, stamped
from penstock.engines.closings import closing_report
from penstock.engines.duckdb.kept import KeptTables
from penstock.engines.duckdb.statements import DuckDBQuery, DuckDBReport, PreparedStatement, reported
from penstock.engines.later_views import LaterViews
from penstock.engines.matcher import Demanded, PatternMatcher
from penstock.engines.noted_reports import NotedReport, NotedWindow
from penstock.engines.protocol import Appended, Asked, Capabilities, CompiledReport, IntakeBatch, Need, Reached, Seen
from penstock.engines.statistics import Observed
from penstock.optimizer import Sizes
from penstock.relational.answers import Delivery, Plan, compile_dataset, compile_query
from penstock.relational.demand import Demand, demand_of
from penstock.relational.functions.library import Library
from penstock.relational.intervals import INSTANTS
from penstock.relational.matching import TRIPLE, predicates_of
from penstock.relational.planning import optimized
from penstock.relational.reporting import compile_instants, compile_last_end
from penstock.relational.retention import compile_oldest, compile_uncounted, oldest_needed, retained_by
from penstock.relational.shapes import Shape
from penstock.relational.static_parts import KeptPart, KeptTable, StaticPart
from penstock.relational.tables import AnswerTable, Tables, reads
from penstock.relational.windows import FOREVER, longest_in_joins, passed
from penstock.sources.graphs import CHANGING, TRIPLES, Graph, changing_triples, graph_triple
from penstock.sources.tables import encoded_triples

_ROWS_BETWEEN_LOOKS = 20_000

_TYPES = {pa.string(): "VARCHAR", pa.int64(): "BIGINT"}

_LARGE = 30_000
"""From this many rows on it is faster to search for duplicates before sorting."""

_HELD_BACK, _TOGETHER = 20_000, 500_000
"""A batch of at least this many rows is held back and inserted together with others; the small batches of a live stream
are inserted at once, because their answers are awaited. The second number limits the rows that are held back in memory.
"""

_FEW = 8
"""Up to this many rows are inserted as values, because registering a table takes longer."""

_SETTINGS: dict[str, int | bool] = {
    # Standard output is for results.
    "enable_progress_bar": False,
    # Estimates are too low here, and nested loops too slow.
    "asof_loop_join_threshold": 0,
    # Up to this many rows of a stream are looked up in the index of a kept part; for more of them it is scanned.
    "dynamic_or_filter_threshold": 1000,
    "index_scan_max_count": 100_000,
}

_LOCKED: dict[str, bool] = {
    # No statement reads or writes any other file than the database, or loads an extension, whatever a query contains.
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
    "enable_external_access": False,
    # And no statement can change these settings.
    "lock_configuration": True,
}

_Compile = Callable[[ContinuousQuery, Tables, str], exp.Select]

_KEEP_FROM = 10_000
"""A triple pattern over graphs with fewer triples is matched each time."""

_MANY = 100
"""The maximum number of predicates of a table that are known by name."""


@dataclass(slots=True)
class _Stream:
    table: str
    elements: int = 0
    """The number of elements that have arrived."""
    arrived: int = 0
    """The number of triples that have arrived."""
    appended: int = 0
    """The number of triples that were appended last."""
    looked_at: int = 0
    """The number of triples that had arrived at the last check for rows to evict."""
    needed: int = 0
    """The number of rows at that time."""
    evicted: int = 0
    passed: int = 0
    """The number of evicted elements that were in time."""
    is_produced: bool = False
    """Whether a query produces it."""
    is_named: bool = False
    """Whether the names of elements are kept."""

    @property
    def columns(self) -> list[str]:
        return [*"spo", "ts", "element", "arrival", "since", *(["g"] if self.is_named else [])]


class DuckDBStore:
    """Tables of streams and graphs, and statements over them. `database` is a file; without one all data is in memory.

    Static parts of queries are computed once and kept; a single triple pattern is kept if graphs have at least
    `keep_from` triples. After every `rows_between_looks` rows the store looks for rows that no query needs, because
    eviction costs time, too. `limits` are settings of DuckDB, such as `threads`.
    """

    evaluated_by = "DuckDB"
    capabilities: ClassVar = Capabilities(admits_queries=True, restarts=True, answers_at_once=False)

    def __init__(
        self,
        database: Path | None = None,
        *,
        rows_between_looks: int = _ROWS_BETWEEN_LOOKS,
        keep_from: int = _KEEP_FROM,
        limits: Mapping[str, int | str] | None = None,
    ) -> None:
        self._rows_between_looks = rows_between_looks
        with reported():
            self._connection = duckdb.connect(":memory:" if database is None else str(database))
        self._arriving: dict[str, list[pa.Table]] = {}
        """By table, the rows that are not in it yet."""
        self._insertions: dict[tuple[str, int], duckdb.Statement] = {}
        """The parsed statements that insert few rows, by table and number of rows."""
        for setting, value in {**_SETTINGS, **(limits or {})}.items():
            self.run(f"SET {setting} = {value}")
        self._library = Library(self._connection)
        for setting, value in _LOCKED.items():
            self.run(f"SET {setting} = {value}")
        self._kept = KeptTables(self, keep_from)
        self._triples: dict[str, int] = {}
        self._streams: dict[str, _Stream] = {}
        self._graphs: dict[str | None, str] = {}
        self._predicates: dict[str, frozenset[str] | None] = {}
        self.observed = Observed()
        self._changing: set[str | None] = set()
        self._changed: dict[str | None, str] = {}
        self._revisions = 0
        """How often triples of a static graph have moved to the table of those that change."""
        self._services: dict[ServiceCall, AnswerTable] = {}
        self._retention: dict[tuple[Hashable, _Compile, str], PreparedStatement] = {}
        self._noting: WeakSet[NotedReport[NotedWindow]] = WeakSet()
        """The reports of queries that still run, and that learn from appended rows, without a statement."""
        self._later = LaterViews(self.run)
        self._matcher = PatternMatcher()

    @property
    def connection(self) -> duckdb.DuckDBPyConnection:
        """For statements: all rows that have arrived are in their tables.

        Large batches are inserted together when the first statement may read them. DuckDB takes half the time for a row
        where whole groups of rows are inserted.
        """
        if self._arriving:
            self._insert()
        return self._connection

    def _insert(self) -> None:
        while self._arriving:
            table, arrived = self._arriving.popitem()
            rows = pa.concat_tables(arrived).combine_chunks()  # DuckDB takes a fourth less time for one chunk
            with reported():
                if rows.num_rows > _FEW:
                    self._connection.from_arrow(rows).insert_into(table)  # a view would change the catalog
                elif rows.num_rows:
                    values = [value for row in rows.to_pylist() for value in row.values()]
                    inserting = self._inserting(table, rows.num_columns, rows.num_rows)
                    self._connection.execute(inserting, values).fetchall()

    def _inserting(self, table: str, columns: int, rows: int) -> duckdb.Statement:
        if (table, rows) not in self._insertions:
            marks = ", ".join([f"({', '.join('?' * columns)})"] * rows)
            (self._insertions[table, rows],) = self._connection.extract_statements(
                f"INSERT INTO {table} VALUES {marks}"
            )
        return self._insertions[table, rows]

    @property
    def tables(self) -> Tables:
        streams = {iri: stream.table for iri, stream in self._streams.items()}
        known = {table: predicates for table, predicates in self._predicates.items() if predicates is not None}
        changing, services, changed = frozenset(self._changing), dict(self._services), dict(self._changed)
        produced = frozenset(iri for iri, stream in self._streams.items() if stream.is_produced)
        counts = self.observed.counts
        return Tables(streams, dict(self._graphs), changing, known, services, changed, counts, self._keep, produced)

    def _tables_for(self, query: ContinuousQuery) -> Tables:
        return self._later.tables(self.tables, query.dataset.after)

    @property
    def sizes(self) -> Sizes:
        return self.tables.sizes

    @property
    def has_changing_graphs(self) -> bool:
        return bool(self._changing or self._changed) or any(answers.changes for answers in self._services.values())

    def layout(self, predicates: frozenset[str]) -> Hashable:
        """The facts that plans for these predicates depend on: the tables that contain them, the layout of tables, and
        the version of graphs that kept parts are computed from.
        """
        known = tuple(None if known is None else known & predicates for known in self._predicates.values())
        changing = frozenset(self._changing), frozenset(self._changed), self._revisions
        return known, changing, frozenset(self._services.values())

    @property
    def is_large(self) -> bool:
        return any(stream.arrived - stream.evicted > _LARGE for stream in self._streams.values())

    def _note_predicates(self, table: str, predicates: Iterable[str | None]) -> None:
        known = self._predicates.get(table, frozenset())
        if known is not None:
            now = known.union(predicate for predicate in predicates if predicate is not None)
            self._predicates[table] = now if len(now) <= _MANY else None

    # Input

    def clear(self) -> None:
        """Delete all input."""
        self._later.keep(())
        others = [*self._changed.values(), *(table.name for table in self._services.values())]
        for table in [*self.tables.streams.values(), *self._graphs.values(), *others]:
            self.run(f"DROP TABLE {table}")
        self._kept.forget()
        self._services, self._changed, self._triples = {}, {}, {}
        self._streams, self._graphs, self._predicates, self._changing, self._retention = {}, {}, {}, set(), {}
        self._noting.clear()
        self._insertions.clear()
        self._matcher = PatternMatcher()

    def empty_streams(self) -> None:
        """Delete the rows of streams. Graphs and kept parts stay, and so do compiled queries."""
        for iri, known in self._streams.items():
            self.run(f"TRUNCATE {known.table}")
            self._streams[iri] = _Stream(known.table, is_produced=known.is_produced, is_named=known.is_named)

    def add_stream(self, iri: str, *, is_produced: bool = False, is_named: bool = False) -> None:
        if iri in self._streams:
            return
        table = f"stream_{len(self._streams) + 1}"
        self._streams[iri] = _Stream(table, is_produced=is_produced, is_named=is_named)
        numbers = "ts BIGINT, element BIGINT, arrival BIGINT, since BIGINT" + (", g VARCHAR" if is_named else "")
        self.run(f"CREATE OR REPLACE TABLE {table} (s VARCHAR, p VARCHAR, o VARCHAR, {numbers})")
        self._predicates[table] = frozenset()

    def elements(self, stream: str) -> int:
        return self._streams[stream].elements

    def arrived(self, stream: str) -> int:
        return self._streams[stream].arrived

    def keeps_names(self, stream: str) -> bool:
        return self._streams[stream].is_named

    def append(
        self, batch: IntakeBatch[Mapping[str, pa.Table]], reached: Mapping[str, Reached], lateness: int
    ) -> Appended:  # fmt: skip
        return Appended(
            {
                iri: self.append_stamped(iri, *stamped(rows, reached[iri], lateness))
                for iri, rows in (batch.rows or {}).items()
            }
        )

    def append_produced(self, number: int, stream: str, rows: pa.Table) -> Seen:
        return self.append_stamped(stream, *stamped(rows, Reached(), 0))

    def append_stamped(self, stream: str, rows: pa.Table, seen: Seen) -> Seen:
        """Keep rows with their watermarks (`since`): all that were `seen`, or some of them."""
        known = self._streams[stream]
        self.keep(stream, numbered(rows, known.elements, known.arrived), seen.elements)
        return seen

    def keep(self, stream: str, rows: pa.Table, elements: int) -> None:
        """Keep rows that have their watermarks and numbers; this many elements begin among them."""
        known = self._streams[stream]
        if known.is_named and "g" not in rows.column_names:
            rows = rows.append_column("g", pa.nulls(rows.num_rows, pa.string()))
        known.elements += elements
        known.arrived += rows.num_rows
        known.appended = rows.num_rows
        predicates = self.observed.note(known.table, rows["p"])
        self._note_predicates(known.table, predicates)
        self._matcher.note(stream, rows, set(predicates))
        arriving = self._arriving.setdefault(known.table, [])
        arriving.append(rows.select(known.columns))
        if rows.num_rows < _HELD_BACK or sum(table.num_rows for table in arriving) >= _TOGETHER:
            self._insert()
        for report in self._noting:
            report.note(stream, rows)

    def load_graph(self, iri: str | None, graph: Graph) -> None:
        table = self._graphs.setdefault(iri, f"graph_{len(self._graphs) + 1}")
        self._changing.discard(iri)
        if graph.changes:
            self._changing.add(iri)
        schema = CHANGING if graph.changes else TRIPLES
        self._revise()
        self.run(f"CREATE OR REPLACE TABLE {table} ({', '.join(f'{f.name} {_TYPES[f.type]}' for f in schema)})")
        for part in graph.tables():
            with self._view("loading", part):
                self.run(f"INSERT INTO {table} SELECT {', '.join(schema.names)} FROM loading")
        self._triples[table] = self._keep_each_once(table, schema.names)
        self._predicates[table] = frozenset()
        found = dict(self.rows(f"SELECT p, count(*) FROM {table} GROUP BY p"))
        self.observed.know(table, found)
        self._note_predicates(table, found)

    def _keep_each_once(self, table: str, columns: Sequence[str]) -> int:
        """The number of triples.

        Few graphs repeat a triple, and comparing hashes takes less memory than comparing rows.
        """
        ((rows, different),) = self.rows(f"SELECT count(*), count(DISTINCT hash({', '.join(columns)})) FROM {table}")
        if different < rows:
            self.run(f"CREATE OR REPLACE TABLE {table} AS SELECT DISTINCT * FROM {table}")
        return int(different)

    def _keep(self, part: StaticPart) -> KeptTable | None:
        return self._kept.keep(part, sum(self._triples.values()))

    @property
    def kept(self) -> tuple[KeptPart, ...]:
        return self._kept.parts

    @property
    def graphs(self) -> Collection[str | None]:
        return self._graphs.keys()

    def lacking(self, asked: Sequence[Asked]) -> set[Asked]:
        """Predicates are known for all rows that have arrived; objects only as long as no row has been evicted."""
        tables = self.tables
        every = [*tables.streams.values(), *tables.graphs.values(), *tables.changed.values()]
        is_whole = not tables.changed and not any(stream.evicted for stream in self._streams.values())
        found: set[Asked] = set()
        for predicate, object_ in asked:
            having = [table for table in every if tables.may_match(table, predicate)]
            if not having or (object_ is not None and is_whole and not self._has(having, predicate, object_)):
                found.add((predicate, object_))
        return found

    def _has(self, tables: Iterable[str], predicate: str, object_: str) -> bool:
        looking = "SELECT 1 FROM {} WHERE p = ? AND o = ? LIMIT 1"
        return any(self.connection.execute(looking.format(table), [predicate, object_]).fetchall() for table in tables)

    def held(self, iri: str | None, triples: Sequence[Triple]) -> list[GraphTriple]:
        if not triples:
            return []
        found: list[tuple[Any, ...]] = []
        with self._view("asked", encoded_triples(triples)):
            for table, bounds in self._tables_of(iri).items():
                found += self.rows(f"SELECT s, p, o, {bounds} FROM {table} SEMI JOIN asked USING (s, p, o)")
        return [graph_triple(*row) for row in found]

    def revise_graph(
        self, iri: str | None, triples: Sequence[Triple], held: Sequence[GraphTriple], needed: int
    ) -> None:  # fmt: skip
        """Triples that change are in a table of their own, so that the others stay static."""
        changing = self._graphs[iri]
        if iri not in self._changing:
            changing = f"{self._graphs[iri]}_changed"
            if iri not in self._changed:
                columns = "s VARCHAR, p VARCHAR, o VARCHAR, starts BIGINT, ends BIGINT"
                self.run(f"CREATE OR REPLACE TABLE {changing} ({columns})")
                self._changed[iri] = changing
                self._predicates[changing] = frozenset()
        with self._view("revised", encoded_triples(triples)):
            for table in self._tables_of(iri):
                same = " AND ".join(f"{table}.{part} = revised.{part}" for part in TRIPLE)
                ((lost,),) = self.rows(f"DELETE FROM {table} USING revised WHERE {same}")
                if lost and table != changing:
                    self._revise()
        self.run(f"DELETE FROM {changing} WHERE ends <= {needed}")
        now = changing_triples(held)
        with self._view("loading", now):
            self.run(f"INSERT INTO {changing} SELECT s, p, o, starts, ends FROM loading")
        self._note_predicates(changing, pc.unique(now["p"]).to_pylist())

    def _revise(self) -> None:
        """A static graph has changed: the parts computed from it are outdated."""
        self._revisions += 1
        self._kept.forget()

    def _tables_of(self, iri: str | None) -> dict[str, str]:
        """The tables of a graph, each with the columns that say when its triples are valid."""
        own = "starts, ends"
        tables = {self._graphs[iri]: own if iri in self._changing else f"{-FOREVER}, {FOREVER}"}
        return tables | ({self._changed[iri]: own} if iri in self._changed else {})

    @property
    def services(self) -> Collection[ServiceCall]:
        return self._services.keys()

    def load_answers(self, call: ServiceCall, answers: Sequence[ServiceAnswer]) -> None:
        known = self._services.get(call)
        name = f"service_{len(self._services) + 1}" if known is None else known.name
        table = answer_table(call, answers)
        with self._view("loading", table):
            self.run(f"CREATE OR REPLACE TABLE {name} AS SELECT * FROM loading")
        self._services[call] = described(call, name, table)

    # Restarts

    @property
    def state(self) -> dict[str, dict[str, Any]]:
        """The state of the streams, whose rows are in their tables."""
        self._insert()
        return {iri: asdict(stream) for iri, stream in self._streams.items()}

    def restore(self, state: Mapping[str, Mapping[str, Any]]) -> None:
        """The streams of an existing database."""
        self._streams = {iri: _Stream(**entry) for iri, entry in state.items()}
        for iri, stream in self._streams.items():
            found = self.rows(f"SELECT p, max(ts) FROM {stream.table} GROUP BY p")
            self._note_predicates(stream.table, [predicate for predicate, _ in found])
            for _, greatest in found:
                self._matcher.note_anything(iri, greatest)

    def restore_counts(
        self, stream: str, *, elements: int, arrived: int, passed: int, predicates: Iterable[str] | None
    ) -> None:  # fmt: skip
        """The state of a stream whose needed rows have been kept again.

        `passed` of its elements, which were in time, have been evicted; `predicates` is None if they are not known.
        """
        known = self._streams[stream]
        kept = known.arrived
        known.elements, known.arrived, known.looked_at, known.passed = elements, arrived, arrived, passed
        known.needed, known.evicted = kept, arrived - kept
        if predicates is None:
            self._predicates[known.table] = None
        else:
            self._note_predicates(known.table, predicates)

    def count_later(self, stream: str, after: int, passed: int) -> None:
        """Sets how many elements in time, of those after an instant, have been evicted from the stream."""
        self._later.count(self._streams[stream].table, after, passed)

    def begin(self) -> None:
        with reported():
            self.connection.begin()

    def commit(self) -> None:
        with reported():
            self.connection.commit()

    def interrupt(self) -> None:
        with suppress(duckdb.ConnectionException):  # it is closed
            self._connection.interrupt()

    def close(self) -> None:
        self._connection.close()

    # Answers

    def compile(
        self, query: ContinuousQuery, expression: Operator, delivery: Delivery, *, is_optimized: bool = True
    ) -> DuckDBQuery:
        def plan(now: Operator, shape: Shape) -> Plan:
            delivered: Delivery = "rstream" if shape.is_snapshot else delivery
            return compile_query(query, now, delivered, self._tables_for(query), shape)

        def best() -> Operator:
            return optimized(query, expression, self._tables_for(query)) if is_optimized else expression

        def demand() -> Demand:
            return demand_of(query, expression, self._tables_for(query), self._matcher.watch)

        def layout() -> Hashable:
            return self.layout(predicates)

        predicates, compares = predicates_of(expression), delivery != "rstream"
        demanded = Demanded(layout, demand, compares=compares)
        return DuckDBQuery(self, plan, best, layout, demanded, delivery=delivery, longest=longest_in_joins(query))

    def compile_dataset(self, query: ContinuousQuery) -> DuckDBQuery:
        def plan(_: Operator, shape: Shape) -> Plan:
            return compile_dataset(query, self._tables_for(query), shape)

        return DuckDBQuery(self, plan, lambda: query.expression, lambda: self.layout(frozenset()))

    def compile_report(self, query: ContinuousQuery) -> CompiledReport:
        tables = self._tables_for(query)
        report: NotedReport[NotedWindow] | None = closing_report(query, tables) or arrival_report(query, tables)
        if report is not None:
            for iri, table in tables.streams.items():
                report.note(iri, self.connection.sql(f"SELECT s, ts, since, element FROM {table}").to_arrow_table())
            self._noting.add(report)
            return report
        return DuckDBReport(self, compile_instants(query, tables), lambda: compile_last_end(query, tables))

    # Forgetting

    def uncounted(self, query: ContinuousQuery, stream: str) -> pa.Table:
        statement = self._statement_on(stream, compile_uncounted, query)
        return statement.table({"first": -FOREVER // 2, "last": FOREVER})

    def evict(self, needs: Sequence[Need], until: int | None) -> int:
        """A table is rewritten without the rows that no query needs when they are more than half of it."""
        kept, unread = 0, -FOREVER if until is None else until + 1
        for iri, stream in self._streams.items():
            if stream.arrived >= stream.looked_at + self._rows_between_looks:
                reading = [need for need in needs if reads(need.query.dataset, iri, self.tables)]
                counts = any(need.query.dataset.counts_elements for need in reading)
                self._look_at(stream, min((self.oldest(need, iri) for need in reading), default=unread), counts)
            kept += stream.needed
        return kept

    def oldest(self, need: Need, stream: str) -> int:
        """The timestamp before which the query needs no row, not even one that arrives now."""
        if need.horizon is None:
            return -FOREVER
        known = oldest_needed(need.query, self.tables, stream, need.horizon)
        if known is not None:
            return min(known, need.horizon)
        oldest = self._statement_on(stream, compile_oldest, need.query).value({"horizon": need.horizon})
        return -FOREVER if oldest is None else min(oldest, need.horizon)

    def _statement_on(self, stream: str, compiled: _Compile, query: ContinuousQuery) -> PreparedStatement:
        """A statement about the rows that a query needs of a stream."""
        key = retained_by(query), compiled, stream
        if key not in self._retention:
            self._retention[key] = self.prepared(compiled(query, self._tables_for(query), stream))
        return self._retention[key]

    def seen(self, stream: str, after: int | None, *, lately: bool = False) -> Seen:
        known = self._streams[stream]
        figures = "count(DISTINCT element), min(ts) FILTER (since IS NULL), max(ts), count(since) > 0"
        conditions = ["true" if after is None else f"ts > {after}"]
        if lately:
            conditions.append(f"arrival >= {known.arrived - known.appended}")
        found = self.rows(f"SELECT {figures} FROM {known.table} WHERE {' AND '.join(conditions)}")
        return Seen(*found[0])

    def forget(self, needs: Sequence[Need], until: int) -> None:
        """These are all queries: drops everything made for others, and rows that no query reads, up to an instant."""
        self._later.keep({need.query.dataset.after for need in needs})
        datasets = {need.query.dataset for need in needs}
        retained = {retained_by(need.query) for need in needs}
        self._retention = {key: known for key, known in self._retention.items() if key[0] in retained}
        for iri, stream in self._streams.items():
            if not any(reads(dataset, iri, self.tables) for dataset in datasets):
                self.run(f"DELETE FROM {stream.table} WHERE ts <= {until}")

    def _look_at(self, stream: _Stream, oldest: int, counts: bool) -> None:
        """`counts`: a window counts elements, so evicted elements are counted, too."""
        stream.looked_at = stream.arrived
        table, is_old = stream.table, f"ts < {oldest}"
        elements = f"count(DISTINCT element) FILTER ({is_old} AND since IS NULL)" if counts else "0"
        counted = f"SELECT count(*) FILTER ({is_old}), count(*), {elements} FROM {table}"
        ((old, rows, of_elements),) = self.rows(counted)
        stream.needed = rows - old
        if old > stream.needed:
            for view in self._later.of(table):
                counted = f"SELECT count(DISTINCT element) FROM {view.name} WHERE {is_old} AND since IS NULL"
                ((of_view,),) = self.rows(counted)
                view.passed += of_view
            self.run(f"CREATE OR REPLACE TABLE {table} AS SELECT * FROM {table} WHERE NOT {is_old}")
            stream.passed += of_elements
            stream.evicted += old

    # Statements

    def prepared(self, statement: exp.Select) -> PreparedStatement:
        return PreparedStatement(self, statement)

    @property
    def passed(self) -> Mapping[str, int]:
        return {passed(stream.table): stream.passed for stream in self._streams.values()} | self._later.passed

    def provide(self, text: str) -> None:
        self._library.provide(text)

    def set_instants(self, times: Sequence[int]) -> None:
        columns = {"k": pa.arange(0, len(times)), "t": pa.array(times, pa.int64())}
        self.connection.register(INSTANTS, pa.table(columns))

    def run(self, text: str) -> None:
        self.rows(text)

    def insert(self, table: str, row: tuple[object, ...]) -> None:
        with reported():
            marks = ", ".join("?" * len(row))
            self.connection.execute(f"INSERT INTO {table} VALUES ({marks})", list(row)).fetchall()

    def rows(self, text: str) -> list[tuple[Any, ...]]:
        with reported():
            return self.connection.execute(text).fetchall()

    @contextmanager
    def _view(self, name: str, table: pa.Table) -> Iterator[None]:
        self.connection.register(name, table)
        try:
            yield
        finally:
            self._connection.unregister(name)
