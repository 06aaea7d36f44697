"""Any number of queries over shared streams: batches in, evaluations out (architecture.md, "Runtime").

Each stream is read, decoded and kept once. Each batch moves the clocks of the queries that read its stream; then all
are answered as far as they can be, those that give streams before those that read them, and what no query needs any
more is forgotten.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, replace
from heapq import merge

import pyarrow as pa
import pyarrow.compute as pc

from penstock.algebra import build
from penstock.algebra.chaining import Chain, distinct_names, elements_of
from penstock.algebra.fusing import Template, template_of
from penstock.engines.protocol import Engine
from penstock.rdf.elements import Malformed
from penstock.rdf.results import Evaluation
from penstock.runtime.changing_graphs import ChangingGraphs, Updates
from penstock.runtime.checkpoints import Checkpoint, State, Written
from penstock.runtime.clock import Clock, StreamClock
from penstock.runtime.fused import FusedQuery
from penstock.runtime.reading import Reading
from penstock.runtime.running import RunSettings, Standing, TimedQuery
from penstock.sinks.counts import Counts, together
from penstock.sources.batches import Batch, Position, Source
from penstock.sources.tables import table_of


class Registry:
    """Queries over streams; those that no query reads are not read.

    `on_malformed` is told of what is no element; `updates` change graphs meanwhile. `counts` says at any time how far
    it is. With a `checkpoint`, the engine being that of it, the run goes on where it was when it was last committed,
    which happens whenever the evaluations of a batch have been taken; `written` says how long the output is then.
    """

    def __init__(
        self,
        engine: Engine,
        queries: Sequence[Standing],
        streams: Mapping[str, Source],
        how: RunSettings | None = None,
        *,
        on_malformed: Callable[[Malformed], None] = lambda malformed: None,
        updates: Updates | None = None,
        checkpoint: Checkpoint | None = None,
        written: Callable[[], Written] = lambda: None,
    ) -> None:
        self.engine = engine
        self.how = how or RunSettings()
        self.on_malformed = on_malformed
        self._malformed = 0
        self.chain = chain_of(queries)
        changing = ChangingGraphs(engine, updates, queries[0].on_failure)
        self.queries = timed_queries(engine, self.chain, queries, streams, self.how, changing)
        read = {iri for query in self.queries for iri in query.clock.streams}
        self.streams = {iri: source for iri, source in streams.items() if iri in read}
        lateness = {**dict.fromkeys(self.streams, self.how.lateness), **dict.fromkeys(sorted(self.chain.read), 0)}
        self._clock = Clock({iri: StreamClock(bound) for iri, bound in lateness.items()})
        """What has come of each stream, whoever reads it."""
        self._is_prompt = self.how.is_prompt or any(source.is_live for source in self.streams.values())
        self._fresh, self._held = 0, 0
        """How many triples have come since instants were last answered, and how many were held for later ones then."""
        self._positions: dict[str, Position] = {}
        self._elements = dict.fromkeys(self._clock.streams, 0)
        self._checkpoint, self._written = checkpoint, written
        if checkpoint is not None and checkpoint.state is not None:
            self._resume(checkpoint.state)
            return
        for iri in self.streams:
            engine.add_stream(iri)
        for iri in self.chain.read:
            engine.add_stream(iri, is_given=True)
        for query in self.queries:
            query.begin()

    def query(self, name: str) -> TimedQuery:
        """What answers the query of that name."""
        return next(query for query in self.queries if name in query.names)

    def close(self) -> None:
        """Nothing is asked any more."""
        for query in self.queries:
            query.close()

    @property
    def counts(self) -> Counts:
        elements = sum(self._elements[iri] for iri in self.streams)
        return together([query.counts for query in self.queries], elements, self._malformed)

    def evaluations(self) -> Iterator[Evaluation]:
        """Every evaluation, also those without solutions: each query's in time order, and as far as can be all."""
        if self._checkpoint is not None:
            if self._checkpoint.has_finished:
                return
            self._checkpoint.begin()
        with closing(self):
            yield from self._while_reading()
            yield from self._answered(TimedQuery.finish)
            self._commit(has_finished=True)

    def _while_reading(self) -> Iterator[Evaluation]:
        reading = Reading(self.streams, self._clock, self._positions, self.how.idle_timeout, self.how.by_arrival)
        with closing(reading):
            for read in reading.batches():
                if not self._is_prompt:  # with the last batch all is answered together
                    yield from self._advance()
                if read is not None:
                    self._take(*read)
                elif self.how.by_arrival:
                    self._reach(_now())
                if self._is_prompt:
                    yield from self._advance()
                self._commit(has_finished=False)

    # Instants

    def _advance(self) -> Iterator[Evaluation]:
        """Answers what can be answered.

        As long as nobody waits for it, only when twice as much has come as is held: what is held is read each time.
        """
        if self._fresh < max(2 * self._held, _ENOUGH) and not self._is_prompt:
            return
        silent = [iri for iri, clock in self._clock.streams.items() if clock.is_silent]
        for query in self.queries:
            query.note_silence(silent)
        before = [query.evaluated for query in self.queries]
        yield from self._answered(TimedQuery.advance)
        if before != [query.evaluated for query in self.queries]:
            self._held = self.engine.evict([query.need for query in self.queries])
            self._fresh = 0

    def _answered(self, step: Callable[[TimedQuery], Iterator[Evaluation]]) -> Iterator[Evaluation]:
        """What all queries answer now, in the order of time."""
        given = {self.chain.produced[stream]: stream for stream in self.chain.read}
        found: list[Iterable[Evaluation]] = []
        for query in self.queries:
            answers: Iterable[Evaluation] = step(query)
            if query.name in given:
                answers = list(answers)
                self._give(query, given[query.name], answers)
            found.append(answers)
        yield from merge(*found, key=_time)

    def _give(self, giver: TimedQuery, stream: str, evaluations: Iterable[Evaluation]) -> None:
        """What a query has answered goes to those that read it."""
        elements = [element for evaluation in evaluations for element in elements_of(evaluation)]
        if elements:
            self._append(stream, table_of(elements), len(elements))
        for query in self._readers(stream):
            clock = query.clock.streams[stream]
            clock.reached = giver.evaluated
            if self.how.by_arrival and giver.evaluated is not None:
                clock.widen(None, giver.evaluated)

    def _readers(self, stream: str) -> list[TimedQuery]:
        return [query for query in self.queries if stream in query.clock.streams]

    # Input

    def _reach(self, now: int) -> None:
        """All streams from outside have come to this time."""
        for iri in self.streams:
            self._clock.streams[iri].widen(None, now)
        for query in self.queries:
            query.reach(self.streams, now)

    def _take(self, stream: str, batch: Batch) -> None:
        self._positions[stream] = batch.position
        self._malformed += len(batch.malformed)
        for query in self._readers(stream):
            query.counts.malformed += len(batch.malformed)
        for malformed in batch.malformed:
            self.on_malformed(malformed)
        table = batch.table
        if not table.num_rows:
            return
        if self.how.by_arrival:
            table = table.set_column(3, "ts", pa.repeat(pa.scalar(_now(), pa.int64()), table.num_rows))
        self._append(stream, table, batch.elements)

    def _append(self, stream: str, table: pa.Table, elements: int) -> None:
        """Keep what has come, and tell who reads it."""
        readers = self._readers(stream)
        reached = [query.evaluated for query in readers if query.evaluated is not None]
        noted = self._clock.streams[stream].note(table["ts"], max(reached, default=None))
        number = self._elements[stream]
        table = table.set_column(4, "element", pc.add(table["element"], number)).append_column("since", noted.since)
        self._elements[stream] = number + elements
        self._fresh += table.num_rows
        self.engine.append(stream, table)
        for query in readers:
            query.note(stream, elements, noted.least, noted.greatest, has_late=noted.has_late)

    # Restarts

    def _commit(self, *, has_finished: bool) -> None:
        if self._checkpoint is None:
            return
        state = {
            "engine": self.engine.state,
            "positions": self._positions,
            "elements": self._elements,
            "malformed": self._malformed,
            "clock": {iri: asdict(clock) for iri, clock in self._clock.streams.items()},
            "queries": {query.name: query.state for query in self.queries},
        }
        self._checkpoint.commit(state, self._written(), has_finished=has_finished)

    def _resume(self, state: State) -> None:
        self.engine.restore(state["engine"])
        self._positions, self._elements, self._malformed = state["positions"], state["elements"], state["malformed"]
        self._clock = Clock({iri: StreamClock(**clock) for iri, clock in state["clock"].items()})
        for query in self.queries:
            query.restore(state["queries"][query.name])


