"""The common part of stores of windows on Spark: views of graphs and services, and statements over views.

The statements are those of every engine, printed as Spark SQL. The two stores differ in the source of their streams:
complete histories (history.py), or segments of micro-batches (cluster_windows.py).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import reduce
from itertools import count
from typing import Any, ClassVar, cast

import pyarrow as pa
from pyoxigraph import Triple
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sf
from sqlglot import exp

from penstock.algebra.inputs import GraphTriple
from penstock.algebra.model import ContinuousQuery
from penstock.algebra.operators import Operator
from penstock.algebra.services import ServiceAnswer, ServiceCall
from penstock.engines.answer_tables import answer_table, described
from penstock.engines.protocol import Asked, Capabilities, CompiledReport, Need, Seen
from penstock.engines.spark.changes import ChangedTriples
from penstock.engines.spark.closures import Closures
from penstock.engines.spark.kept import KeptFrames
from penstock.engines.spark.parts import nested
from penstock.engines.spark.patterns import provide
from penstock.engines.spark.session import checked_stack
from penstock.engines.spark.statements import SparkQuery, SparkReport
from penstock.engines.statistics import Latest, Observed
from penstock.optimizer import Sizes
from penstock.relational.answers import Delivery, Plan, compile_dataset, compile_query
from penstock.relational.functions.expansion import expanded
from penstock.relational.planning import optimized
from penstock.relational.reporting import compile_instants, compile_last_end
from penstock.relational.retention import compile_oldest, compile_uncounted, oldest_needed
from penstock.relational.shapes import Shape
from penstock.relational.spark_sql import to_spark
from penstock.relational.static_parts import KeptPart
from penstock.relational.tables import AnswerTable, Tables
from penstock.relational.windows import FOREVER, longest_window, passed
from penstock.sources.graphs import Graph
from penstock.sources.spark.graphs import graph_frame

_NUMBERS = count(1)

_MANY = 200
"""Longer lists of values are not part of the text of a statement."""


@dataclass(slots=True)
class StreamView:
    """A stream as statements read it."""

    table: str
    is_produced: bool
    """Whether a query produces it."""
    is_named: bool
    """Whether the names of elements are kept."""
    elements: int = 0
    """The number of elements that have arrived."""
    arrived: int = 0
    """The number of triples that have arrived."""
    is_shown: bool = False
    """Whether the view shows the current rows."""


class SparkStore(ABC):
    """Views of streams and graphs, and statements over them."""

    evaluated_by = "Spark SQL"
    capabilities: ClassVar[Capabilities]

    def __init__(self, session: SparkSession) -> None:
        self.session = session
        self._prefix = f"penstock_{next(_NUMBERS)}"
        self._streams: dict[str, StreamView] = {}
        self._graphs: dict[str | None, str] = {}
        self._changing: set[str | None] = set()
        self._changed: dict[str | None, ChangedTriples] = {}
        self._services: dict[ServiceCall, AnswerTable] = {}
        self._unshown: dict[str, DataFrame | pa.Table] = {}
        """Graphs that have no views yet, by their names."""
        self._loaded: dict[str | None, DataFrame] = {}
        """Graphs that Spark has read."""
        self._triples: dict[str | None, int] = {}
        """The number of triples of each graph."""
        self._reached: list[DataFrame] = []
        """The results of property paths in statements."""
        self._static = KeptFrames(self, self._prefix)
        self.observed = Observed()

    @property
    def tables(self) -> Tables:
        streams = {iri: stream.table for iri, stream in self._streams.items()}
        changed = {iri: part.view for iri, part in self._changed.items() if iri not in self._changing}
        produced = frozenset(iri for iri, stream in self._streams.items() if stream.is_produced)
        changing, services = frozenset(self._changing), dict(self._services)
        fixed = [view for iri, view in self._graphs.items() if iri not in changing]
        known, spread = self._static.predicates(fixed), self._static.spread(fixed)
        known |= {part.view: part.predicates for iri, part in self._changed.items() if iri in changed}
        counts = self.observed.counts
        if not any(table in counts for table in streams.values()):
            counts = {}  # sizes of graphs alone do not predict the sizes of joins with them
        graphs, keep = dict(self._graphs), self._static.keep
        return Tables(streams, graphs, changing, known, services, changed, counts, keep, produced, spread)

    def tables_for(self, query: ContinuousQuery) -> Tables:
        """The tables as the query sees them."""
        return self.tables

    @property
    def passed(self) -> Mapping[str, int]:
        """Parameters of statements: the numbers of evicted elements that were in time."""
        return {passed(stream.table): 0 for stream in self._streams.values()}

    @property
    def sizes(self) -> Sizes:
        return self.tables.sizes

    @property
    def kept(self) -> tuple[KeptPart, ...]:
        return self._static.parts

    @property
    def has_changing_graphs(self) -> bool:
        is_revised = any(part.revised.num_rows for part in self._changed.values())
        return bool(self._changing) or is_revised or any(answers.changes for answers in self._services.values())

    @property
    def layout(self) -> Hashable:
        """The facts that plans depend on besides the query."""
        changed = frozenset((iri, part.revised.num_rows) for iri, part in self._changed.items())
        return self._static.revisions, frozenset(self._changing), changed, frozenset(self._services.values())

    # Input

    def clear(self) -> None:
        """Delete all input."""
        changed = [part.view for part in self._changed.values()]
        answers = [table.name for table in self._services.values()]
        for view in [*self.tables.streams.values(), *self._graphs.values(), *changed, *answers]:
            self.session.catalog.dropTempView(view)
        for frame in self._loaded.values():
            frame.unpersist()
        self._static.clear()
        self._forget_reached()
        self.observed.forget()
        self._streams, self._graphs, self._changing = {}, {}, set()
        self._services, self._loaded, self._changed, self._unshown = {}, {}, {}, {}

    def close(self) -> None:
        self.clear()

    def add_stream(self, iri: str, *, is_produced: bool = False, is_named: bool = False) -> None:
        table = f"{self._prefix}_stream_{len(self._streams) + 1}"
        self._streams.setdefault(iri, StreamView(table, is_produced, is_named))

    def keeps_names(self, stream: str) -> bool:
        return self._streams[stream].is_named

    def elements(self, stream: str) -> int:
        return self._streams[stream].elements

    def arrived(self, stream: str) -> int:
        return self._streams[stream].arrived

    @abstractmethod
    def rows_of(self, stream: str) -> DataFrame:
        """The current rows of a stream: `s, p, o, ts, element, arrival, since`, and `g` if it is named."""

    @abstractmethod
    def _has_all(self, stream: str) -> bool:
        """Whether all rows of a stream that have arrived are still there."""

    def seen(self, stream: str, after: int | None, *, lately: bool = False) -> Seen:
        return figures_of(self.rows_of(stream), after)

    def _show_graphs(self) -> None:
        """Statements need views; a store that runs no statement has no use for them."""
        for view, rows in self._unshown.items():
            frame = rows if isinstance(rows, DataFrame) else self.session.createDataFrame(rows)
            frame.createOrReplaceTempView(view)
        self._unshown.clear()

    def _show(self) -> None:
        """The views show the current rows."""
        self._show_graphs()
        for iri, stream in self._streams.items():
            if not stream.is_shown:
                self.rows_of(iri).createOrReplaceTempView(stream.table)
                stream.is_shown = True

    def load_graph(self, iri: str | None, graph: Graph) -> None:
        rows, is_kept, spread = graph_frame(self.session, graph)
        self._changing.discard(iri)
        if graph.changes:
            self._changing.add(iri)
        if iri in self._loaded:
            self._loaded.pop(iri).unpersist()
        if isinstance(rows, DataFrame) and is_kept:
            self._loaded[iri] = rows
        view = self._graphs.setdefault(iri, f"{self._prefix}_graph_{len(self._graphs) + 1}")
        self._unshown[view] = rows
        self._static.note(view, spread)
        self._triples[iri] = sum(known.triples for known in spread.values())
        self.observed.know(view, {predicate: known.triples for predicate, known in spread.items()})

    @property
    def graphs(self) -> Collection[str | None]:
        return self._graphs.keys()

    def lacking(self, asked: Sequence[Asked]) -> set[Asked]:
        """A job reads all current rows; after an eviction, the values of evicted rows are unknown."""
        if not asked or not all(map(self._has_all, self._streams)):
            return set()
        self._show()
        tables = self.tables
        predicates, objects = ([*dict.fromkeys(filter(None, column))] for column in zip(*asked, strict=True))
        object_ = sf.when(sf.col("o").isin(objects), sf.col("o")) if objects else sf.lit(None).cast("string")
        parts = [
            self.session.table(view).where(sf.col("p").isin(predicates)).select("p", object_.alias("o"))
            for view in (*tables.streams.values(), *tables.graphs.values(), *tables.changed.values())
        ]
        found = {tuple(row) for row in reduce(DataFrame.unionAll, parts).distinct().collect()}
        return set(asked) - found - {(predicate, None) for predicate, _ in found}

    def held(self, iri: str | None, triples: Sequence[Triple]) -> list[GraphTriple]:
        return self._changed_part(iri).when_held(self.session, triples) if triples else []

    def revise_graph(
        self, iri: str | None, triples: Sequence[Triple], held: Sequence[GraphTriple], needed: int
    ) -> None:  # fmt: skip
        """Triples that change are in a view of their own, so that the others stay static and kept parts stay valid."""
        part = self._changed_part(iri)
        part.revise(triples, held, needed)
        others, changed = part.frames(self.session)
        if iri in self._changing:
            others.unionByName(changed).createOrReplaceTempView(self._graphs[iri])
        else:
            others.createOrReplaceTempView(self._graphs[iri])
            changed.createOrReplaceTempView(part.view)

    def _changed_part(self, iri: str | None) -> ChangedTriples:
        if iri not in self._changed:
            self._show_graphs()
            view = self._graphs[iri]
            self._changed[iri] = ChangedTriples(f"{view}_changed", self.session.table(view))
        return self._changed[iri]

    @property
    def services(self) -> Collection[ServiceCall]:
        return self._services.keys()

    def load_answers(self, call: ServiceCall, answers: Sequence[ServiceAnswer]) -> None:
        known = self._services.get(call)
        view = f"{self._prefix}_service_{len(self._services) + 1}" if known is None else known.name
        table = answer_table(call, answers)
        self.session.createDataFrame(table).createOrReplaceTempView(view)
        self._services[call] = described(call, view, table)

    def interrupt(self) -> None:
        """End all running jobs; any thread may call this."""
        self.session.sparkContext.cancelAllJobs()

    # Answers

    def compile_sql(
        self, query: ContinuousQuery, expression: Operator, delivery: Delivery, *, is_optimized: bool = True
    ) -> SparkQuery:
        def plan(best: Operator, shape: Shape) -> Plan:
            return compile_query(query, best, delivery, self.tables_for(query), shape)

        def best() -> Operator:
            return optimized(query, expression, self.tables_for(query)) if is_optimized else expression

        return SparkQuery(self, plan, Latest(self.observed, best), delivery == "rstream", longest_window(query))

    def compile_dataset(self, query: ContinuousQuery) -> SparkQuery:
        def plan(_: Operator, shape: Shape) -> Plan:
            return compile_dataset(query, self.tables_for(query), shape)

        return SparkQuery(self, plan, lambda: query.expression, True, None)

    def compile_report(self, query: ContinuousQuery) -> CompiledReport:
        tables = self.tables_for(query)
        instants, last_end = compile_instants(query, tables), compile_last_end(query, tables)
        return SparkReport(self, instants, last_end)

    # Forgetting

    @checked_stack()
    def uncounted(self, query: ContinuousQuery, stream: str) -> pa.Table:
        statement = compile_uncounted(query, self.tables_for(query), stream)
        return self.frame(statement, {"first": -FOREVER // 2, "last": FOREVER}).toArrow()

    def oldest(self, need: Need, stream: str) -> int:
        """The timestamp before which the query needs no row of a stream."""
        if need.horizon is None:
            return -FOREVER
        oldest = oldest_needed(need.query, self.tables, stream, need.horizon)
        if oldest is None:
            oldest = self.value(
                compile_oldest(need.query, self.tables_for(need.query), stream), {"horizon": need.horizon}
            )
        return -FOREVER if oldest is None else oldest

    # Statements

    def frame(self, statement: exp.Query, parameters: Mapping[str, int | None]) -> DataFrame:
        """The result of the statement, not yet computed."""
        self._show()
        names = {placeholder.this for placeholder in statement.find_all(exp.Placeholder)}
        given = {name: value for name, value in {**self.passed, **parameters}.items() if name in names}

        return self._run(statement, given)

    def selected(self, statement: exp.Query, most: int) -> DataFrame:
        """The result of a statement without parameters over graphs, not yet computed.

        Raises `ClosureTooLargeError` if paths connect more pairs than `most`.
        """
        return self._run(statement, {}, most)

    def to_persist(self, statement: exp.Query, most: int) -> DataFrame | None:
        """The same, in a form that Spark recognises when it has been persisted; None if the text would be too long."""
        with self._closures({}, most) as closures:
            whole = nested(closures.without_recursion(statement))
            return None if whole is None else self._sql(whole, {})

    def _run(self, statement: exp.Query, given: Mapping[str, int | None], most: int | None = None) -> DataFrame:
        with self._closures(given, most) as closures:
            return self._sql(closures.without_recursion(statement), given)

    @contextmanager
    def _closures(self, given: Mapping[str, int | None], most: int | None) -> Iterator[Closures]:
        def run(query: exp.Query) -> DataFrame:
            return self._sql(nested(query) or query, given)

        closures = Closures(f"{self._prefix}_reached_{next(_NUMBERS)}", run, most)
        try:
            yield closures
        finally:
            closures.drop_views(self.session)
            self._reached += closures.persisted

    def _forget_reached(self) -> None:
        """Frames that are still read are computed again."""
        for frame in self._reached:
            frame.unpersist()
        self._reached.clear()

    def _sql(self, query: exp.Query, parameters: Mapping[str, int | None]) -> DataFrame:
        self._show_graphs()
        statement = expanded(to_spark(query))
        provide(self.session, statement)
        with checked_stack():
            return self.session.sql(statement, {**parameters})

    def rows(self, statement: exp.Select, parameters: Mapping[str, int | None]) -> list[tuple[Any, ...]]:
        with checked_stack():
            return [tuple(row) for row in self.frame(statement, parameters).collect()]

    def value(self, statement: exp.Select, parameters: Mapping[str, int | None]) -> int | None:
        ((found,),) = self.rows(statement, parameters)
        return cast(int | None, found)

    def listed(self, columns: Mapping[str, Sequence[int]]) -> exp.Select:
        """Values as a relation: in the text of the statement, or as a view if there are many."""
        if len(next(iter(columns.values()))) > _MANY:
            view = f"{self._prefix}_{next(_NUMBERS)}"
            self.session.createDataFrame(pa.table(dict(columns))).createOrReplaceTempView(view)
            return exp.select("*").from_(view)
        rows = [exp.Tuple(expressions=[exp.convert(v) for v in row]) for row in zip(*columns.values(), strict=True)]
        names = [exp.to_identifier(name) for name in columns]
        values = exp.Values(expressions=rows, alias=exp.TableAlias(this=exp.to_identifier("listed"), columns=names))
        return exp.select("*").from_(values)


def figures_of(rows: DataFrame, after: int | None) -> Seen:
    """The statistics of elements in the rows, after an instant or of all."""
    figures = "count(DISTINCT element)", "min(ts) FILTER (WHERE since IS NULL)", "max(ts)", "count(since) > 0"
    (found,) = rows.where("true" if after is None else f"ts > {after}").selectExpr(*figures).collect()
    return Seen(*found)
