"""The run loop: batches in, answers out, for any number of queries that share their streams.

    for batch in intake:                   # rows, with the positions after them
        queries join and leave             # membership.py
        store.append(batch); clocks move   # engines/, clock.py
        due slices are answered            # queries.py: evaluators, streaming operators
        outlets are written                # outlets.py
        store.evict(needs); commit         # checkpoints.py
        outlets deliver                    # what had to wait for the commit

Each stream is read, decoded and stored once. Queries that produce streams are answered before those that read them.
How the input is cut into batches changes no answer. `ways.py` chooses intake and store.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from typing import Any, Generic, TypeVar

import pyarrow as pa

from penstock.algebra.chaining import Chain
from penstock.algebra.element_names import reads_names
from penstock.algebra.inputs import InputError
from penstock.engines.protocol import CompiledQuery, IntakeBatch, Reached, Seen, Slice, WindowStore
from penstock.rdf.elements import Malformed
from penstock.rdf.result_batches import ResultBatch
from penstock.rdf.results import Evaluation
from penstock.relational.windows import FOREVER
from penstock.runtime.answers import Answer, elements_table, in_time_order, joined_elements
from penstock.runtime.changes import Changes
from penstock.runtime.changing_graphs import Updates
from penstock.runtime.checkpoints import Checkpoint, State
from penstock.runtime.intake import Intake
from penstock.runtime.membership import Membership
from penstock.runtime.outlets import Outlet
from penstock.runtime.queries import QuerySpec, RunningQuery
from penstock.runtime.reference_data import ReferenceData
from penstock.runtime.settings import RunSettings
from penstock.sinks.counts import Counts, together
from penstock.sources.batches import Position, SpooledSource

Rows = TypeVar("Rows")

Step = Callable[[RunningQuery], Iterator[ResultBatch]]


class Run(Generic[Rows]):
    """Queries over streams, from an intake, in a store.

    `sources` are the streams that the intake reads. `outlets` receive evaluations by the names of the queries; a query
    without one is evaluated all the same. `on_malformed` receives malformed input with its stream. `updates` change
    graphs meanwhile. With a `checkpoint` the run continues from its last commit; it commits after the evaluations of a
    batch have been delivered.
    """

    def __init__(
        self,
        store: WindowStore[Rows],
        intake: Intake[Rows],
        queries: Sequence[QuerySpec],
        sources: Mapping[str, Any],
        settings: RunSettings | None = None,
        *,
        outlets: Mapping[str, Outlet] | None = None,
        on_malformed: Callable[[str, Malformed], None] | None = None,
        updates: Updates | None = None,
        checkpoint: Checkpoint | None = None,
        is_prompt: bool = False,
    ) -> None:
        self.store = store
        self.intake = intake
        self.settings = settings or RunSettings()
        self.positions: dict[str, Position] = {}
        """The position at which each source continues."""
        self.outlets: dict[str, Outlet] = dict(outlets or {})
        self.writing: str | None = None
        """The query whose outlet is being written."""
        self._sources = sources
        self._is_prompt = is_prompt or self.settings.is_prompt
        self._are_together = False
        self._on_malformed = on_malformed
        self._malformed = 0
        self._checkpoint = checkpoint
        self._greatest: dict[str, int] = {}
        """The greatest timestamp of each stream."""
        self._settled = self._held = 0
        """The number of triples that had arrived at the last evaluation, and of those that were kept then."""
        self._opened: set[str] = set()
        self._has_begun = False
        self.number = -1
        """The last batch."""
        self._reference_data = ReferenceData(store, self.settings.services, updates, queries[0].on_failure)
        self._membership = Membership(store, queries, sources, self.settings, self._reference_data)

    # For other modules

    @property
    def queries(self) -> list[RunningQuery]:
        """In the order of evaluation; fused queries are one."""
        return self._membership.queries

    @property
    def chain(self) -> Chain:
        """Which queries produce streams for others."""
        return self._membership.chain

    @property
    def changes(self) -> Changes:
        return self._membership.changes

    @property
    def has_changes(self) -> bool:
        """Whether queries wait to join or leave."""
        return self.changes.pending.is_set()

    @property
    def refused(self) -> set[str]:
        """The queries that joined and could not be answered."""
        return self._membership.refused

    @property
    def streams(self) -> Mapping[str, Any]:
        """The sources that are read."""
        return self._membership.streams if self.intake.reads_on_demand else self._sources

    @property
    def is_open(self) -> bool:
        """Whether queries may join and leave: a run with a checkpoint keeps the queries it started with."""
        return self.store.capabilities.admits_queries and self._checkpoint is None

    @property
    def has_finished(self) -> bool:
        """Whether all input has been read and answered, by this run or one before it on the same checkpoint."""
        return self._checkpoint is not None and self._checkpoint.has_finished

    @property
    def counts(self) -> Counts:
        elements = sum(self.store.elements(iri) for iri in list(self.streams) if iri in self._opened)
        return together([query.counts for query in self.queries], elements, self._malformed)

    def counts_of(self, name: str) -> Counts:
        """The counts of one query; zeros for one that is about to join."""
        return next((query.counts for query in self.queries if name in query.names), Counts())

    def query(self, name: str) -> RunningQuery:
        return next(query for query in self.queries if name in query.names)

    def readers(self, stream: str) -> list[RunningQuery]:
        return [query for query in self.queries if stream in query.clock.streams]

    def greatest(self, stream: str) -> float:
        """The greatest timestamp of a stream; before any element, less than all."""
        return self._greatest.get(stream, float("-inf"))

    def join(self, name: str, spec: QuerySpec, sources: Mapping[str, Any], outlet: Outlet | None = None) -> None:
        """Answer another query, too, from the next instant on; any thread may call this.

        `sources` are the current streams; a stream that is already read continues.
        """
        if not self.is_open:
            raise InputError(f"this run accepts no other queries: stop it, and start it again with {name}")
        self.refused.discard(name)
        self.changes.join(name, spec, sources, outlet)

    def drop(self, name: str) -> None:
        """Stop answering a query; any thread may call this. A query that others read stays until they leave."""
        self.changes.leave(name)

    # The loop

    def evaluations(self) -> Iterator[Evaluation]:
        """Run to the end of the input: every evaluation, in time order."""
        for batch, which in self.answers():
            yield from batch.evaluations(which)

    def answers(self, *, are_together: bool = False) -> Iterator[Answer]:
        """Run to the end of the input, or until the intake is stopped: all answers, in time order, as soon as they
        have been written.

        Those without an outlet come one instant at a time, so that whoever receives them sees the progress of the run
        at each; unless they may come together.
        """
        self._are_together = are_together
        if self.has_finished:
            return
        with closing(self):
            self.begin()
            while self.queries:
                for batch in self.intake.batches(self):
                    yield from self.turn(batch)
                if self.intake.is_stopped:
                    return
                yield from self._answer(self.number + 1, RunningQuery.finish)
                if not self.has_changes:
                    break
                self._apply_changes(self.number + 1)
            self._commit(has_finished=True)

    def turn(self, batch: IntakeBatch[Rows]) -> Iterator[Answer]:
        """One iteration of the loop.

        If nobody waits for results, instants are evaluated before the next batch is read, so that the instants of the
        last batch are evaluated together with the end.
        """
        self.number = batch.number
        self._apply_changes(batch.number)
        if not self._is_prompt:
            yield from self._advance(batch.number)
        self._take(batch)
        if self._is_prompt:
            yield from self._advance(batch.number)
        self._commit(has_finished=False)

    def whole(self, name: str) -> tuple[CompiledQuery, Slice] | None:
        """All instants of one query in one slice, and the compiled query; None if there are none.

        The queries that it reads are evaluated for this. It needs a store with complete streams.
        """
        self.begin()
        for batch in self.intake.batches(self):
            self._take(batch)
        asked = self.query(name)
        for _ in self._answer(1, lambda query: iter(()) if query is asked else query.finish()):
            pass
        return asked.history()

    def interrupt(self) -> None:
        """End the statement that is running, and stop waiting for receivers of answers; any thread may call this."""
        self.store.interrupt()
        self.interrupt_outlets()

    def interrupt_outlets(self) -> None:
        for outlet in list(self.outlets.values()):
            outlet.interrupt()

    def close(self) -> None:
        self.intake.close()
        self._reference_data.close()

    # Input

    def _take(self, batch: IntakeBatch[Rows]) -> None:
        self.positions.update(batch.positions or {})
        if batch.rows is not None:
            reached = {iri: Reached(self._greatest.get(iri), self._evaluated(iri)) for iri in self.streams}
            appended = self.store.append(batch, reached, self.settings.lateness)
            for iri, seen in appended.seen.items():
                self._note(iri, seen)
            if self._on_malformed is not None:
                self._drop_malformed(appended.malformed)
        self._drop_malformed(batch.malformed)
        if batch.now is not None:
            for iri in self.streams:
                self._reach(iri, batch.now)
            for query in self.queries:
                query.reach(self.streams, batch.now)

    def _note(self, stream: str, seen: Seen) -> None:
        """Move the clocks of a stream's readers; a query that joined later sees the input after that instant."""
        if seen.greatest is None:
            return
        self._reach(stream, seen.greatest)
        for query in self.readers(stream):
            own = seen
            if query.after is not None and (seen.has_late or seen.least is None or seen.least <= query.after):
                own = self.store.seen(stream, query.after, lately=True)
            if own.greatest is not None:
                query.note(stream, own)

    def _reach(self, stream: str, time: int) -> None:
        self._greatest[stream] = max(time, self._greatest.get(stream, time))

    def _evaluated(self, stream: str) -> int | None:
        """The instant that a reader of the stream has evaluated, perhaps without the stream."""
        reached = [query.evaluated for query in self.readers(stream)]
        return max((instant for instant in reached if instant is not None), default=None)

    def _drop_malformed(self, malformed: Iterable[tuple[str, Malformed]]) -> None:
        for stream, entry in malformed:
            self._malformed += 1
            for query in self.readers(stream):
                query.counts.malformed += 1
            if self._on_malformed is not None:
                self._on_malformed(stream, entry)

    def _open_streams(self) -> None:
        """Streams from outside, and those that queries produce. A query over every stream reads those at the start."""
        is_later = bool(self._opened)
        for iri in (*self.streams, *sorted(self.chain.read)):
            if iri not in self._opened:
                is_named = any(reads_names(query, iri) for query in self.chain.queries.values())
                self.store.add_stream(iri, is_produced=is_later or iri in self.chain.read, is_named=is_named)
                self._opened.add(iri)

    # Instants

    def _advance(self, number: int) -> Iterator[Answer]:
        """Evaluate the due instants.

        If no one waits for results, only when twice as much has arrived as is kept, because every slice reads the kept
        rows.
        """
        if not self._is_prompt and self._arrived - self._settled < max(2 * self._held, _ENOUGH):
            return
        for query in self.queries:
            query.note_silence(self.intake.silent)
        before = [query.evaluated for query in self.queries]
        yield from self._answer(number, RunningQuery.advance)
        if before != [query.evaluated for query in self.queries]:
            self._apply_changes(number)
            self._membership.settle()
            until = self.changes.reached if self.is_open else FOREVER
            self._held = self.store.evict([query.need for query in self.queries], until)
            self._settled = self._arrived

    def _answer(self, number: int, step: Step) -> Iterator[Answer]:
        """Pass the current answers of all queries, in time order, to their outlets."""
        for batch, which in self._answered(number, step):
            name = batch.query(which.start)
            outlet = self.outlets.get(name)
            is_whole = self._are_together if outlet is None else not outlet.takes_each
            for part in [which] if is_whole else map(_one, which):
                if not self._membership.hand_out(batch, part):
                    continue
                if outlet is not None:
                    self.writing = name
                    outlet.write(batch, part)
                    self.writing = None
                yield batch, part
        for name, outlet in list(self.outlets.items()):
            self.writing = name
            outlet.finish(number)
        self.writing = None

    @property
    def _arrived(self) -> int:
        return sum(map(self.store.arrived, self._opened))

    def _answered(self, number: int, step: Step) -> Iterator[Answer]:
        produced = {self.chain.produced[stream]: stream for stream in self.chain.read}
        found: list[Iterable[ResultBatch]] = []
        for query in self.queries:
            answers: Iterable[ResultBatch] = step(query)
            if query.name in produced:
                answers = list(answers)
                tables = [elements_table(batch, range(len(batch))) for batch in answers]
                self._append_produced(number, query, produced[query.name], joined_elements(tables))
            found.append(answers)
        yield from in_time_order(found)
        for query in self.queries:
            if query.evaluated is not None:
                self.changes.reach(query.evaluated - 1)

    def _append_produced(self, number: int, producer: RunningQuery, stream: str, elements: pa.Table | None) -> None:
        """The answers of a query go to the queries that read its stream."""
        if elements is not None:
            self._note(stream, self.store.append_produced(number, stream, elements))
        for query in self.readers(stream):
            clock = query.clock.streams[stream]
            clock.reached = producer.evaluated
            if self.settings.by_arrival and producer.evaluated is not None:
                clock.widen(None, producer.evaluated)

    def _apply_changes(self, number: int) -> None:
        """Queries join and leave."""

        def keep(stream: str, elements: pa.Table) -> None:
            self._reach(stream, elements["ts"][-1].as_py())
            self.store.append_produced(number, stream, elements)

        self._membership.apply(self._open_streams, keep)
        queries = self.chain.queries
        outlets = {**self.outlets, **self.changes.take_outlets(queries)}
        self.outlets = {name: outlet for name, outlet in outlets.items() if name in queries}

    # Restarts

    def begin(self) -> None:
        """Start, or continue from the latest state of the checkpoint."""
        if self._has_begun:
            return
        self._has_begun = True
        state = None if self._checkpoint is None else self._checkpoint.latest
        if state is None:
            self._open_streams()
            for query in self.queries:
                query.begin()
        else:
            self._restore(state)
        if self._checkpoint is not None:
            self._checkpoint.begin()
        for name, outlet in self.outlets.items():
            outlet.resume(None if state is None else state["written"][name])

    def complete(self) -> None:
        """Deliver what an earlier run, which has read all input, has committed and not delivered."""
        state = None if self._checkpoint is None else self._checkpoint.latest
        if state is not None:
            for name, outlet in self.outlets.items():
                outlet.complete(state["written"][name])

    def _restore(self, state: State) -> None:
        assert self._checkpoint is not None
        self._checkpoint.store.restore(state["store"])
        self.number, self.positions, self._greatest = state["number"], state["positions"], state["greatest"]
        self._malformed, self._opened = state["malformed"], {*self.streams, *self.chain.read}
        for query in self.queries:
            query.restore(state["queries"][query.name])

    def _commit(self, *, has_finished: bool) -> None:
        if self._checkpoint is None:
            return
        state = {
            "number": self.number,
            "store": self._checkpoint.store.state,
            "positions": self.positions,
            "greatest": self._greatest,
            "malformed": self._malformed,
            "queries": {query.name: query.state for query in self.queries},
            "written": {name: outlet.position() for name, outlet in self.outlets.items()},
        }
        self._checkpoint.commit(self.number, state, has_finished=has_finished)
        for iri, source in self.streams.items():
            if iri in self.positions and isinstance(source, SpooledSource):
                source.release(self.positions[iri])
        for name, outlet in self.outlets.items():
            self.writing = name
            outlet.deliver()
        self.writing = None


def _one(number: int) -> range:
    return range(number, number + 1)


_ENOUGH = 200_000
"""With this many new triples an evaluation is worth it even if no one waits for results."""
