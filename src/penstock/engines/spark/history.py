"""Complete streams on Spark: executors read them in Python, and all evaluation instants are answered at once."""

from __future__ import annotations

import shutil
import tempfile
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import ClassVar

import pyarrow as pa
from pyspark import Broadcast
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sf

from penstock.algebra.model import ContinuousQuery
from penstock.algebra.operators import Operator
from penstock.algebra.windows import RangeWindow
from penstock.engines.arrivals import numbered, stamped
from penstock.engines.closings import Closings, closing_report
from penstock.engines.noted_reports import NotedReport
from penstock.engines.protocol import (
    Appended,
    Capabilities,
    CompiledReport,
    IntakeBatch,
    Need,
    Reached,
    Seen,
    WholeStream,
    Windows,
)
from penstock.engines.spark.coverage import reason_for_sql
from penstock.engines.spark.executors import have_penstock
from penstock.engines.spark.range_queries import HistoryQuery, StreamRanges
from penstock.engines.spark.range_tasks import ShippedGraphs, StreamReader, shipped_graph
from penstock.engines.spark.row_slices import StreamRows
from penstock.engines.spark.store import SparkStore, StreamView
from penstock.engines.spark.survey import (
    Survey,
    stamped_rows,
    survey_by_steps,
    survey_of,
    survey_one_by_one,
    survey_ranges,
    with_since,
)
from penstock.rdf.elements import Malformed
from penstock.relational.answers import Delivery
from penstock.relational.tables import Tables, reads
from penstock.sources.batches import Source
from penstock.sources.graphs import Graph, MergedGraph, TableGraph
from penstock.sources.spark.frames import FrameGraph, FrameHistory, FrameSource
from penstock.sources.spark.history import History, history_of
from penstock.sources.spark.ranges import with_decoded

_MOST_TRIPLES = 5_000_000
"""Graphs with more triples are not shipped to each worker."""

_PRODUCED = pa.schema(
    [(name, pa.string()) for name in ("s", "p", "o")]
    + [(name, pa.int64()) for name in ("ts", "element", "arrival", "since")]
)


@dataclass(frozen=True, slots=True)
class _Kept:
    """The rows of a stream, and the instants at which windows close with content, as far as they are known."""

    rows: Callable[[], DataFrame]
    closings: Mapping[RangeWindow, Closings]


