"""A continuous query at work: batches in, evaluations out (architecture.md, "Runtime").

Each batch moves the clock. All instants before the watermark are then answered, slice by slice, and what no later
instant needs is forgotten. How the input is cut into batches changes no answer.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import closing
from dataclasses import asdict, dataclass, field, replace

import pyarrow as pa
import pyarrow.compute as pc

from penstock.algebra import ContinuousQuery, Settings, build
from penstock.algebra.inputs import InputError
from penstock.engines.protocol import CompiledReport, Engine, Slice
from penstock.rdf.elements import Malformed
from penstock.rdf.results import Evaluation
from penstock.relational.windows import longest_window
from penstock.runtime.changing_graphs import ChangingGraphs, Updates
from penstock.runtime.checkpoints import Checkpoint, State, Written
from penstock.runtime.clock import Clock, StreamClock
from penstock.runtime.forms import Answering, answering
from penstock.runtime.reading import Reading
from penstock.runtime.services import Services
from penstock.runtime.slices import Slicing
from penstock.sinks.counts import Counts
from penstock.sources.batches import Batch, Position, Source
from penstock.sources.services import ServiceSettings
from penstock.syntax import ast


@dataclass(frozen=True, slots=True)
class Late:
    """Triples of a stream that came too late to count: encoded, with their timestamps."""

    stream: str
    triples: pa.Table


@dataclass(frozen=True, slots=True)
class RunSettings:
    """How a query is run, beside what it means (`Settings`); times are in milliseconds."""

    lateness: int = 0
    idle_timeout: int | None = None
    by_arrival: bool = False
    """Elements are stamped as they come in."""
    flush: bool = False
    """Windows that are still open when the input ends are reported, too."""
    is_prompt: bool = False
    """Answers come as soon as they can, also where all input is there already."""
    instants_per_slice: int | None = None
    services: ServiceSettings = field(default_factory=ServiceSettings)
    is_optimized: bool = True
    """Rules of the optimizer have been applied to the query's expression."""


