"""A continuous query in a run: its clock, the instants that the clock has passed, and their answers.

The run records the arrivals in each stream; all instants before the watermark are then evaluated, slice by slice. The
division of the input into batches changes no answer.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from penstock.algebra import ContinuousQuery, Settings, build
from penstock.algebra.element_names import reads_names
from penstock.algebra.inputs import InputError
from penstock.algebra.services import service_calls
from penstock.engines.protocol import CompiledQuery, CompiledReport, Need, Seen, Slice, WindowStore
from penstock.rdf.result_batches import ResultBatch
from penstock.relational.windows import longest_window
from penstock.runtime.checkpoints import State
from penstock.runtime.clock import Clock, StreamClock
from penstock.runtime.evaluators import Evaluator, evaluator_for
from penstock.runtime.log import LOG
from penstock.runtime.reference_data import ReferenceData
from penstock.runtime.settings import RunSettings
from penstock.runtime.slicer import ALL, Slicer
from penstock.sinks.counts import Counts
from penstock.syntax import ast


@dataclass(frozen=True, slots=True)
class Late:
    """Triples of a stream that arrived too late to count: encoded, with their timestamps."""

    stream: str
    triples: pa.Table


@dataclass(frozen=True, slots=True)
class QuerySpec:
    """A query to run: its text, its name, and settings that override its dialect.

    Without a name it has the name that it registers. `on_late` receives elements that do not count for it. `on_failure`
    receives the reason why it is not answered; for the first query, also why reference data is not up to date.
    """

    query: ast.Query
    name: str | None = None
    settings: Settings = field(default_factory=Settings)
    on_late: Callable[[Late], None] = lambda late: None
    on_failure: Callable[[str], None] = LOG.warning
    built: ContinuousQuery | None = None
    """The query with these settings, if it has been built before."""

    @property
    def meaning(self) -> ContinuousQuery:
        """The query with origin 0: with `t0="first"`, the origin is known when the stream begins."""
        return self.built or build(self.query, self.settings)


class RunningQuery:
    """A query and its clock: the instants that the clock has passed are evaluated.

    `streams` are those that it reads, with the lateness of each. A query that joined later sees the input `after` the
    instant that the run had reached, as if the streams began there.
    """

    def __init__(
        self,
        store: WindowStore[Any],
        spec: QuerySpec,
        query: ContinuousQuery,
        streams: Mapping[str, int],
        how: RunSettings,
        *,
        name: str,
        reference_data: ReferenceData,
        after: int | None = None,
    ) -> None:
        self.store = store
        self.after = after
        self.settings = spec.settings
        self.how = how
        self.name = name
        self.names: tuple[str, ...] = (name,)
        """The queries whose answers it produces."""
        self.counts = Counts()
        self.answered: set[str] = set()
        """The names of its queries that have returned a solution, a triple or a boolean."""
        self.on_late = spec.on_late
        self.clock = Clock({iri: StreamClock(lateness) for iri, lateness in streams.items()})
        self.reference_data = reference_data
        self.slicer = Slicer(ALL if store.capabilities.answers_at_once else how.instants_per_slice)
        self._query = replace(query, dataset=replace(query.dataset, after=after))
        """With t0 = 0, until the first element arrives if t0 depends on it."""
        self._with_late: set[str] = set()
        self._judged = dict.fromkeys(streams, 0)
        """Late elements up to this arrival have been reported."""
        self._next: int | None = None
        self._started: _Started | None = None

    def begin(self) -> None:
        """The store knows the streams; a query that knows its origin is complete. Raises as `ReferenceData` does.

        Raises InputError if the query joined too late to read the names of elements.
        """
        for stream in self.clock.streams:
            if reads_names(self._query, stream) and not self.store.keeps_names(stream):
                raise InputError(
                    f"{self.name} reads named graphs of the elements of <{stream}> (GRAPH inside of a window), and "
                    f"this run has not kept their names so far: end it, and start it again with {self.name}"
                )
        self.reference_data.begin(self, service_calls(self._query.text))
        if isinstance(self.settings.origin, int):
            self._start(self.settings.origin)

    @property
    def evaluated(self) -> int | None:
        """All instants before it have been evaluated."""
        return self._next

    @property
    def need(self) -> Need:
        """The rows of the streams that later instants need."""
        known = self._query if self._started is None else self._started.query
        previous, following = self.slicer.previous, self._next
        if following is None and self.after is not None:
            following = self.after + 1
        return Need(known, following if following is None or previous is None else min(following, previous))

    @property
    def position(self) -> tuple[int | None, int | None, int | None]:
        """Queries with equal windows and equal progress have the same answers from now on, if they see the same."""
        return self._next, self.slicer.previous, None if self._started is None else self._started.origin

    @property
    def has_settled(self) -> bool:
        """Whether it sees the same input as if it had been there from the start."""
        if self.after is None:
            return True
        longest, horizon = longest_window(self._query), self.need.horizon
        if None in self.position or longest is None or horizon is None:
            return False
        return horizon - longest >= self.after

    # Restarts

    @property
    def state(self) -> State:
        """The state besides the streams."""
        started = self._started
        return {
            "clock": {iri: [clock.greatest, clock.least, clock.reached] for iri, clock in self.clock.streams.items()},
            "with_late": sorted(self._with_late),
            "judged": self._judged,
            "next": self._next,
            "previous": self.slicer.previous,
            "counts": asdict(self.counts),
            "answered": sorted(self.answered),
            "origin": None if started is None else started.origin,
            "answering": None if started is None else started.answering.state,
        }

    def restore(self, state: State) -> None:
        """Continue from the state of another query."""
        self.reference_data.begin(self, service_calls(self._query.text))
        self._next = state["next"]
        self._with_late = set(state["with_late"])
        self._judged = state["judged"]
        self.slicer.previous = state["previous"]
        self.counts = Counts(**state["counts"])
        self.answered = set(state["answered"])
        for iri, (greatest, least, reached) in state["clock"].items():
            clock = self.clock.streams[iri]
            clock.greatest, clock.least, clock.reached = greatest, least, reached
        if state["origin"] is not None:
            self._start(state["origin"]).answering.state = state["answering"]

    # Input

    def note(self, stream: str, seen: Seen) -> None:
        """Elements of a stream have arrived, at least one."""
        assert seen.greatest is not None
        self.clock.streams[stream].widen(seen.least, seen.greatest)
        self.counts.elements += seen.elements
        if seen.has_late:
            self._with_late.add(stream)

    def reach(self, streams: Collection[str], now: int) -> None:
        """These streams have reached this time: no earlier element will follow."""
        for iri, clock in self.clock.streams.items():
            if iri in streams:
                clock.widen(None, now)

    def note_silence(self, silent: Collection[str]) -> None:
        """These streams are idle, and no others."""
        for iri, clock in self.clock.streams.items():
            clock.is_silent = iri in silent

    def _drop_uncounted(self, query: ContinuousQuery) -> None:
        for stream in sorted(self._with_late):
            late = self.store.uncounted(query, stream)
            late = late.filter(pc.greater_equal(late["arrival"], self._judged[stream]))
            self._judged[stream] = self.store.arrived(stream)
            if late.num_rows:
                self.counts.late += pc.count_distinct(late["element"]).as_py()
                self.on_late(Late(stream, late))
        self._with_late.clear()

    # Instants

    def _start(self, origin: int) -> _Started:
        """The query is complete when its windows know their origin."""
        query, how = self._prepared(origin)
        self._started = _Started(origin, query, self.store.compile_report(query), how)
        return self._started

    def _prepared(self, origin: int) -> tuple[ContinuousQuery, Evaluator]:
        query = self._query.with_origin(origin)
        how = self.how
        return query, evaluator_for(self.store, query, self.name, how.is_optimized, has_empty=how.has_empty)

    def advance(self) -> Iterator[ResultBatch]:
        """Answers every instant before the watermark."""
        watermark, first = self.clock.watermark, self.clock.first
        if watermark is None or first is None or watermark <= first:
            return
        self.counts.watermark = watermark
        yield from self._evaluate(watermark - 1, None)

    def finish(self) -> Iterator[ResultBatch]:
        """The input has ended: the watermark moves to the greatest timestamp of any stream (semantics.md §2)."""
        end = self.clock.last
        if end is None or self.clock.first is None:
            return
        self.counts.watermark = end
        yield from self._evaluate(end, end)
        if self.how.flush and self._started is not None:
            until = self._started.report.last_end(end)
            if until is not None and until > end:
                yield from self._evaluate(until, end)

    def leave(self) -> None:
        """This query ends, but others continue."""
        self.reference_data.leave(self)

    def _evaluate(self, last: int, end: int | None) -> Iterator[ResultBatch]:
        """Evaluates the instants up to the last, which is not before any evaluated one."""
        first = self.clock.first if self._next is None else self._next
        assert first is not None
        if last < first:
            return
        started = self._started or self._start(first - 1)
        self._drop_uncounted(started.query)
        instants = started.report.instants(first, last, end)
        window = started.joined_window if len(instants) > 1 else None
        for part in self.slicer.slices(instants, window):
            self.reference_data.follow(self, part)
            for batch in started.answering.answers(part, end):
                self.counts.evaluations += len(batch)
                self.answered |= batch.answered
                rows = 0 if batch.kind == "boolean" else len(batch.places)
                self.counts.rows += rows
                self.slicer.note(rows)
                yield batch
            self.counts.evaluations += started.answering.left_out
            started.answering.left_out = 0
        self._next = last + 1

    def history(self) -> tuple[CompiledQuery, Slice] | None:
        """All instants of complete streams, in one slice, and the compiled query; None if there are none."""
        first, end = self.clock.first, self.clock.last
        if first is None or end is None:
            return None
        self.counts.watermark = end
        started = self._started or self._start(first - 1)
        self._drop_uncounted(started.query)
        until = (started.report.last_end(end) if self.how.flush else None) or end
        instants = started.report.instants(first, max(end, until), end)
        if not instants:
            return None
        self.counts.evaluations = len(instants)
        part = Slice(instants)
        self.reference_data.follow(self, part)
        return started.answering.solutions, part


@dataclass(frozen=True, slots=True)
class _Started:
    origin: int
    query: ContinuousQuery
    report: CompiledReport
    answering: Evaluator

    @property
    def joined_window(self) -> int | None:
        """The length of the longest window, if rows of streams are joined with each other and it is known."""
        return longest_window(self.query) if self.answering.joins_streams else None
