"""The engine for data that is too much for one process: Apache Spark, through PySpark.

The statements are those of every engine, printed as Spark SQL. Streams and graphs are temporary views; rows come into
them from histories, which Spark reads itself, or as they are appended.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import reduce
from itertools import count, pairwise
from math import gcd
from typing import Any, cast

import pyarrow as pa
import pyarrow.compute as pc
from pyoxigraph import Triple
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as sf
from sqlglot import exp

from penstock.algebra.inputs import GraphTriple
from penstock.algebra.model import ContinuousQuery
from penstock.algebra.operators import Operator
from penstock.algebra.services import ServiceAnswer, ServiceCall
from penstock.algebra.windows import RangeWindow
from penstock.engines.answer_tables import answer_table, described
from penstock.engines.closings import ClosingReport, closing_report
from penstock.engines.matcher import Demanded
from penstock.engines.observing import Latest, Observed
from penstock.engines.protocol import Asked, CompiledReport, Need, Slice
from penstock.engines.solutions import Solutions
from penstock.engines.spark_changes import ChangedTriples
from penstock.engines.spark_closures import Closures
from penstock.engines.spark_kept import KeptFrames
from penstock.engines.spark_parts import nested, parts_of, with_parts
from penstock.engines.spark_patterns import provide
from penstock.engines.spark_session import checked_stack, is_local
from penstock.engines.spark_survey import Survey, survey_by_a_look, survey_by_steps, survey_one_by_one, with_since
from penstock.optimizer import Sizes
from penstock.rdf.elements import Malformed
from penstock.relational.answers import Delivery, Plan, compile_dataset, compile_query, optimized
from penstock.relational.functions.expansion import expanded
from penstock.relational.intervals import INSTANTS
from penstock.relational.relations import Shape
from penstock.relational.reporting import InstantsPlan, compile_instants, compile_last_end
from penstock.relational.retention import compile_oldest, compile_uncounted, oldest_needed
from penstock.relational.sources import AnswerTable, Tables, reads
from penstock.relational.spark_sql import to_spark
from penstock.relational.static_parts import KeptPart
from penstock.relational.windows import FOREVER, longest_window, passed
from penstock.sources.batches import Source
from penstock.sources.graphs import Graph
from penstock.sources.spark.frames import FrameHistory, FrameSource
from penstock.sources.spark.graphs import graph_frame
from penstock.sources.spark.history import History, history_of
from penstock.sources.spark.rows import named

_NUMBERS = count(1)

_MANY = 200
"""More values than that do not stand in the text of a statement."""

_ROWS = pa.schema(
    [(name, pa.string()) for name in ("s", "p", "o")]
    + [(name, pa.int64()) for name in ("ts", "element", "since", "arrival")]
)
_NAMED_ROWS = _ROWS.append(pa.field("g", pa.string()))


@dataclass(slots=True)
class _Stream:
    table: str
    rows: pa.Table
    """What has been appended and is still needed."""
    arrived: int = 0
    passed: int = 0
    """How many elements that came in time have been evicted."""
    is_seen: bool = False
    """Whether the view shows what is there."""
    history: History | FrameHistory | None = None
    """Where the stream is all there from the beginning."""
    told: list[pa.Table] = field(default_factory=list)
    """Rows that tell when windows close over content, if they are known."""
    is_given: bool = False
    """Whether it comes from a query."""
    is_named: bool = False
    """Whether the names of elements are kept."""


class SparkEngine:
    """Views of streams and graphs, and statements over them."""

    def __init__(self, session: SparkSession) -> None:
        self.session = session
        self._prefix = f"penstock_{next(_NUMBERS)}"
        self._streams: dict[str, _Stream] = {}
        self._graphs: dict[str | None, str] = {}
        self._changing: set[str | None] = set()
        self._changed: dict[str | None, ChangedTriples] = {}
        self._services: dict[ServiceCall, AnswerTable] = {}
        self._loaded: dict[str | None, DataFrame] = {}
        """Graphs that Spark has read."""
        self._kept: list[DataFrame] = []
        """What is computed once."""
        self._reached: list[DataFrame] = []
        """What property paths of statements reach."""
        self._static = KeptFrames(self, self._prefix)
        self.observed = Observed()

    @property
    def tables(self) -> Tables:
        streams = {iri: stream.table for iri, stream in self._streams.items()}
        changed = {iri: part.view for iri, part in self._changed.items() if iri not in self._changing}
        given = frozenset(iri for iri, stream in self._streams.items() if stream.is_given)
        changing, services = frozenset(self._changing), dict(self._services)
        fixed = [view for iri, view in self._graphs.items() if iri not in changing]
        known, spread = self._static.predicates(fixed), self._static.spread(fixed)
        known |= {part.view: part.predicates for iri, part in self._changed.items() if iri in changed}
        counts = self.observed.counts
        if not any(table in counts for table in streams.values()):
            counts = {}  # graphs alone say little of what is joined with them
        graphs, keep = dict(self._graphs), self._static.keep
        return Tables(streams, graphs, changing, known, services, changed, counts, keep, given, spread)

    def tables_for(self, query: ContinuousQuery) -> Tables:
        """The tables as the query sees them."""
        return self.tables

    @property
    def passed(self) -> Mapping[str, int]:
        """Parameters of statements: how many elements have been evicted."""
        return {passed(stream.table): stream.passed for stream in self._streams.values()}

    @property
    def sizes(self) -> Sizes:
        return self.tables.sizes

    @property
    def kept(self) -> tuple[KeptPart, ...]:
        return self._static.parts

    @property
    def has_changing_graphs(self) -> bool:
        return bool(self._changing or self._changed) or any(answers.changes for answers in self._services.values())

    @property
    def layout(self) -> Hashable:
        """What plans depend on beside the query."""
        changed = frozenset((iri, part.revised.num_rows) for iri, part in self._changed.items())
        return self._static.revisions, frozenset(self._changing), changed, frozenset(self._services.values())

    # Input

    def clear(self) -> None:
        """Forget all input."""
        changed = [part.view for part in self._changed.values()]
        answers = [table.name for table in self._services.values()]
        for view in [*self.tables.streams.values(), *self._graphs.values(), *changed, *answers]:
            self.session.catalog.dropTempView(view)
        for frame in [*self._kept, *self._loaded.values()]:
            frame.unpersist()
        self._static.clear()
        self._forget_reached()
        self.observed.forget()
        self._streams, self._graphs, self._changing = {}, {}, set()
        self._services, self._loaded, self._kept = {}, {}, []
        self._changed = {}

    def close(self) -> None:
        self.clear()

    def add_stream(self, iri: str, *, is_given: bool = False, is_named: bool = False) -> None:
        table = f"{self._prefix}_stream_{len(self._streams) + 1}"
        rows = (_NAMED_ROWS if is_named else _ROWS).empty_table()
        self._streams.setdefault(iri, _Stream(table, rows, is_given=is_given, is_named=is_named))

    def keeps_names(self, stream: str) -> bool:
        return self._streams[stream].is_named

    def arrived(self, stream: str) -> int:
        return self._streams[stream].arrived

    def survey(
        self, stream: str, source: Source, queries: Sequence[ContinuousQuery] | None, lateness: int
    ) -> Survey:  # fmt: skip
        """When a history begins and ends, and whether anything came late; a look at all of its timestamps."""
        known = self._streams[stream]
        known.history = history = self._history(source, stream)
        window = None if queries is None else _told_by_steps(queries, self.tables)
        if isinstance(history, History) and history.is_of_lines:
            with ThreadPoolExecutor(1) as beside:
                looking = beside.submit(self._look, history, window, lateness)
                rows = named(history.ordinary_rows(), known.is_named)  # Spark finds the files meanwhile
            found = looking.result() or self._survey_of_lines(history, window, lateness)
            if found is not None and not found.has_odd:
                self._show_history(known, rows, found)
                return found
        rows = self._computed_once(history.rows(is_named=known.is_named))
        found = None
        if window is not None:
            found = survey_by_steps(rows.withColumn("is_odd", sf.lit(False)), window, lateness)
        if found is not None:
            self._show_history(known, rows, found)
            return replace(found, has_odd=True)
        rows = self._computed_once(with_since(rows, lateness))
        rows.createOrReplaceTempView(known.table)
        known.is_seen = True
        return replace(survey_one_by_one(rows), has_odd=True)

    def _look(self, history: History, window: RangeWindow | None, lateness: int) -> Survey | None:
        return survey_by_a_look(history, window, lateness) if is_local(self.session) else None

    def _survey_of_lines(self, history: History, window: RangeWindow | None, lateness: int) -> Survey | None:
        if window is None:
            return None
        return survey_by_steps(history.times().withColumn("s", sf.lit("")), window, lateness)

    def _computed_once(self, frame: DataFrame) -> DataFrame:
        self._kept.append(frame.persist())
        return self._kept[-1]

    def _history(self, source: Source, scope: str) -> History | FrameHistory:
        if isinstance(source, FrameSource):
            return FrameHistory(source)
        return history_of(self.session, source, scope=scope)

    def _show_history(self, known: _Stream, rows: DataFrame, survey: Survey) -> None:
        """All of it came in time."""
        rows.withColumn("since", sf.lit(None).cast("bigint")).createOrReplaceTempView(known.table)
        known.told = [] if survey.told is None else [survey.told]
        known.is_seen = True

    def malformed(self, stream: str) -> Iterator[Malformed]:
        history = self._streams[stream].history
        if history is not None:
            for row in history.malformed().toLocalIterator():
                yield Malformed(*row)

    def append(self, stream: str, rows: pa.Table) -> None:
        known = self._streams[stream]
        arrival = pa.arange(known.arrived, known.arrived + rows.num_rows)
        known.arrived += rows.num_rows
        if known.is_named and "g" not in rows.column_names:
            rows = rows.append_column("g", pa.nulls(rows.num_rows, pa.string()))
        rows = rows.append_column("arrival", arrival).select(known.rows.column_names)
        known.rows = pa.concat_tables([known.rows, rows])
        known.is_seen = False

    def load_graph(self, iri: str | None, graph: Graph) -> None:
        frame, is_kept, spread = graph_frame(self.session, graph)
        self._changing.discard(iri)
        if graph.changes:
            self._changing.add(iri)
        if iri in self._loaded:
            self._loaded.pop(iri).unpersist()
        if is_kept:
            self._loaded[iri] = frame
        view = self._graphs.setdefault(iri, f"{self._prefix}_graph_{len(self._graphs) + 1}")
        frame.createOrReplaceTempView(view)
        self._static.note(view, spread)
        self.observed.know(view, {predicate: known.triples for predicate, known in spread.items()})

    @property
    def graphs(self) -> Collection[str | None]:
        return self._graphs.keys()

    def lacking(self, asked: Sequence[Asked]) -> set[Asked]:
        """A job looks at all that is there; where something has been forgotten, nobody knows what it had."""
        if not asked or not all(map(self._is_whole, self._streams)):
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

    def _is_whole(self, iri: str) -> bool:
        """Whether all that has come of a stream is still there."""
        stream = self._streams[iri]
        return stream.history is not None or stream.arrived == stream.rows.num_rows

    def held(self, iri: str | None, triples: Sequence[Triple]) -> list[GraphTriple]:
        return self._changed_part(iri).when_held(self.session, triples) if triples else []

    def revise_graph(
        self, iri: str | None, triples: Sequence[Triple], held: Sequence[GraphTriple], needed: int
    ) -> None:  # fmt: skip
        """What changes is in a view of its own, so that what is static stays static, and what is kept of it right."""
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

    # Restarts

    @property
    def state(self) -> dict[str, dict[str, Any]]:
        """Nothing: what can be gone on with has a window log (spark_log.py)."""
        return {}

    def restore(self, state: Mapping[str, Mapping[str, Any]]) -> None:
        pass

    def interrupt(self) -> None:
        """End what is running, if there is anything; another thread may say so."""
        self.session.sparkContext.cancelAllJobs()

    # Answers

    def compile(
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
        return SparkReport(self, query, instants, last_end)

    def told(self, query: ContinuousQuery) -> ClosingReport | None:
        """When windows close, as far as it is known without a statement."""
        report = closing_report(query, self.tables)
        if report is None or any(stream.history is not None and not stream.told for stream in self._streams.values()):
            return None
        for iri, stream in self._streams.items():
            for rows in stream.told or [stream.rows]:
                report.note(iri, rows)
        return report

    # Forgetting

    def uncounted(self, query: ContinuousQuery, stream: str) -> pa.Table:
        statement = compile_uncounted(query, self.tables_for(query), stream)
        return self.frame(statement, {"first": -FOREVER // 2, "last": FOREVER}).toArrow()

    def oldest(self, need: Need, stream: str) -> int:
        """The timestamp before which the query needs nothing of a stream."""
        if need.horizon is None:
            return -FOREVER
        oldest = oldest_needed(need.query, self.tables, stream, need.horizon)
        if oldest is None:
            oldest = self.value(
                compile_oldest(need.query, self.tables_for(need.query), stream), {"horizon": need.horizon}
            )
        return -FOREVER if oldest is None else oldest

    def evict(self, needs: Sequence[Need]) -> int:
        self._forget_reached()
        for iri, stream in self._streams.items():
            if not stream.rows.num_rows:
                continue  # a history is answered at once
            reading = [need for need in needs if reads(need.query.dataset, iri, self.tables)]
            is_old = pc.less(stream.rows["ts"], min((self.oldest(need, iri) for need in reading), default=FOREVER))
            in_time = stream.rows.filter(pc.and_(is_old, pc.is_null(stream.rows["since"])))
            stream.passed += pc.count_distinct(in_time["element"]).as_py()
            stream.rows = stream.rows.filter(pc.invert(is_old))
            stream.is_seen = False
        return sum(stream.rows.num_rows for stream in self._streams.values())

    # Statements

    def frame(self, statement: exp.Query, parameters: Mapping[str, int | None]) -> DataFrame:
        """What the statement selects, not yet computed."""
        self._show()
        names = {placeholder.this for placeholder in statement.find_all(exp.Placeholder)}
        given = {name: value for name, value in {**self.passed, **parameters}.items() if name in names}

        return self._run(statement, given)

    def selected(self, statement: exp.Query, most: int) -> DataFrame:
        """What a statement without parameters selects from graphs, not yet computed.

        Raises `ClosureTooLargeError` where paths connect more pairs than `most`.
        """
        return self._run(statement, {}, most)

    def to_persist(self, statement: exp.Query, most: int) -> DataFrame | None:
        """The same, as Spark knows it again when it has been persisted; None where the text would be too long."""
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
        """What is still to be read of it is computed again."""
        for frame in self._reached:
            frame.unpersist()
        self._reached.clear()

    def _sql(self, query: exp.Query, parameters: Mapping[str, int | None]) -> DataFrame:
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
        """Values as a relation: in the text of the statement, or many of them as a view."""
        if len(next(iter(columns.values()))) > _MANY:
            view = f"{self._prefix}_{next(_NUMBERS)}"
            self.session.createDataFrame(pa.table(dict(columns))).createOrReplaceTempView(view)
            return exp.select("*").from_(view)
        rows = [exp.Tuple(expressions=[exp.convert(v) for v in row]) for row in zip(*columns.values(), strict=True)]
        names = [exp.to_identifier(name) for name in columns]
        values = exp.Values(expressions=rows, alias=exp.TableAlias(this=exp.to_identifier("listed"), columns=names))
        return exp.select("*").from_(values)

    def _show(self) -> None:
        """The views show what has been appended."""
        for stream in self._streams.values():
            if not stream.is_seen:
                self.session.createDataFrame(stream.rows).createOrReplaceTempView(stream.table)
                stream.is_seen = True


@dataclass(frozen=True, slots=True)
class SparkQuery:
    """`may_skip_instants`: it does no harm to number instants at which nothing is reported, too."""

    engine: SparkEngine
    plan: Callable[[Operator, Shape], Plan]
    best: Callable[[], Operator]
    """The expression to run, as things are now."""
    may_skip_instants: bool
    longest: int | None
    """How long anything holds at most, if that is known."""
    demanded: Demanded | None = None
    """Where this does not hold, nothing is run."""
    _plans: dict[tuple[Operator, Shape, Hashable], Plan] = field(default_factory=dict)

    @property
    def variables(self) -> tuple[str, ...]:
        """The same in every plan of the expression."""
        best, layout = self.best(), self.engine.layout
        known = (plan for (of, _, then), plan in self._plans.items() if of == best and then == layout)
        return (next(known, None) or self._compiled(Shape(is_regular=True, is_distributed=True))).variables

    @property
    def joins_streams(self) -> bool:
        """Joins go by slices anyway."""
        return False

    def evaluate(self, part: Slice) -> Solutions:
        if self.demanded is not None and not self.demanded.may_hold_in(part):
            return Solutions.at_instants([], part.instants)
        statement, sorting = _with_keys(self._compiled_for(part).statement)
        found = self._frame(part, statement).repartition(1).sortWithinPartitions(*sorting)
        with checked_stack():
            table = found.toArrow()
        columns = table.columns[: len(table.columns) - len(sorting)]
        rows = list(zip(*(column.to_pylist() for column in columns), strict=True))
        return Solutions.at_instants(rows, part.instants)

    def frame(self, part: Slice) -> DataFrame:
        """The solutions, in no order."""
        statement = self._compiled_for(part).statement.copy()
        statement.set("order", None)
        return self._frame(part, statement)

    def _compiled_for(self, part: Slice) -> Plan:
        numbers, step = self._numbers(_times(part))
        has_slices = numbers[-1] > 2 * self._slice(step)
        cores = self.engine.session.sparkContext.defaultParallelism
        shape = Shape(
            is_regular=step is not None,
            is_large=False,
            is_distributed=True,
            has_slices=has_slices,
            has_many_instants=len(part.instants) >= _INSTANTS_PER_CORE * cores,
        )
        return self._compiled(shape)

    def _slice(self, step: int | None) -> int:
        """How many instants are searched at a time for what holds together."""
        return FOREVER if step is None or self.longest is None else _WINDOWS_PER_SLICE * max(self.longest // step, 1)

    def _frame(self, part: Slice, statement: exp.Select) -> DataFrame:
        times = _times(part)
        numbers, step = self._numbers(times)
        reported = [place > 0 or part.previous is None for place in range(len(times))]
        instants = self.engine.listed({"k": numbers, "t": times, "is_reported": reported})
        parameters = {
            "first": times[0],
            "last": times[-1],
            "count": numbers[-1] + 1,
            "step": step,
            "slice": self._slice(step),
        }
        return self.engine.frame(with_parts(statement, [(INSTANTS, instants), *parts_of(statement)]), parameters)

    def _numbers(self, times: Sequence[int]) -> tuple[list[int], int | None]:
        """The numbers of instants; those that are a step apart are counted off."""
        step = reduce(gcd, (later - earlier for earlier, later in pairwise(times)), 0) or 1
        steps = (times[-1] - times[0]) // step
        if steps + 1 == len(times) or (self.may_skip_instants and steps < _SKIPPED + 2 * len(times)):
            return [(time - times[0]) // step for time in times], step
        return list(range(len(times))), None

    def _compiled(self, shape: Shape) -> Plan:
        key = self.best(), shape, self.engine.layout
        if key not in self._plans:
            for old in [known for known in self._plans if known[2] != key[2]]:
                del self._plans[old]
            self._plans[key] = self.plan(*key[:2])
        return self._plans[key]


def _times(part: Slice) -> list[int]:
    return [*([] if part.previous is None else [part.previous]), *part.instants]


_WINDOWS_PER_SLICE = 4
"""What holds for a window's length is in one or two slices, mostly in one."""