class HistoryStore(SparkStore):
    """Complete streams. The driver holds the streams that queries produce."""

    evaluated_by = "DuckDB in the executors, or Spark SQL"
    capabilities: ClassVar = Capabilities(admits_queries=False, restarts=False, answers_at_once=True)

    def __init__(self, session: SparkSession, *, windows: Windows = "auto") -> None:
        super().__init__(session)
        self._windows = windows
        self.lateness = 0
        self.complete: dict[str, StreamRanges | StreamRows] = {}
        """The streams whose rows tasks can have: those that are read in ranges, and DataFrames."""
        self._sources: dict[str | None, Graph] = {}
        self._shipped: Broadcast[ShippedGraphs] | None = None
        self._whole: dict[str, _Kept] = {}
        self._produced: dict[str, pa.Table] = {}
        self._persisted: list[DataFrame] = []
        self._decoded = Path(tempfile.mkdtemp(prefix="penstock-", dir=_local_folder(session)))
        self._clean = weakref.finalize(self, shutil.rmtree, self._decoded, ignore_errors=True)

    def clear(self) -> None:
        super().clear()
        for folder in self._decoded.glob("*"):
            shutil.rmtree(folder)
        for frame in self._persisted:
            frame.unpersist()
        self._whole, self._produced, self._persisted = {}, {}, []
        self.complete, self._sources, self._triples, self._shipped = {}, {}, {}, None

    def close(self) -> None:
        super().close()
        self._clean()

    # Graphs

    def load_graph(self, iri: str | None, graph: Graph) -> None:
        super().load_graph(iri, graph)
        rows = self._unshown[self._graphs[iri]]
        self._sources[iri] = TableGraph(graph.name, rows) if isinstance(rows, pa.Table) else graph
        self._shipped = None

    @property
    def shipped_graphs(self) -> Broadcast[ShippedGraphs]:
        """The graphs for executors; each executor receives them once."""
        if self._shipped is None:
            shipped = {iri: shipped_graph(graph) for iri, graph in self._sources.items()}
            self._shipped = self.session.sparkContext.broadcast(shipped)
        return self._shipped

    # Streams

    def append(
        self, batch: IntakeBatch[Mapping[str, WholeStream]], reached: Mapping[str, Reached], lateness: int
    ) -> Appended:  # fmt: skip
        """Survey the timestamps of complete streams: when they begin and end, and whether any element is late."""
        self.lateness = lateness
        seen: dict[str, Seen] = {}
        malformed: list[tuple[str, History | FrameHistory]] = []
        for iri, stream in (batch.rows or {}).items():
            windows = [] if stream.queries is None else _closing_windows(stream.queries, iri, self.tables)
            if isinstance(stream.source, FrameSource):
                history = FrameHistory(stream.source)
                found = self._take_frame(iri, history, stream.queries, lateness)
                malformed.append((iri, history))
            else:
                whole = self._in_ranges(stream.source)
                surveys = survey_ranges(self.session, whole.ranges, windows, lateness)
                found = survey_of(surveys, windows)
                is_named = self._streams[iri].is_named
                rows = partial(stamped_rows, self.session, whole.ranges, surveys, lateness, is_named=is_named)
                self.complete[iri] = StreamRanges(whole.ranges, surveys)
                self._whole[iri] = _Kept(rows, found.closings)
                if any(survey.malformed for survey in surveys):
                    malformed.append((iri, whole))
            self._streams[iri].elements = found.seen.elements
            seen[iri] = found.seen
        return Appended(seen, _malformed(malformed))

    def _in_ranges(self, source: Source) -> History:
        """A stream whose decoded rows are kept in a folder of their own."""
        whole = history_of(self.session, source)
        folder = self._decoded / str(len(self.complete))
        folder.mkdir()
        return replace(whole, ranges=with_decoded(whole.ranges, folder))

    def _take_frame(
        self, iri: str, history: FrameHistory, queries: Sequence[ContinuousQuery] | None, lateness: int
    ) -> Survey:
        rows = self._persist(history.rows(is_named=self._streams[iri].is_named))
        window = None if queries is None else _told_by_steps(queries, self.tables)
        found = None if window is None else survey_by_steps(rows, window, lateness)
        if found is not None:  # no element is late for an instant
            rows = rows.withColumn("since", sf.lit(None).cast("bigint"))
        else:
            rows = self._persist(with_since(rows, lateness))
            found = survey_one_by_one(rows)
        self._whole[iri] = _Kept(lambda: rows, found.closings)
        if have_penstock(self.session):
            self.complete[iri] = StreamRows(rows)
        return found

    def _persist(self, frame: DataFrame) -> DataFrame:
        self._persisted.append(frame.persist())
        return self._persisted[-1]

    def append_produced(self, number: int, stream: str, rows: pa.Table) -> Seen:
        view = self._streams[stream]
        rows, seen = stamped(rows, Reached(), 0)
        rows = _in_columns(numbered(rows, view.elements, view.arrived), view)
        self._produced[stream] = pa.concat_tables([self._produced[stream], rows]) if stream in self._produced else rows
        view.elements += seen.elements
        view.arrived += rows.num_rows
        view.is_shown = False
        return seen

    def rows_of(self, stream: str) -> DataFrame:
        if stream in self._whole:
            return self._whole[stream].rows()
        view = self._streams[stream]
        return self.session.createDataFrame(self._produced.get(stream, _in_columns(_PRODUCED.empty_table(), view)))

    def _has_all(self, stream: str) -> bool:
        return True

    def evict(self, needs: Sequence[Need], until: int | None) -> int:
        """Only the results of property paths for the slice: there is no other slice."""
        self._forget_reached()
        return sum(rows.num_rows for rows in self._produced.values())

    def forget(self, needs: Sequence[Need], until: int) -> None:
        self._forget_reached()

    # Answers

    def compile(
        self, query: ContinuousQuery, expression: Operator, delivery: Delivery, *, is_optimized: bool = True
    ) -> HistoryQuery:
        by_sql = self.compile_sql(query, expression, delivery, is_optimized=is_optimized)
        return HistoryQuery(self, query, expression, delivery, by_sql, is_optimized=is_optimized)

    @property
    def readers(self) -> list[StreamReader]:
        return [StreamReader(iri, view.is_produced, view.is_named) for iri, view in self._streams.items()]

    def reason_for_sql(self, query: ContinuousQuery, delivery: Delivery) -> str | None:
        """The reason why Spark SQL answers a query; None if it is answered by ranges."""
        if self._windows == "cluster":
            return "the setting windows=cluster"
        if self._services:
            return "it asks a service"
        if self._changed:
            return "a graph changes during the run"
        if sum(self._triples.values()) > _MOST_TRIPLES:
            return "its graphs are too large for each executor"
        if self._reads_rows(query) and any(map(_is_in_spark, self._sources.values())):
            return "its streams and a graph are DataFrames, which stay in Spark"
        return reason_for_sql(query, delivery, self.tables, self.complete)

    def _reads_rows(self, query: ContinuousQuery) -> bool:
        rows = [iri for iri, known in self.complete.items() if isinstance(known, StreamRows)]
        return any(reads(query.dataset, iri, self.tables) for iri in rows)

    # Reports

    def compile_report(self, query: ContinuousQuery) -> CompiledReport:
        return _HistoryReport(self, query, super().compile_report(query))

    def closings(self, query: ContinuousQuery) -> NotedReport[Closings] | None:
        """The closing instants of windows, if they are known without a statement."""
        report = closing_report(query, self.tables)
        for stream, closings in [] if report is None else report.windows:
            if stream in self._whole:
                known = self._whole[stream].closings.get(closings.window)
                if known is None:
                    return None
                closings.add(known)
        if report is not None:
            for stream, rows in self._produced.items():
                report.note(stream, rows)
        return report


