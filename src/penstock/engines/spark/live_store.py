"""The store of live runs on Spark: the window log, and the evaluator of the windows.

Small windows are evaluated on the driver: a DuckDB there is a cache of the log (`DuckDBStore`). Windows that outgrow a
bound are evaluated by Spark SQL over the segments of the log (`ClusterWindows`). The store switches between the two
between batches, in either direction. The log contains all rows, so a new evaluator reads them there.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Generic, Literal, TypeAlias, TypeVar

import pyarrow as pa
from pyoxigraph import Triple
from pyspark.sql import SparkSession

from penstock.algebra.inputs import GraphTriple
from penstock.algebra.model import ContinuousQuery
from penstock.algebra.operators import Operator
from penstock.algebra.services import ServiceAnswer, ServiceCall
from penstock.engines.arrivals import stamped
from penstock.engines.duckdb.store import DuckDBStore
from penstock.engines.protocol import (
    Appended,
    Asked,
    Capabilities,
    CompiledQuery,
    CompiledReport,
    IntakeBatch,
    Need,
    Reached,
    Seen,
    Slice,
    Windows,
)
from penstock.engines.solutions import Solutions
from penstock.engines.spark.cluster_windows import ClusterWindows
from penstock.engines.spark.large_batches import write_large
from penstock.engines.spark.session import is_local
from penstock.engines.spark.window_log import WindowLog
from penstock.optimizer import Sizes
from penstock.relational.answers import Delivery
from penstock.relational.static_parts import KeptPart
from penstock.relational.tables import reads
from penstock.relational.windows import FOREVER
from penstock.sources.graphs import Graph
from penstock.sources.spark.bounds import WINDOWS
from penstock.sources.spark.frames import FrameGraph
from penstock.sources.spark.live import LargeBatch

LOG = logging.getLogger("penstock")

Evaluator: TypeAlias = DuckDBStore | ClusterWindows
Compiled = TypeVar("Compiled")

_SETTINGS = {
    # Else each shuffle is a job of its own, and a batch is too small to adapt to.
    "spark.sql.adaptive.enabled": "false",
    # Else a job lists the files of many segments.
    "spark.sql.sources.parallelPartitionDiscovery.threshold": "10000",
}


class LiveStore:
    """A log in a folder, and an evaluator. Executors have to reach the folder if they read or write segments.

    `is_durable`: all segments are in the folder, even if executors do not reach it.
    """

    capabilities: ClassVar = Capabilities(admits_queries=True, restarts=True, answers_at_once=False)

    def __init__(
        self,
        session: SparkSession,
        folder: Path,
        *,
        is_durable: bool,
        windows: Windows = "auto",
    ) -> None:
        self.session = session
        self.log = WindowLog(folder, in_memory=not is_durable and not is_local(session))
        self._is_durable = is_durable
        self._windows = windows
        self._bound = WINDOWS.set_by(session, "windows")
        self._graphs: dict[str | None, Graph] = {}
        self._revised: dict[str | None, dict[Triple, list[GraphTriple]]] = {}
        """The triples of graphs that have been added or deleted, and their validity."""
        self._answers: dict[ServiceCall, Sequence[ServiceAnswer]] = {}
        self._large_graphs: set[str | None] = set()
        """The graphs that stay on the cluster."""
        self.evaluator: Evaluator = self._new("cluster" if windows == "cluster" else "driver")

    # The evaluator

    @property
    def evaluated_by(self) -> str:
        return "DuckDB beside the driver" if self._is_on_driver else "Spark SQL on the cluster"

    @property
    def _is_on_driver(self) -> bool:
        return isinstance(self.evaluator, DuckDBStore)

    def move_to(self, session: SparkSession) -> None:
        """Continue in the session of the micro-batches, which has the views of the session they were started from."""
        for name, value in _SETTINGS.items():
            session.conf.set(name, value)
        self.session = session
        if isinstance(self.evaluator, ClusterWindows):
            self.evaluator.move_to(session)

    def _place(self) -> None:
        """Switch to the other evaluator if windows have outgrown the driver, or fit there again."""
        if self._windows != "auto":
            return
        times = 1 if self._is_on_driver else _TIMES_TO_RETURN
        fits = self._bound.takes(times * self.log.triples, times * self.log.bytes) and not self._large_graphs
        if fits != self._is_on_driver:
            self._change("driver" if fits else "cluster")

    def _change(self, place: Literal["driver", "cluster"]) -> None:
        before, self.evaluator = self.evaluator, self._new(place)
        before.close()
        LOG.info("windows of %d triples are evaluated by %s from now on", self.log.triples, self.evaluated_by)

    def _new(self, place: Literal["driver", "cluster"]) -> Evaluator:
        """The evaluator, with the windows of the log, and the current graphs and answers."""
        found = self._new_driver() if place == "driver" else ClusterWindows(self.session, self.log)
        for counted in self.log.passed_later():
            found.count_later(*counted)
        for name, graph in self._graphs.items():
            found.load_graph(name, graph)
        for name, revised in self._revised.items():
            held = [one for entry in revised.values() for one in entry]
            found.revise_graph(name, list(revised), held, -FOREVER)
        for call, answers in self._answers.items():
            found.load_answers(call, answers)
        return found

    def _new_driver(self) -> DuckDBStore:
        found = DuckDBStore()
        for iri, stream in self.log.streams.items():
            found.add_stream(iri, is_produced=stream.is_produced, is_named=stream.is_named)
            for rows in self.log.tables(iri, self.log.having(iri)):
                found.keep(iri, rows, 0)
            known = {"elements": stream.elements, "arrived": stream.arrived, "passed": stream.passed}
            found.restore_counts(iri, **known, predicates=stream.predicates)
        return found

    # Streams

    def add_stream(self, iri: str, *, is_produced: bool = False, is_named: bool = False) -> None:
        if iri not in self.log.streams:
            self.log.add_stream(iri, is_produced=is_produced, is_named=is_named)
            self.evaluator.add_stream(iri, is_produced=is_produced, is_named=is_named)

    def keeps_names(self, stream: str) -> bool:
        return self.log.streams[stream].is_named

    def elements(self, stream: str) -> int:
        return self.log.streams[stream].elements

    def arrived(self, stream: str) -> int:
        return self.log.streams[stream].arrived

    def append(
        self, batch: IntakeBatch[Mapping[str, pa.Table] | LargeBatch], reached: Mapping[str, Reached], lateness: int
    ) -> Appended:  # fmt: skip
        """Append a batch to the log: tables by their streams, or rows that executors decode."""
        rows = batch.rows
        if isinstance(rows, LargeBatch):
            return self._append_large(batch.number, rows, reached, lateness)
        found = {iri: stamped(table, reached[iri], lateness) for iri, table in (rows or {}).items()}
        return Appended({iri: self._append(batch.number, iri, *part) for iri, part in found.items()})

    def append_produced(self, number: int, stream: str, rows: pa.Table) -> Seen:
        return self._append(number, stream, *stamped(rows, Reached(), 0))

    def _append(self, number: int, iri: str, rows: pa.Table, seen: Seen) -> Seen:
        rows = self.log.write(number, iri, rows, seen)
        before = self.evaluator
        self._place()
        if self.evaluator is before:
            self._note(iri, rows, seen.elements)
        return seen

    def _note(self, iri: str, rows: pa.Table, elements: int) -> None:
        if isinstance(self.evaluator, DuckDBStore):
            self.evaluator.keep(iri, rows, elements)
        else:
            self.evaluator.note(iri, rows)

    def _append_large(
        self, number: int, batch: LargeBatch, reached: Mapping[str, Reached], lateness: int
    ) -> Appended:  # fmt: skip
        written = write_large(self.log, number, batch.rows(), reached, lateness)
        names = list(self.log.streams)
        malformed = ((names[place], entry) for place, entry in batch.malformed())
        if written is None:
            return Appended({}, malformed)
        segment, counts = written
        shares = self.log.segments[segment]
        before = self.evaluator
        self._place()
        if self.evaluator is before and isinstance(before, ClusterWindows):
            before.note_large(segment, counts)
        elif self.evaluator is before:
            for iri, share in shares.items():
                for rows in self.log.tables(iri, [segment]):
                    self._note(iri, rows, share.elements)
        return Appended({iri: share.seen for iri, share in shares.items()}, malformed)

    def seen(self, stream: str, after: int | None, *, lately: bool = False) -> Seen:
        return self.evaluator.seen(stream, after, lately=lately)

    def uncounted(self, query: ContinuousQuery, stream: str) -> pa.Table:
        return self.evaluator.uncounted(query, stream)

    def evict(self, needs: Sequence[Need], until: int | None) -> int:
        """Segments that no query needs are no longer part of the log."""
        oldest = dict.fromkeys(self.log.streams, -FOREVER if until is None else until + 1)
        tables = self.evaluator.tables
        for need in needs:
            for iri in self.log.streams:
                if reads(need.query.dataset, iri, tables):
                    oldest[iri] = min(oldest[iri], self.evaluator.oldest(need, iri))
        instants = {need.query.dataset.after for need in needs}
        self.log.evict(oldest, [after for after in instants if after is not None])
        if not self._is_durable:  # no checkpoint needs the files later
            self.log.clean()
        self.evaluator.evict(needs, until)
        if isinstance(self.evaluator, ClusterWindows):
            for counted in self.log.passed_later():
                self.evaluator.count_later(*counted)
        self._place()
        return self.log.triples

    def forget(self, needs: Sequence[Need], until: int) -> None:
        self.evaluator.forget(needs, until)
        self.log.forget_later({need.query.dataset.after for need in needs})

    # Graphs and services

    def load_graph(self, iri: str | None, graph: Graph) -> None:
        """A large distributed graph stays distributed."""
        self._graphs[iri] = graph
        self._revised.pop(iri, None)
        self._large_graphs.discard(iri)
        if isinstance(graph, FrameGraph) and self._windows == "auto" and graph.frame.count() > _LARGE_GRAPH:
            self._large_graphs.add(iri)
        before = self.evaluator
        self._place()
        if self.evaluator is before:
            before.load_graph(iri, graph)

    @property
    def graphs(self) -> Collection[str | None]:
        return self._graphs.keys()

    @property
    def has_changing_graphs(self) -> bool:
        return self.evaluator.has_changing_graphs

    def held(self, iri: str | None, triples: Sequence[Triple]) -> list[GraphTriple]:
        return self.evaluator.held(iri, triples)

    def revise_graph(
        self, iri: str | None, triples: Sequence[Triple], held: Sequence[GraphTriple], needed: int
    ) -> None:  # fmt: skip
        revised = self._revised.setdefault(iri, {})
        revised.update({triple: [one for one in held if one.triple == triple] for triple in triples})
        self.evaluator.revise_graph(iri, triples, held, needed)

    @property
    def services(self) -> Collection[ServiceCall]:
        return self._answers.keys()

    def load_answers(self, call: ServiceCall, answers: Sequence[ServiceAnswer]) -> None:
        self._answers[call] = answers
        self.evaluator.load_answers(call, answers)

    def lacking(self, asked: Sequence[Asked]) -> set[Asked]:
        return self.evaluator.lacking(asked)

    # Answers

    def compile(
        self, query: ContinuousQuery, expression: Operator, delivery: Delivery, *, is_optimized: bool = True
    ) -> CompiledQuery:
        return _LiveQuery(self, lambda now: now.compile(query, expression, delivery, is_optimized=is_optimized))

    def compile_dataset(self, query: ContinuousQuery) -> CompiledQuery:
        return _LiveQuery(self, lambda now: now.compile_dataset(query))

    def compile_report(self, query: ContinuousQuery) -> CompiledReport:
        return _LiveReport(self, lambda now: now.compile_report(query))

    @property
    def sizes(self) -> Sizes:
        return self.evaluator.sizes

    @property
    def kept(self) -> Sequence[KeptPart]:
        return self.evaluator.kept

    # Restarts

    def clean(self) -> None:
        """Remove the files of segments that no longer count."""
        self.log.clean()

    @property
    def state(self) -> dict[str, Any]:
        return self.log.state

    def restore(self, state: Mapping[str, Any]) -> None:
        self.log.restore(state)
        self._change("driver" if self._is_on_driver else "cluster")
        self._place()

    # The end

    def interrupt(self) -> None:
        self.evaluator.interrupt()

    def close(self) -> None:
        self.evaluator.close()


class _Following(Generic[Compiled]):
    """A query or report that is compiled again for another evaluator."""

    def __init__(self, store: LiveStore, compile: Callable[[Evaluator], Compiled]) -> None:
        self._store, self._compile = store, compile
        self._of = store.evaluator
        self._compiled = compile(self._of)

    @property
    def now(self) -> Compiled:
        if self._of is not self._store.evaluator:
            self._of = self._store.evaluator
            self._compiled = self._compile(self._of)
        return self._compiled


class _LiveQuery(_Following[CompiledQuery]):
    @property
    def variables(self) -> tuple[str, ...]:
        return self.now.variables

    @property
    def joins_streams(self) -> bool:
        return self.now.joins_streams

    def evaluate(self, part: Slice) -> Solutions:
        return self.now.evaluate(part)


class _LiveReport(_Following[CompiledReport]):
    def instants(self, first: int, last: int, end: int | None) -> list[int]:
        return self.now.instants(first, last, end)

    def last_end(self, first: int) -> int | None:
        return self.now.last_end(first)


_TIMES_TO_RETURN = 2
"""Windows return to the driver when they are this many times smaller than its bound."""

_LARGE_GRAPH = 1_000_000
"""A DataFrame with more triples stays on the cluster."""
