"""Any number of queries over shared streams: batches in, evaluations out (architecture.md, "Runtime").

Each stream is read, decoded and kept once. Each batch moves the clocks of the queries that read its stream; then all
are answered as far as they can be, those that give streams before those that read them, and what no query needs any
more is forgotten.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict
from heapq import merge

import pyarrow as pa
import pyarrow.compute as pc

from penstock.algebra.chaining import Chain, elements_of
from penstock.algebra.element_names import reads_names
from penstock.algebra.inputs import InputError
from penstock.engines.protocol import Engine, OpenEngine
from penstock.rdf.elements import Element, Malformed
from penstock.rdf.results import Evaluation
from penstock.runtime.changes import Changes
from penstock.runtime.changing_graphs import Updates
from penstock.runtime.checkpoints import Checkpoint, State, Written
from penstock.runtime.clock import Clock, StreamClock
from penstock.runtime.knowledge import Knowledge
from penstock.runtime.membership import Membership
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
        self._knowledge = Knowledge(engine, self.how.services, updates, queries[0].on_failure)
        self._membership = Membership(engine, queries, streams, self.how, self._knowledge)
        self._clock = Clock()
        """What has come of each stream, whoever reads it."""
        self._fresh, self._held = 0, 0
        """How many triples have come since instants were last answered, and how many were held for later ones then."""
        self._positions: dict[str, Position] = {}
        self._elements: dict[str, int] = {}
        self._checkpoint, self._written = checkpoint, written
        if checkpoint is not None and checkpoint.state is not None:
            self._resume(checkpoint.state)
            return
        self._open_streams()
        for query in self.queries:
            query.begin()

    @property
    def queries(self) -> list[TimedQuery]:
        """In the order in which they are answered; those that are fused are one."""
        return self._membership.queries

    @property
    def changes(self) -> Changes:
        return self._membership.changes

    @property
    def chain(self) -> Chain:
        return self._membership.chain

    @property
    def streams(self) -> dict[str, Source]:
        """Those from outside that are read."""
        return self._membership.streams

    @property
    def _is_prompt(self) -> bool:
        return self.how.is_prompt or any(source.is_live for source in self.streams.values())

    def _open_streams(self) -> None:
        """What is read for the first time has said nothing; who reads every stream reads those of the beginning."""
        is_later = bool(self._elements)
        lateness = {**dict.fromkeys(self.streams, self.how.lateness), **dict.fromkeys(sorted(self.chain.read), 0)}
        for iri, bound in lateness.items():
            if iri not in self._elements:
                is_named = any(reads_names(query, iri) for query in self.chain.queries.values())
                self.engine.add_stream(iri, is_given=is_later or iri in self.chain.read, is_named=is_named)
                self._clock.streams[iri] = StreamClock(bound)
                self._elements[iri] = 0

    def query(self, name: str) -> TimedQuery:
        """What answers the query of that name."""
        return next(query for query in self.queries if name in query.names)

    def counts_of(self, name: str) -> Counts:
        """What has happened to the query of that name; of one that is just coming, nothing."""
        return next((query.counts for query in self.queries if name in query.names), Counts())

    def join(self, name: str, standing: Standing, streams: Mapping[str, Source]) -> None:
        """Answer another query, too, from the next instant on; any thread may say so.

        `streams` are those that are there now: one that is read already is read on.
        """
        if not isinstance(self.engine, OpenEngine) or self._checkpoint is not None:
            raise InputError(f"this run takes no other queries: end it, and start it again with {name}")
        self.changes.come(name, standing, streams)

    def drop(self, name: str) -> None:
        """Answer a query no more; any thread may say so. What gives something to others goes with them, or later."""
        self.changes.go(name)

    def close(self) -> None:
        """Nothing is asked any more."""
        self._knowledge.close()

    @property
    def counts(self) -> Counts:
        elements = sum(self._elements[iri] for iri in self.streams)
        return together([query.counts for query in self.queries], elements, self._malformed)

    def evaluations(self) -> Iterator[Evaluation]:
        """Every evaluation that is asked for: each query's in time order, and as far as can be all."""
        if self._checkpoint is not None:
            if self._checkpoint.has_finished:
                return
            self._checkpoint.begin()
        timeout, by_arrival, said = self.how.idle_timeout, self.how.by_arrival, self.changes.said
        reading = Reading(lambda: self.streams, self._clock, self._positions, timeout, by_arrival, said)
        with closing(self), closing(reading):
            while self.queries:
                yield from self._while_reading(reading)
                yield from self._answered(TimedQuery.finish)
                if not said.is_set():
                    break
                self._heed()
            self._commit(has_finished=True)

    def _while_reading(self, reading: Reading) -> Iterator[Evaluation]:
        for read in reading.batches():
            self._heed()
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
            self._heed()
            self._membership.settle()
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
        for evaluation in merge(*found, key=_time):
            if self._membership.hand_out(evaluation):
                yield evaluation
        for query in self.queries:
            if query.evaluated is not None:
                self.changes.reach(query.evaluated - 1)

    def _give(self, giver: TimedQuery, stream: str, evaluations: Iterable[Evaluation]) -> None:
        """What a query has answered goes to those that read it."""
        elements = [element for evaluation in evaluations for element in elements_of(evaluation)]
        readers = self._readers(stream)
        if elements:
            self._keep(stream, elements, readers)
        for query in readers:
            clock = query.clock.streams[stream]
            clock.reached = giver.evaluated
            if self.how.by_arrival and giver.evaluated is not None:
                clock.widen(None, giver.evaluated)

    def _heed(self) -> None:
        """Queries come and go."""
        self._membership.heed(self._open_streams, self._keep)

    def _keep(self, stream: str, elements: Sequence[Element], readers: Sequence[TimedQuery] = ()) -> None:
        self._append(stream, table_of(elements), len(elements), readers)

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
        self._append(stream, table, batch.elements, self._readers(stream))

    def _append(self, stream: str, table: pa.Table, elements: int, readers: Sequence[TimedQuery]) -> None:
        """Keep what has come, and tell who reads it."""
        reached = [query.evaluated for query in readers if query.evaluated is not None]
        noted = self._clock.streams[stream].note(table["ts"], max(reached, default=None))
        number = self._elements[stream]
        table = table.set_column(4, "element", pc.add(table["element"], number)).append_column("since", noted.since)
        self._elements[stream] = number + elements
        self._fresh += table.num_rows
        self.engine.append(stream, table)
        for query in readers:
            if query.after is None or query.after < noted.first:
                query.note(stream, elements, noted.least, noted.greatest, has_late=noted.has_late)
            else:
                self._note_later(query, stream, table)

    def _note_later(self, query: TimedQuery, stream: str, table: pa.Table) -> None:
        """Of what has come a query that came later sees what is after that."""
        table = table.filter(pc.greater(table["ts"], query.after))
        if table.num_rows:
            in_time = table["ts"].filter(table["since"].is_null())
            elements = pc.count_distinct(table["element"]).as_py()
            has_late = len(in_time) < table.num_rows
            query.note(stream, elements, pc.min(in_time).as_py(), pc.max(table["ts"]).as_py(), has_late=has_late)

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


_ENOUGH = 200_000
"""So many triples are worth a look at the clock when nobody waits."""


def _time(evaluation: Evaluation) -> int:
    return evaluation.time


def _now() -> int:
    return time.time_ns() // 1_000_000