_INSTANTS_PER_CORE = 8
"""With so many of them it does no harm that some have more rows than others."""

_SKIPPED = 1000
"""So many instants at which nothing is reported may be numbered at least."""


def _with_keys(statement: exp.Select) -> tuple[exp.Select, list[Column]]:
    """What is sorted by, in columns of its own, and how: to sort it all Spark would first run a job that samples it."""
    statement = statement.copy()
    order = statement.args["order"].pop()
    sorting: list[Column] = []
    for place, key in enumerate(order.expressions):
        name = f"sorted_by_{place}"
        value = key.this if isinstance(key, exp.Ordered) else key
        statement = statement.select(exp.alias_(value, name, copy=False), copy=False)
        sorting.append(_SORTING[bool(key.args.get("desc")), bool(key.args.get("nulls_first"))](sf.col(name)))
    return statement, sorting


_SORTING: Mapping[tuple[bool, bool], Callable[[Column], Column]] = {
    (False, False): Column.asc_nulls_last,
    (False, True): Column.asc_nulls_first,
    (True, False): Column.desc_nulls_last,
    (True, True): Column.desc_nulls_first,
}


@dataclass(frozen=True, slots=True)
class SparkReport:
    engine: SparkEngine
    query: ContinuousQuery
    plan: InstantsPlan
    last_end_statement: exp.Select

    def instants(self, first: int, last: int, end: int | None) -> list[int]:
        told = self.engine.told(self.query)
        if told is not None:
            return told.instants(first, last, end)
        self.plan.check(first, last)
        found = self.engine.rows(self.plan.statement, {"first": first, "last": last, "end": end})
        return [instant for (instant,) in found]

    def last_end(self, first: int) -> int | None:
        told = self.engine.told(self.query)
        if told is not None:
            return told.last_end(first)
        return self.engine.value(self.last_end_statement, {"first": first, "last": FOREVER})


def _told_by_steps(queries: Sequence[ContinuousQuery], tables: Tables) -> RangeWindow | None:
    """The window that tells all instants of all queries, if it is one, and those of a step see the same."""
    windows: set[RangeWindow] = set()
    for query in queries:
        report = closing_report(query, tables)
        if report is None or query.dataset.counts_elements:
            return None
        windows |= report.windows
    if len(windows) != 1:
        return None
    (window,) = windows
    return window if window.width % window.step == 0 else None
