"""The window log: rows that arrived and later instants still need, as Parquet segments, one or more for each batch.

A segment is named by its batch; what a query produced for others in it is a segment of its own. A batch that is
repeated after a crash overwrites its segments. Which segments count is part of the state of the run, which is written
last. Without a checkpoint nothing is repeated, so rows that the driver has stay in its memory.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import astuple, replace
from functools import reduce
from itertools import chain
from pathlib import Path
from typing import Any, ClassVar
from weakref import WeakSet

import pyarrow as pa
from pyarrow import parquet
from pyspark.sql import Column, DataFrame, Observation, SparkSession
from pyspark.sql import functions as sf
from sqlglot import exp

from penstock.algebra.model import ContinuousQuery
from penstock.algebra.operators import Operator
from penstock.engines import arrivals
from penstock.engines.closings import ClosingReport, closing_report
from penstock.engines.later_views import LaterViews
from penstock.engines.matcher import Demanded, PatternMatcher
from penstock.engines.protocol import Appended, Asked, Capabilities, CompiledReport, IntakeBatch, Need, Reached, Seen
from penstock.engines.spark.patterns import provide
from penstock.engines.spark.segments import (
    Closing,
    Share,
    closings_in,
    closings_of,
    figures,
    note_closings,
    shares_of,
    stamped,
)
from penstock.engines.spark.session import checked_stack
from penstock.engines.spark.statements import SparkQuery
from penstock.engines.spark.store import SparkStore, figures_of
from penstock.relational.answers import Delivery
from penstock.relational.demand import Demand, demand_of
from penstock.relational.functions.expansion import expanded
from penstock.relational.matching import predicates_of
from penstock.relational.sources import Tables, reads
from penstock.relational.spark_sql import CHANGING, to_spark
from penstock.relational.windows import FOREVER
from penstock.sources.spark.live import LiveBatch

_SEGMENT = "stream int, s string, p string, o string, ts bigint, element bigint, arrival bigint, since bigint"
"""And `g`, the names of elements, where somebody asks for them: a segment may lack it, and then none has a name."""

_ARROW_SEGMENT = pa.schema(
    [("stream", pa.int32()), *((name, pa.string()) for name in ("s", "p", "o"))]
    + [(name, pa.int64()) for name in ("ts", "element", "arrival", "since")]
    + [("g", pa.string())]
)

_STATE = ("is_given", "is_named", "elements", "arrived", "passed")
"""What another process needs to know of a stream."""

_COUNTED = 32
"""So many predicates are counted at most, in each stream."""

_OTHERS = ""
"""In place of a predicate: what nobody asks for by its predicate."""

_SETTINGS = {
    # Else each shuffle is a job of its own, and what a batch has is too little to adapt to.
    "spark.sql.adaptive.enabled": "false",
    # Else the files of many segments are looked for by a job.
    "spark.sql.sources.parallelPartitionDiscovery.threshold": "10000",
}


class WindowLog(SparkStore):
    """A store whose streams are segments. Those in the folder are written by executors, which have to reach it.

    `is_durable`: all segments are in the folder, also those that the driver could hold.
    """

    capabilities: ClassVar = Capabilities(admits_queries=True, restarts=True, answers_at_once=False)

    def __init__(self, session: SparkSession, folder: Path, *, is_durable: bool) -> None:
        super().__init__(session)
        self.folder = folder
        self._is_durable = is_durable
        self._started_from = session
        self.segments: dict[str, dict[str, Share]] = {}
        self._held: dict[str, pa.Table] = {}
        """Segments in the driver's memory."""
        self._reports: WeakSet[ClosingReport] = WeakSet()
        """Those of queries that somebody still asks."""
        self._made: dict[object, list[Column]] = {}
        self._asked: dict[str, None] = {}
        """The predicates of the queries' patterns."""
        self._batch = f"{self._prefix}_batch"
        self._matcher = PatternMatcher()
        self._had: set[str] = set()
        """The predicates that arrived, as far as they were counted."""
        self._has_uncounted = False
        self._later = LaterViews(lambda text: self.session.sql(text))

    def move_to(self, session: SparkSession) -> None:
        """Continue in the session of the micro-batches, which has the views of the one that they were started from."""
        for name, value in _SETTINGS.items():
            session.conf.set(name, value)
        self.session = session

    def clear(self) -> None:
        self._later.keep(())
        for view in [*self._graphs.values(), *(part.view for part in self._changed.values())]:
            self._started_from.catalog.dropTempView(view)
        self.session.catalog.dropTempView(self._batch)
        self._held.clear()
        super().clear()

    # Batches

    def append(
        self, batch: IntakeBatch[LiveBatch | Mapping[str, pa.Table]], reached: Mapping[str, Reached], lateness: int
    ) -> Appended:
        """Keep a micro-batch of Spark, or tables that the driver has read, by their streams."""
        rows = batch.rows
        if isinstance(rows, LiveBatch):
            return self._append_live(batch.number, rows, reached, lateness)
        stamped = {iri: arrivals.stamped(table, reached[iri], lateness) for iri, table in (rows or {}).items()}
        return Appended({iri: self._keep(batch.number, iri, *found) for iri, found in stamped.items()})

    def _append_live(
        self, number: int, batch: LiveBatch, reached: Mapping[str, Reached], lateness: int
    ) -> Appended:  # fmt: skip
        if batch.is_empty:
            return Appended({})
        names = list(self._streams)
        shares = self._take(number, batch.rows(), reached, lateness)
        malformed = ((names[place], entry) for place, entry in batch.malformed())
        return Appended({iri: share.seen for iri, share in shares.items()}, malformed)

    def _take(
        self, number: int, rows: DataFrame, reached: Mapping[str, Reached], lateness: int
    ) -> dict[str, Share]:  # fmt: skip
        """Keep the rows of a batch: what came of each stream.

        The rows have the place of their stream among the streams (`stream`), s, p, o, ts, and numbers `element` and
        `arrival` that grow in the order of the input; and `g`, if the names of elements are kept of any stream.
        """
        observation, closings = Observation(), self._closings
        figures = self._figures(closings)
        kept = self._stamped(rows, reached, lateness).observe(observation, *figures).drop("begins")
        kept.write.mode("overwrite").parquet(str(self._path(str(number))))
        found = observation.get
        shares = shares_of(list(self._streams), found)
        self._observe(shares, found)
        for place, closing in enumerate(closings):
            for report in self._reports:
                note_closings(report, closing, found[f"told_{place}"])
        self._count(str(number), shares)
        return shares

    def give(self, number: int, stream: str, rows: pa.Table) -> Seen:
        return self._keep(number, stream, *arrivals.stamped(rows, Reached(), 0))

    def _keep(self, number: int, stream: str, rows: pa.Table, seen: Seen) -> Seen:
        """Keep rows that the driver has, with `since`."""
        known, place = self._streams[stream], list(self._streams).index(stream)
        segment = f"{number}-{place}"
        rows = arrivals.numbered(rows, known.elements, known.arrived)
        columns = ["s", "p", "o", "ts", "element", "arrival", "since"]
        if known.is_named and "g" in rows.column_names:
            columns.append("g")
        rows = rows.select(columns).add_column(0, "stream", pa.repeat(pa.scalar(place, pa.int32()), rows.num_rows))
        if self._is_durable:
            self._path(segment).mkdir(parents=True, exist_ok=True)
            parquet.write_table(rows, self._path(segment) / "part-0.parquet")
        else:
            self._held[segment] = rows
        for report in self._reports:
            report.note(stream, rows)
        predicates = set(self.observed.note(known.table, rows["p"]))
        self._had |= predicates
        self._matcher.note(stream, rows, predicates)
        assert seen.greatest is not None
        share = Share(rows.num_rows, seen.elements, arrivals.count_in_time(rows), seen.least, seen.greatest)
        self._count(segment, {stream: share})
        return seen

    def _count(self, segment: str, shares: dict[str, Share]) -> None:
        """The segment counts from now on."""
        self.segments[segment] = shares
        for iri, share in shares.items():
            self._streams[iri].elements += share.elements
            self._streams[iri].arrived += share.triples
            self._streams[iri].is_shown = False

    def _stamped(self, rows: DataFrame, reached: Mapping[str, Reached], lateness: int) -> DataFrame:
        """The rows numbered on, `since` being the watermarks that late ones are behind; `begins` counts elements."""
        known: list[int | None] = []
        for iri, stream in self._streams.items():
            before = reached.get(iri, Reached())
            known += [stream.elements, stream.arrived, before.greatest, before.evaluated]
        values = ",".join("" if value is None else str(value) for value in known)
        rows.createOrReplaceTempView(self._batch)
        parameters = {"batch": self._batch, "known": values, "lateness": lateness}
        is_named = any(stream.is_named and not stream.is_given for stream in self._streams.values())
        return self.session.sql(stamped(is_named=is_named), parameters)

    def _figures(self, closings: tuple[Closing, ...]) -> list[Column]:
        """Made once, as long as they hold."""
        key = streams, _, asked = tuple(self._streams), closings, self._predicates
        if key not in self._made:
            self._made[key] = figures(streams, closings, asked)
        return self._made[key]

    @property
    def _predicates(self) -> tuple[str, ...]:
        """Those that are counted: all that patterns ask for, unless these are too many."""
        return tuple(self._asked) if len(self._asked) <= _COUNTED else ()

    def _observe(self, shares: Mapping[str, Share], found: Mapping[str, Any]) -> None:
        asked = self._predicates
        for place, iri in enumerate(self._streams):
            if iri in shares and not asked:
                self._has_uncounted = True
                self._matcher.note_anything(iri, shares[iri].greatest)
            elif iri in shares:
                counts = {predicate: found[f"asked_{place}_{n}"] for n, predicate in enumerate(asked)}
                rows = shares[iri].triples
                self.observed.count(self._streams[iri].table, {**counts, _OTHERS: rows - sum(counts.values())}, rows)
                present = {predicate for predicate, count in counts.items() if count}
                self._had |= present
                self._matcher.note_predicates(iri, present, shares[iri].greatest)

    def compile(
        self, query: ContinuousQuery, expression: Operator, delivery: Delivery, *, is_optimized: bool = True
    ) -> SparkQuery:
        """What its patterns ask for is counted from now on, as batches come in."""
        self._asked.update(dict.fromkeys(sorted(predicates_of(expression))))

        def demand() -> Demand:
            return demand_of(query, expression, self.tables_for(query), self._matcher.watch)

        compiled = self.compile_sql(query, expression, delivery, is_optimized=is_optimized)
        return replace(compiled, demanded=Demanded(lambda: self.layout, demand, compares=delivery != "rstream"))

    # Closings

    def compile_report(self, query: ContinuousQuery) -> CompiledReport:
        report = closing_report(query, self.tables)
        if report is None:
            return super().compile_report(query)
        self._reports.add(report)
        for closing in closings_in(report):
            if any(closing.stream in segment for segment in self.segments.values()):
                rows = self.rows_of(closing.stream)
                told = rows.select(closings_of(closing).alias("told")).where("told IS NOT NULL").distinct()
                note_closings(report, closing, [row["told"] for row in told.collect()])
        return report

    @property
    def _closings(self) -> tuple[Closing, ...]:
        return tuple(sorted(set(chain.from_iterable(map(closings_in, self._reports))), key=str))

    # Forgetting

    def lacking(self, asked: Sequence[Asked]) -> set[Asked]:
        """Of segments that are forgotten it is known which predicates they had, as far as these were counted."""
        if all(map(self._has_all, self._streams)):
            return super().lacking(asked)
        if self._has_uncounted:
            return set()
        tables = self.tables
        graphs = [*tables.graphs.values(), *tables.changed.values()]
        unseen = [(predicate, object_) for predicate, object_ in asked if predicate not in self._had]
        return {(p, object_) for p, object_ in unseen if not any(tables.may_match(view, p) for view in graphs)}

    def _has_all(self, iri: str) -> bool:
        return self._streams[iri].arrived == sum(self.segments[name][iri].triples for name in self._having(iri))

    def evict(self, needs: Sequence[Need], until: int | None) -> int:
        """Segments that no query needs are no longer part of the log. Their files stay until `clean`."""
        self._forget_reached()
        oldest = dict.fromkeys(self._streams, -FOREVER if until is None else until + 1)
        for need in needs:
            for iri in self._streams:
                if reads(need.query.dataset, iri, self.tables):
                    oldest[iri] = min(oldest[iri], self.oldest(need, iri))
        for segment, shares in list(self.segments.items()):
            if all(share.greatest < oldest[iri] for iri, share in shares.items()):
                self._count_evicted(segment)
                del self.segments[segment]
                self._held.pop(segment, None)
                for iri, share in shares.items():
                    self._streams[iri].passed += share.in_time
                    self._streams[iri].is_shown = False
        return sum(share.triples for shares in self.segments.values() for share in shares.values())

    def _count_evicted(self, segment: str) -> None:
        for iri, share in self.segments[segment].items():
            for view in self._later.of(self._streams[iri].table):
                if share.least is not None and share.least > view.after:
                    view.passed += share.in_time
                elif share.least is not None:
                    rows = self._rows(iri, [segment]).where(f"ts > {view.after} AND since IS NULL")
                    view.passed += rows.select("element").distinct().count()

    def clean(self, kept: Iterable[str]) -> None:
        """Removes the files of all segments but those that count, and others that are kept."""
        known = {*self.segments, *kept}
        for path in self.folder.iterdir() if self.folder.is_dir() else ():
            if path.name not in known:
                shutil.rmtree(path, ignore_errors=True)

    # Queries that come later

    def tables_for(self, query: ContinuousQuery) -> Tables:
        if query.dataset.after is not None:
            self._show()  # for what is made of it
        return self._later.tables(self.tables, query.dataset.after)

    @property
    def passed(self) -> Mapping[str, int]:
        return {**super().passed, **self._later.passed}

    def seen(self, stream: str, after: int | None, *, lately: bool = False) -> Seen:
        segments = self._having(stream)[-1:] if lately else self._having(stream)
        shares = [self.segments[segment][stream] for segment in segments]
        if all(after is None or ((share.least or after) > after and not share.has_late) for share in shares):
            least = min((share.least for share in shares if share.least is not None), default=None)
            greatest = max((share.greatest for share in shares), default=None)
            return Seen(sum(s.elements for s in shares), least, greatest, any(s.has_late for s in shares))
        return figures_of(self._rows(stream, segments), after)

    def forget(self, needs: Sequence[Need], until: int) -> None:
        """No other queries are left: what is made for others goes. What nobody reads goes with `evict`."""
        self._later.keep({need.query.dataset.after for need in needs})
        self._made.clear()

    # Restarts

    @property
    def state(self) -> dict[str, dict[str, Any]]:
        streams = {iri: {name: getattr(stream, name) for name in _STATE} for iri, stream in self._streams.items()}
        segments = {
            segment: {iri: astuple(share) for iri, share in shares.items()} for segment, shares in self.segments.items()
        }
        return {"streams": streams, "segments": segments}

    def restore(self, state: Mapping[str, Mapping[str, Any]]) -> None:
        for iri, known in state["streams"].items():
            self.add_stream(iri, is_given=known["is_given"], is_named=known["is_named"])
            for name, value in known.items():
                setattr(self._streams[iri], name, value)
        self._has_uncounted = True
        self.segments = {
            segment: {iri: Share(*share) for iri, share in shares.items()}
            for segment, shares in state["segments"].items()
        }
        for shares in self.segments.values():
            for iri, share in shares.items():
                self._matcher.note_anything(iri, share.greatest)

    # Statements

    def _sql(self, query: exp.Query, parameters: Mapping[str, int | None]) -> DataFrame:
        texts = {name: str(value) for name, value in parameters.items() if name in CHANGING and value is not None}
        statement = expanded(to_spark(query, repeated=True))
        provide(self.session, statement)
        with checked_stack():
            return self.session.sql(statement, {**parameters, **texts})

    # Views

    def rows_of(self, stream: str) -> DataFrame:
        return self._rows(stream, self._having(stream))

    def _having(self, stream: str) -> list[str]:
        return [segment for segment, shares in self.segments.items() if stream in shares]

    def _rows(self, stream: str, segments: Iterable[str]) -> DataFrame:
        """What segments have of a stream."""
        place, schema = list(self._streams).index(stream), _SEGMENT
        if self._streams[stream].is_named:
            schema = f"{_SEGMENT}, g string"
        held = [self._held[segment] for segment in segments if segment in self._held]
        paths = [str(self._path(segment)) for segment in segments if segment not in self._held]
        frames = [self.session.read.schema(schema).parquet(*paths).where(sf.col("stream") == place)] if paths else []
        if held or not frames:
            whole = pa.concat_tables([_ARROW_SEGMENT.empty_table(), *held], promote_options="default")
            names = [field.partition(" ")[0] for field in schema.split(", ")]
            frames.append(self.session.createDataFrame(whole.select(names)))
        return reduce(DataFrame.unionAll, frames).drop("stream")

    def _path(self, segment: str) -> Path:
        return self.folder / segment