class TimedQuery:
    """A query and its clock, wherever the input comes from: what instants the clock has passed are answered.

    `streams` are those that there are; what the query reads of them is `clock.streams`.
    """

    def __init__(
        self,
        engine: Engine,
        query: ast.Query,
        streams: Collection[str],
        settings: Settings | None = None,
        how: RunSettings | None = None,
        *,
        name: str = "query",
        on_late: Callable[[Late], None] = lambda late: None,
        on_failure: Callable[[str], None] = warnings.warn,
        graphs: ChangingGraphs | None = None,
    ) -> None:
        self.engine = engine
        self.text = query
        self.settings = settings or Settings()
        self.how = how or RunSettings()
        self.name = name
        self.counts = Counts()
        self.on_late = on_late
        read = _streams_of(build(query, replace(self.settings, origin=0)), streams)
        self.clock = Clock({iri: StreamClock(self.how.lateness) for iri in read})
        self.services = Services(engine, self.how.services, on_failure)
        self.graphs = graphs or ChangingGraphs(engine)
        self.slicing = Slicing(self.how.instants_per_slice)
        self._with_late: set[str] = set()
        self._fresh, self._held = 0, 0
        """How many triples have come since instants were last answered, and how many were held for later ones then."""
        self._is_prompt = True
        self._next: int | None = None
        self._started: _Started | None = None

    def _begin(self) -> None:
        """The engine knows the streams; a query that knows its origin is complete."""
        if isinstance(self.settings.origin, int):
            self._start(self.settings.origin)

    # Restarts

    @property
    def state(self) -> State:
        """What there is to know besides the streams."""
        started = self._started
        return {
            "clock": {iri: [clock.greatest, clock.least] for iri, clock in self.clock.streams.items()},
            "with_late": sorted(self._with_late),
            "next": self._next,
            "previous": self.slicing.previous,
            "counts": asdict(self.counts),
            "origin": None if started is None else started.origin,
            "answering": None if started is None else started.answering.state,
        }

    def restore(self, state: State) -> None:
        """Go on where another one was."""
        self._next = state["next"]
        self._with_late = set(state["with_late"])
        self.slicing.previous = state["previous"]
        self.counts = Counts(**state["counts"])
        for iri, (greatest, least) in state["clock"].items():
            self.clock.streams[iri].greatest, self.clock.streams[iri].least = greatest, least
        if state["origin"] is not None:
            self._start(state["origin"]).answering.state = state["answering"]

    # Instants

    def _drop_uncounted(self, query: ContinuousQuery) -> None:
        for stream in sorted(self._with_late):
            late = self._uncounted(query, stream)
            if late.num_rows:
                self.counts.late += pc.count_distinct(late["element"]).as_py()
                self.on_late(Late(stream, late))
        self._with_late.clear()

    def _uncounted(self, query: ContinuousQuery, stream: str) -> pa.Table:
        return self.engine.take_uncounted(query, stream)

    def _start(self, origin: int) -> _Started:
        """The query is complete when its windows know their origin."""
        query = build(self.text, replace(self.settings, origin=origin))
        self.services.begin(query)
        self.graphs.begin(self)
        how = answering(self.engine, query, query.name or self.name, is_optimized=self.how.is_optimized)
        self._started = _Started(origin, query, self.engine.compile_report(query), how)
        return self._started

    def _advance(self) -> Iterator[Evaluation]:
        """Answers every instant before the watermark.

        As long as nobody waits for them, only when twice as much has come as is held: what is held is read each time.
        """
        watermark, first = self.clock.watermark, self.clock.first
        if watermark is None or first is None or watermark <= first:
            return
        if self._fresh < max(2 * self._held, _ENOUGH) and not self._is_prompt:
            return
        self.counts.watermark = watermark
        yield from self._evaluate(watermark - 1, None)

    def _finish(self) -> Iterator[Evaluation]:
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

    def _renew(self, part: Slice) -> None:
        """What is not streamed may have changed before the slice is answered."""
        self.services.renew(part.instants[0], part.previous)
        self.graphs.follow(self, part)

    def close(self) -> None:
        """Nothing is asked any more."""
        self.services.close()
        self.graphs.close()

    def _evaluate(self, last: int, end: int | None) -> Iterator[Evaluation]:
        """Answers the instants up to the last, which is not before any that has been answered."""
        first = self.clock.first if self._next is None else self._next
        assert first is not None
        if last < first:
            return
        started = self._started or self._start(first - 1)
        self._drop_uncounted(started.query)
        instants = started.report.instants(first, last, end)
        for part in self.slicing.slices(instants, started.longest_slice):
            self._renew(part)
            for evaluation in started.answering.evaluations(part, end):
                self.counts.evaluations += 1
                rows = len(evaluation.rows or evaluation.triples or ())
                self.counts.rows += rows
                self.slicing.note(rows)
                yield evaluation
        self._next = last + 1
        previous = self.slicing.previous
        self._held = self.engine.evict(started.query, self._next if previous is None else min(self._next, previous))
        self._fresh = 0


