"""Complete streams on Spark: Spark reads them itself, and all evaluation instants are answered at once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import ClassVar

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sf

from penstock.algebra.model import ContinuousQuery
from penstock.algebra.windows import RangeWindow
from penstock.engines.arrivals import numbered, stamped
from penstock.engines.closings import ClosingReport, closing_report
from penstock.engines.protocol import (
    Appended,
    Capabilities,
    CompiledReport,
    IntakeBatch,
    Need,
    Reached,
    Seen,
    WholeStream,
)
from penstock.engines.spark.session import is_local
from penstock.engines.spark.store import SparkStore, StreamView
from penstock.engines.spark.survey import Survey, survey_by_a_look, survey_by_steps, survey_one_by_one, with_since
from penstock.rdf.elements import Malformed
from penstock.relational.sources import Tables
from penstock.sources.batches import Source
from penstock.sources.spark.frames import FrameHistory, FrameSource
from penstock.sources.spark.history import History, history_of
from penstock.sources.spark.rows import named

_GIVEN = pa.schema(
    [(name, pa.string()) for name in ("s", "p", "o")]
    + [(name, pa.int64()) for name in ("ts", "element", "arrival", "since")]
)


@dataclass(frozen=True, slots=True)
class _Kept:
    """The rows of a stream, and rows that tell when windows close over content, if they are known."""

    rows: DataFrame
    told: pa.Table | None


class HistoryStore(SparkStore):
    """Streams from their beginning to their end. What queries produce for others is with the driver."""

    capabilities: ClassVar = Capabilities(admits_queries=False, restarts=False, answers_at_once=True)

    def __init__(self, session: SparkSession) -> None:
        super().__init__(session)
        self._whole: dict[str, _Kept] = {}
        self._given: dict[str, pa.Table] = {}
        self._persisted: list[DataFrame] = []

    def clear(self) -> None:
        super().clear()
        for frame in self._persisted:
            frame.unpersist()
        self._whole, self._given, self._persisted = {}, {}, []

    # Streams

    def append(
        self, batch: IntakeBatch[Mapping[str, WholeStream]], reached: Mapping[str, Reached], lateness: int
    ) -> Appended:  # fmt: skip
        """Look at the timestamps of complete streams: when they begin and end, and whether anything is late."""
        seen: dict[str, Seen] = {}
        odd: list[tuple[str, History | FrameHistory]] = []
        for iri, stream in (batch.rows or {}).items():
            history = self._history(stream.source, iri)
            found = self._survey(iri, history, stream.queries, lateness)
            self._streams[iri].elements = found.elements
            seen[iri] = Seen(found.elements, found.least, found.greatest, found.has_late)
            if found.has_odd:
                odd.append((iri, history))
        return Appended(seen, _malformed(odd))

    def _history(self, source: Source, scope: str) -> History | FrameHistory:
        if isinstance(source, FrameSource):
            return FrameHistory(source)
        return history_of(self.session, source, scope=scope)

    def _survey(
        self, iri: str, history: History | FrameHistory, queries: Sequence[ContinuousQuery] | None, lateness: int
    ) -> Survey:
        view = self._streams[iri]
        window = None if queries is None else _told_by_steps(queries, self.tables)
        if isinstance(history, History) and history.is_of_lines:
            with ThreadPoolExecutor(1) as beside:
                looking = beside.submit(self._look, history, window, lateness)
                rows = named(history.ordinary_rows(), view.is_named)  # Spark finds the files meanwhile
            found = looking.result() or _survey_of_lines(history, window, lateness)
            if found is not None and not found.has_odd:
                return self._keep(iri, rows, found)
        rows = self._persist(history.rows(is_named=view.is_named))
        found = None
        if window is not None:
            found = survey_by_steps(rows.withColumn("is_odd", sf.lit(False)), window, lateness)
        if found is not None:
            return self._keep(iri, rows, replace(found, has_odd=True))
        rows = self._persist(with_since(rows, lateness))
        self._whole[iri] = _Kept(rows, None)
        return replace(survey_one_by_one(rows), has_odd=True)

    def _look(self, history: History, window: RangeWindow | None, lateness: int) -> Survey | None:
        return survey_by_a_look(history, window, lateness) if is_local(self.session) else None

    def _keep(self, iri: str, rows: DataFrame, survey: Survey) -> Survey:
        """All rows are in time."""
        self._whole[iri] = _Kept(rows.withColumn("since", sf.lit(None).cast("bigint")), survey.told)
        return survey

    def _persist(self, frame: DataFrame) -> DataFrame:
        self._persisted.append(frame.persist())
        return self._persisted[-1]

    def give(self, number: int, stream: str, rows: pa.Table) -> Seen:
        view = self._streams[stream]
        rows, seen = stamped(rows, Reached(), 0)
        rows = _in_columns(numbered(rows, view.elements, view.arrived), view)
        self._given[stream] = pa.concat_tables([self._given[stream], rows]) if stream in self._given else rows
        view.elements += seen.elements
        view.arrived += rows.num_rows
        view.is_shown = False
        return seen

    def rows_of(self, stream: str) -> DataFrame:
        if stream in self._whole:
            return self._whole[stream].rows
        view = self._streams[stream]
        return self.session.createDataFrame(self._given.get(stream, _in_columns(_GIVEN.empty_table(), view)))

    def _has_all(self, stream: str) -> bool:
        return True

    def evict(self, needs: Sequence[Need], until: int | None) -> int:
        """Only what property paths computed for the slice: there is no other slice."""
        self._forget_reached()
        return sum(rows.num_rows for rows in self._given.values())

    def forget(self, needs: Sequence[Need], until: int) -> None:
        self._forget_reached()

    # Reports

    def compile_report(self, query: ContinuousQuery) -> CompiledReport:
        return _HistoryReport(self, query, super().compile_report(query))

    def closings(self, query: ContinuousQuery) -> ClosingReport | None:
        """When windows close, where it is known without a statement."""
        report = closing_report(query, self.tables)
        if report is None or any(kept.told is None for kept in self._whole.values()):
            return None
        for iri, kept in self._whole.items():
            report.note(iri, kept.told)
        for iri, rows in self._given.items():
            report.note(iri, rows)
        return report


@dataclass(frozen=True, slots=True)
class _HistoryReport:
    """Asked when the streams are there: then it is known whether their closings tell the instants."""

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


def _malformed(odd: Sequence[tuple[str, History | FrameHistory]]) -> Iterator[tuple[str, Malformed]]:
    """A job looks for it, when somebody asks."""
    for iri, history in odd:
        for row in history.malformed().toLocalIterator():
            yield iri, Malformed(*row)


def _in_columns(rows: pa.Table, view: StreamView) -> pa.Table:
    if view.is_named and "g" not in rows.column_names:
        rows = rows.append_column("g", pa.nulls(rows.num_rows, pa.string()))
    return rows.select([*_GIVEN.names, *(["g"] if view.is_named else [])])


def _survey_of_lines(history: History, window: RangeWindow | None, lateness: int) -> Survey | None:
    if window is None:
        return None
    return survey_by_steps(history.times().withColumn("s", sf.lit("")), window, lateness)


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
