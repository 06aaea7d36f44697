"""Windows that outgrow the driver: Spark SQL over the segments of the window log."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import ClassVar, NamedTuple
from weakref import WeakSet

import pyarrow as pa
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as sf
from sqlglot import exp

from penstock.algebra.model import ContinuousQuery
from penstock.algebra.operators import Operator
from penstock.algebra.windows import RangeWindow
from penstock.engines.closings import Closings, closing_report, content
from penstock.engines.later_views import LaterViews
from penstock.engines.matcher import Demanded, PatternMatcher
from penstock.engines.noted_reports import NotedReport
from penstock.engines.protocol import Asked, Capabilities, CompiledReport, Need, Seen
from penstock.engines.spark.patterns import provide
from penstock.engines.spark.session import checked_stack
from penstock.engines.spark.statements import SparkQuery
from penstock.engines.spark.store import SparkStore, figures_of
from penstock.engines.spark.window_log import WindowLog
from penstock.relational.answers import Delivery
from penstock.relational.demand import Demand, demand_of
from penstock.relational.functions.expansion import expanded
from penstock.relational.spark_sql import CHANGING, to_spark
from penstock.relational.tables import Tables
from penstock.relational.windows import passed
from penstock.sources.graphs import Graph


class _Closing(NamedTuple):
    """A window over a stream whose closings depend on the arriving rows, after an instant or in general."""

    stream: str
    window: RangeWindow
    after: int | None


class ClusterWindows(SparkStore):
    """Statements over the log; its owner appends to it and evicts from it."""

    capabilities: ClassVar = Capabilities(admits_queries=True, restarts=False, answers_at_once=False)

    def __init__(self, session: SparkSession, log: WindowLog) -> None:
        super().__init__(session)
        self._log = log
        self._graph_session = session
        """The views include those of graphs."""
        self._reports: WeakSet[NotedReport[Closings]] = WeakSet()
        """The statements of queries that still run."""
        self._matcher = PatternMatcher()
        self._later = LaterViews(lambda text: self.session.sql(text))
        self._shown: dict[str, list[str]] = {}
        """The segments that the view of each stream reads."""
        for iri, stream in log.streams.items():
            self.add_stream(iri, is_produced=stream.is_produced, is_named=stream.is_named)
            greatest = [log.segments[segment][iri].greatest for segment in log.having(iri)]
            if greatest:
                self._matcher.note_anything(iri, max(greatest))

    def move_to(self, session: SparkSession) -> None:
        """Continue in the session of the micro-batches, which has the views of the session they were started from."""
        self.session = session
        self._shown.clear()

    def clear(self) -> None:
        self._later.keep(())
        for view in [*self._graphs.values(), *(part.view for part in self._changed.values())]:
            self._graph_session.catalog.dropTempView(view)
        super().clear()

    def load_graph(self, iri: str | None, graph: Graph) -> None:
        """The view has to be in the session that the micro-batches are started from."""
        super().load_graph(iri, graph)
        self._show_graphs()

    # Appended rows

    def note(self, stream: str, rows: pa.Table) -> None:
        """The driver has appended these rows."""
        for report in self._reports:
            report.note(stream, rows)
        predicates = self.observed.note(self._streams[stream].table, rows["p"])
        self._matcher.note(stream, rows, set(predicates))

    def note_large(self, segment: str, counts: Mapping[str, Mapping[str, int]]) -> None:
        """Executors have appended a segment, with these counts of triples by predicate in each stream."""
        for iri, found in counts.items():
            share = self._log.segments[segment][iri]
            self.observed.count(self._streams[iri].table, found, share.triples)
            self._matcher.note_predicates(iri, found.keys(), share.greatest)
        for closing in set(chain.from_iterable(map(_closings_in, self._reports))):
            if closing.stream in counts:
                self._note_closings(closing, [segment], self._reports)

    # Closings

    def compile_report(self, query: ContinuousQuery) -> CompiledReport:
        report = closing_report(query, self.tables)
        if report is None:
            return super().compile_report(query)
        self._reports.add(report)
        for closing in _closings_in(report):
            self._note_closings(closing, self._log.having(closing.stream), [report])
        return report

    def _note_closings(
        self, closing: _Closing, segments: Sequence[str], reports: Iterable[NotedReport[Closings]]
    ) -> None:  # fmt: skip
        """A job reads the input of reports: the steps with content, and the first instant that sees each."""
        if not segments:
            return
        rows = self._log.frame(self.session, closing.stream, segments)
        told = rows.select(_first_seen(closing).alias("told")).where("told IS NOT NULL").distinct().collect()
        times, since = zip(*(row["told"] for row in told), strict=True) if told else ((), ())
        for report in reports:
            for stream, closings in report.windows:
                if closing == (stream, closings.window, report.after):
                    closings.note(content(times, since))

    # Streams

    def rows_of(self, stream: str) -> DataFrame:
        return self._log.frame(self.session, stream, self._log.having(stream))

    def _has_all(self, stream: str) -> bool:
        return self._log.has_all(stream)

    def _show(self) -> None:
        for iri, stream in self._streams.items():
            having = self._log.having(iri)
            if self._shown.get(iri) != having:
                self.rows_of(iri).createOrReplaceTempView(stream.table)
                self._shown[iri] = having

    def seen(self, stream: str, after: int | None, *, lately: bool = False) -> Seen:
        segments = self._log.having(stream)[-1 if lately else 0 :]
        return figures_of(self._log.frame(self.session, stream, segments), after)

    def lacking(self, asked: Sequence[Asked]) -> set[Asked]:
        """Only the predicates of evicted segments are known."""
        if all(map(self._has_all, self._streams)):
            return super().lacking(asked)
        arrived = [stream.predicates for stream in self._log.streams.values()]
        if None in arrived:
            return set()
        known = set(chain.from_iterable(filter(None, arrived)))
        tables = self.tables
        graphs = [*tables.graphs.values(), *tables.changed.values()]
        unseen = [(predicate, object_) for predicate, object_ in asked if predicate not in known]
        return {(p, object_) for p, object_ in unseen if not any(tables.may_match(view, p) for view in graphs)}

    # Evicting

    def count_later(self, stream: str, after: int, passed: int) -> None:
        """Sets how many elements in time, of those after an instant, have been evicted from the stream."""
        self._later.count(self._streams[stream].table, after, passed)

    def evict(self, needs: Sequence[Need], until: int | None) -> int:
        """The log contains only needed rows."""
        self._forget_reached()
        return self._log.triples

    def forget(self, needs: Sequence[Need], until: int) -> None:
        self._later.keep({need.query.dataset.after for need in needs})

    @property
    def passed(self) -> Mapping[str, int]:
        gone = {passed(view.table): self._log.streams[iri].passed for iri, view in self._streams.items()}
        return {**gone, **self._later.passed}

    # Statements

    def tables_for(self, query: ContinuousQuery) -> Tables:
        if query.dataset.after is not None:
            self._show()  # for the views over it
        return self._later.tables(self.tables, query.dataset.after)

    def compile(
        self, query: ContinuousQuery, expression: Operator, delivery: Delivery, *, is_optimized: bool = True
    ) -> SparkQuery:
        def demand() -> Demand:
            return demand_of(query, expression, self.tables_for(query), self._matcher.watch)

        compiled = self.compile_sql(query, expression, delivery, is_optimized=is_optimized)
        return replace(compiled, demanded=Demanded(lambda: self.layout, demand, compares=delivery != "rstream"))

    def _sql(self, query: exp.Query, parameters: Mapping[str, int | None]) -> DataFrame:
        texts = {name: str(value) for name, value in parameters.items() if name in CHANGING and value is not None}
        statement = expanded(to_spark(query, repeated=True))
        provide(self.session, statement)
        with checked_stack():
            return self.session.sql(statement, {**parameters, **texts})


def _closings_in(report: NotedReport[Closings]) -> set[_Closing]:
    return {_Closing(stream, closings.window, report.after) for stream, closings in report.windows}


def _first_seen(closing: _Closing) -> Column:
    """For a row, the first millisecond of its step and the first closing that sees it: the input of reports."""
    window = closing.window
    time, step = sf.col("ts"), sf.lit(window.step)
    first = sf.lit(window.origin + window.width)
    start = sf.greatest(time, sf.col("since"))
    seen = start + sf.pmod(first - start, step)
    counts = sf.col("s").isNotNull()
    if window.begins:
        seen = sf.greatest(seen, first)
        counts &= time > window.origin
    if closing.after is not None:
        counts &= time > closing.after
    return sf.when(counts, sf.struct(time - sf.pmod(time - sf.lit(window.origin + 1), step), seen))