class Run(TimedQuery):
    """One query over its streams.

    `on_late` and `on_malformed` are told of what does not count. `counts` says at any time how far it is. With a
    `checkpoint`, the engine being that of it, the run goes on where it was when it was last committed, which happens
    whenever the evaluations of a batch have been taken; `written` says how long the output is then.
    """

    def __init__(
        self,
        engine: Engine,
        query: ast.Query,
        streams: Mapping[str, Source],
        settings: Settings | None = None,
        how: RunSettings | None = None,
        *,
        name: str = "query",
        on_late: Callable[[Late], None] = lambda late: None,
        on_malformed: Callable[[Malformed], None] = lambda malformed: None,
        on_failure: Callable[[str], None] = warnings.warn,
        updates: Updates | None = None,
        checkpoint: Checkpoint | None = None,
        written: Callable[[], Written] = lambda: None,
    ) -> None:
        super().__init__(
            engine,
            query,
            streams,
            settings,
            how,
            name=name,
            on_late=on_late,
            on_failure=on_failure,
            graphs=ChangingGraphs(engine, updates, on_failure),
        )
        self.on_malformed = on_malformed
        self.streams = {iri: streams[iri] for iri in self.clock.streams}
        self._is_prompt = self.how.is_prompt or any(source.is_live for source in self.streams.values())
        self._positions: dict[str, Position] = {}
        self._elements = dict.fromkeys(self.streams, 0)
        self._checkpoint, self._written = checkpoint, written
        if checkpoint is not None and checkpoint.state is not None:
            self._resume(checkpoint.state)
            return
        for iri in self.streams:
            engine.add_stream(iri)
        self._begin()

    def evaluations(self) -> Iterator[Evaluation]:
        """Every evaluation in time order, also those without solutions."""
        if self._checkpoint is not None:
            if self._checkpoint.has_finished:
                return
            self._checkpoint.begin()
        with closing(self):
            yield from self._while_reading()
            yield from self._finish()
            self._commit(has_finished=True)

    def _while_reading(self) -> Iterator[Evaluation]:
        reading = Reading(self.streams, self.clock, self._positions, self.how.idle_timeout, self.how.by_arrival)
        with closing(reading):
            for read in reading.batches():
                if not self._is_prompt:  # with the last batch all is answered together
                    yield from self._advance()
                if read is not None:
                    self._take(*read)
                elif self.how.by_arrival:
                    self.clock.reach(_now())
                if self._is_prompt:
                    yield from self._advance()
                self._commit(has_finished=False)

    # Restarts

    def _commit(self, *, has_finished: bool) -> None:
        if self._checkpoint is None:
            return
        known = {"engine": self.engine.state, "positions": self._positions, "elements": self._elements}
        self._checkpoint.commit({**known, **self.state}, self._written(), has_finished=has_finished)

    def _resume(self, state: State) -> None:
        self.engine.restore(state["engine"])
        self._positions, self._elements = state["positions"], state["elements"]
        self.restore(state)

    # Input

    def _take(self, stream: str, batch: Batch) -> None:
        self._positions[stream] = batch.position
        for malformed in batch.malformed:
            self.counts.malformed += 1
            self.on_malformed(malformed)
        table = batch.table
        if not table.num_rows:
            return
        if self.how.by_arrival:
            table = table.set_column(3, "ts", pa.repeat(pa.scalar(_now(), pa.int64()), table.num_rows))
        since = self.clock.streams[stream].note(table["ts"], self._next)
        number = self._elements[stream]
        table = table.set_column(4, "element", pc.add(table["element"], number)).append_column("since", since)
        self._elements[stream] = number + batch.elements
        self.counts.elements += batch.elements
        self._fresh += table.num_rows
        self.engine.append(stream, table)
        if since.null_count < len(since):
            self._with_late.add(stream)


@dataclass(frozen=True, slots=True)
class _Started:
    origin: int
    query: ContinuousQuery
    report: CompiledReport
    answering: Answering

    @property
    def longest_slice(self) -> int | None:
        """Some windows long, where rows are joined that may never be in one window: in time they grow as the square."""
        longest = longest_window(self.query)
        return None if longest is None or not self.answering.joins_streams else _WINDOWS_PER_SLICE * longest


_WINDOWS_PER_SLICE = 10

_ENOUGH = 200_000
"""So many triples are worth a look at the clock when nobody waits."""


def _now() -> int:
    return time.time_ns() // 1_000_000


def _streams_of(query: ContinuousQuery, streams: Collection[str]) -> list[str]:
    """The streams that the query reads."""
    if any(window.stream is None for window in query.dataset.windows):
        return list(streams)
    for stream in query.dataset.streams:
        if stream not in streams:
            raise InputError(f"the query reads the stream <{stream}>, which is not bound")
    return list(query.dataset.streams)