@dataclass(frozen=True, slots=True)
class _HistoryReport:
    """Called when the streams have been surveyed: then it is known whether their closings determine the instants."""

    store: HistoryStore
    query: ContinuousQuery
    by_statement: CompiledReport

    @property
    def _best(self) -> CompiledReport:
        return self.store.closings(self.query) or self.by_statement

    def instants(self, first: int, last: int, end: int | None) -> list[int]:
        return self._best.instants(first, last, end)

    def last_end(self, first: int) -> int | None:
        return self._best.last_end(first)


def _is_in_spark(graph: Graph) -> bool:
    parts = graph.parts if isinstance(graph, MergedGraph) else [graph]
    return any(isinstance(part, FrameGraph) for part in parts)


def _local_folder(spark: SparkSession) -> str | None:
    """Spark's folder for temporary files; None for that of the system."""
    found: str | None = spark.conf.get("spark.local.dir", None)
    return found if found is not None and Path(found).is_dir() else None


def _malformed(histories: Sequence[tuple[str, History | FrameHistory]]) -> Iterator[tuple[str, Malformed]]:
    """A job reads it, on request."""
    for iri, history in histories:
        for row in history.malformed().toLocalIterator():
            yield iri, Malformed(*row)


def _in_columns(rows: pa.Table, view: StreamView) -> pa.Table:
    if view.is_named and "g" not in rows.column_names:
        rows = rows.append_column("g", pa.nulls(rows.num_rows, pa.string()))
    return rows.select([*_PRODUCED.names, *(["g"] if view.is_named else [])])


def _closing_windows(queries: Sequence[ContinuousQuery], stream: str, tables: Tables) -> set[RangeWindow]:
    """The windows over a stream whose closings are evaluation instants of queries."""
    reports = [closing_report(query, tables) for query in queries]
    read = [pair for report in reports if report is not None for pair in report.windows]
    return {closings.window for iri, closings in read if iri == stream}


def _told_by_steps(queries: Sequence[ContinuousQuery], tables: Tables) -> RangeWindow | None:
    """The window that determines all instants of all queries, if there is only one, and all elements of a step are seen
    together.
    """
    windows: set[RangeWindow] = set()
    for query in queries:
        report = closing_report(query, tables)
        if report is None or query.dataset.counts_elements:
            return None
        windows |= {closings.window for _, closings in report.windows}
    if len(windows) != 1:
        return None
    (window,) = windows
    return window if window.width % window.step == 0 else None