def chain_of(queries: Sequence[Standing]) -> Chain:
    """The queries by the names that they go by, in the order in which they are given."""
    built = [build(standing.query, replace(standing.settings, origin=0)) for standing in queries]
    names = distinct_names(
        standing.name or query.name or "query" for query, standing in zip(built, queries, strict=True)
    )  # fmt: skip
    return Chain(dict(zip(names, built, strict=True)))


def timed_queries(
    engine: Engine,
    chain: Chain,
    queries: Sequence[Standing],
    streams: Collection[str],
    how: RunSettings,
    graphs: ChangingGraphs,
) -> list[TimedQuery]:
    """The queries with their clocks, in the order in which they are answered; those that can be are fused.

    `streams` are those from outside. What queries give is in order, whatever the lateness.
    """
    standing = dict(zip(chain.queries, queries, strict=True))
    found: list[TimedQuery] = []
    for group in _fusable(chain, standing, how):
        names = list(group)
        read = chain.streams_of(names[0], streams)
        lateness = {iri: 0 if iri in chain.produced else how.lateness for iri in read}
        templates = [template for template in group.values() if template is not None]
        if len(names) == 1:
            found.append(TimedQuery(engine, standing[names[0]], lateness, how, name=names[0], graphs=graphs))
        else:
            members = {name: standing[name] for name in names}
            found.append(FusedQuery(engine, members, templates, lateness, how, graphs))
    return found


def _fusable(
    chain: Chain, standing: Mapping[str, Standing], how: RunSettings
) -> list[dict[str, Template | None]]:  # fmt: skip
    """The queries, those that are equal up to constants together, in the order in which they are answered.

    Those that give something to others are alone: each of their evaluations counts.
    """
    givers = {chain.produced[stream] for stream in chain.read}
    groups: dict[object, dict[str, Template | None]] = {}
    for name in chain.order:
        template = None if name in givers or how.has_empty else template_of(chain.queries[name])
        key = name if template is None else (template.key, standing[name].settings)
        groups.setdefault(key, {})[name] = template
    return list(groups.values())


_ENOUGH = 200_000
"""So many triples are worth a look at the clock when nobody waits."""


def _time(evaluation: Evaluation) -> int:
    return evaluation.time


def _now() -> int:
    return time.time_ns() // 1_000_000
