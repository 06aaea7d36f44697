"""Continuous queries over streams that go on, on Spark: one Structured Streaming query drives them all.

Spark cuts the streams into micro-batches, numbers them, and repeats one that was not finished, with the same input.
For each batch the state after the one before is taken, the batch's rows become a segment of the window log
(engines/spark/window_log.py), every instant before the watermark is answered, and the new state is written last. What a query
gives to others becomes a segment of the same batch. A batch that is repeated starts from the same state, its output cut
to what that state says, so it comes to the same.
"""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from penstock.algebra.chaining import Chain, elements_of
from penstock.algebra.element_names import reads_names
from penstock.engines.spark.segments import Before, Share
from penstock.engines.spark.session import is_local
from penstock.engines.spark.window_log import WindowLog
from penstock.rdf.elements import Element, Malformed
from penstock.rdf.results import Evaluation
from penstock.relational.windows import FOREVER
from penstock.runtime.batch_states import BatchStates
from penstock.runtime.changes import Changes
from penstock.runtime.changing_graphs import Updates
from penstock.runtime.checkpoints import State, Written
from penstock.runtime.knowledge import Knowledge
from penstock.runtime.membership import Membership
from penstock.runtime.running import RunSettings, Standing, TimedQuery
from penstock.runtime.slices import ALL
from penstock.sinks.counts import Counts, together
from penstock.sources.graphs import Graph
from penstock.sources.spark.live import LiveBatch, LiveInput, LiveStream
from penstock.sources.tables import table_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery


class BatchError(Exception):
    """What Spark learns of a micro-batch that failed: one line.

    Spark searches the text of the error for interruptions with a regular expression that recurses for each character. A
    Java stack trace in that text overflows the default stack, and Spark logs a thousand lines. `MicroBatches.wait`
    raises the original error.
    """

    @classmethod
    def of(cls, error: BaseException, *, is_stopped: bool) -> BatchError:
        if is_stopped:  # the words by which Spark recognises a batch that `stop` interrupted
            return cls("py4j.protocol.Py4JJavaError: An error occurred while calling a batch: " + _INTERRUPTED)
        lines = str(error).splitlines() or [""]
        return cls(f"{type(error).__name__}: {lines[0][:_LONGEST_MESSAGE]}")


_INTERRUPTED = "java.lang.InterruptedException"
_LONGEST_MESSAGE = 500


class Outlet(Protocol):
    """Where the evaluations of a query go.

    What is written between two commits is cut off or overwritten when it is written again; who cannot do that is told
    of an evaluation again after a crash, and can know it by its query and its instant.
    """

    def resume(self, written: Written) -> None:
        """Writing begins here; `written` is what `position` gave before, None at the very beginning."""

    def write(self, evaluation: Evaluation) -> None: ...

    def position(self) -> Written:
        """How much is sure to be there after a crash; JSON can hold it."""


@runtime_checkable
class BatchOutlet(Outlet, Protocol):
    """An outlet that takes the evaluations of a micro-batch together."""

    def finish(self, number: int) -> None:
        """All evaluations of the batch have been written. One that is repeated after a crash has the same number."""


@dataclass(frozen=True, slots=True)
class Callback:
    """Evaluations for a function."""

    function: Callable[[Evaluation], None]

    def resume(self, written: Written) -> None:
        """Nothing can be taken back."""

    def write(self, evaluation: Evaluation) -> None:
        self.function(evaluation)

    def position(self) -> Written:
        return None


class MicroBatches:
    """Queries over live streams, each with the outlet of its answers.

    `streams` are what Spark streams, by their IRIs; `graphs` are static, or change with time. `checkpoint` is a folder
    that all of Spark can reach: a run with the same `fingerprint` goes on there where this one was. Without one there
    is a temporary folder. `is_bounded`: what is there now is answered, and then the streams have ended. `on_end` is
    called with the error that ends a run, and the name of the query whose outlet raised it, if one did.

    >>> run = MicroBatches(spark, [(Standing(query), Callback(print))], {iri: folder})  # doctest: +SKIP
    >>> run.start(); run.wait()  # doctest: +SKIP
    """

    def __init__(
        self,
        spark: SparkSession,
        queries: Sequence[tuple[Standing, Outlet]],
        streams: Mapping[str, LiveStream],
        graphs: Mapping[str | None, Graph] | None = None,
        how: RunSettings | None = None,
        *,
        checkpoint: Path | None = None,
        fingerprint: str = "",
        is_bounded: bool = False,
        on_malformed: Callable[[Malformed], None] | None = None,
        updates: Updates | None = None,
        on_end: Callable[[BaseException, str | None], None] | None = None,
    ) -> None:
        self.spark = spark
        self._on_end = on_end
        self.streams = list(streams)
        how = how or RunSettings()
        self.how = replace(how, instants_per_slice=how.instants_per_slice or ALL)
        self.is_bounded = is_bounded
        time_goes_on = self.how.by_arrival or self.how.idle_timeout is not None
        self.input = LiveInput(list(streams.values()), has_ticks=time_goes_on and not is_bounded)
        self.on_malformed = on_malformed or _ignore
        self._is_temporary = checkpoint is None
        folder = Path(tempfile.mkdtemp(prefix="penstock-")) if checkpoint is None else checkpoint
        self.states = BatchStates(folder.resolve(), fingerprint)  # Java may be at work in another folder
        self.engine = WindowLog(spark, self.states.folder / "log")
        for iri, graph in (graphs or {}).items():
            self.engine.load_graph(iri, graph)
        standing = [query for query, _ in queries]
        self._knowledge = Knowledge(self.engine, self.how.services, updates, standing[0].on_failure)
        self._membership = Membership(self.engine, standing, streams, self.how, self._knowledge)
        self._open_streams()
        self.input = replace(self.input, is_named=any(map(self.engine.keeps_names, self.streams)))
        self.outlets = {name: outlet for name, (_, outlet) in zip(self.chain.queries, queries, strict=True)}
        self._coming: dict[str, Outlet] = {}
        """Those of queries that have been told to come."""
        self._reached: dict[str, int | None] = dict.fromkeys(self.streams)
        """The greatest timestamp of each stream."""
        self._last: int | None = None
        """The last batch, as soon as there is one."""
        self._segments: set[str] = set()
        """Those that counted before: a batch that is repeated needs them."""
        self._malformed = 0
        self._has_odd = False
        """Whether something was not ordinary."""
        self._heard = dict.fromkeys(self.streams, time.monotonic())
        self._running: StreamingQuery | None = None
        self._failure: BaseException | None = None
        self._writing: str | None = None
        """The query whose outlet is at work."""
        self._is_stopped = False

    @property
    def queries(self) -> list[TimedQuery]:
        """In the order in which they are answered; those that are fused are one."""
        return self._membership.queries

    @property
    def chain(self) -> Chain:
        return self._membership.chain

    @property
    def changes(self) -> Changes:
        return self._membership.changes

    def _open_streams(self) -> None:
        """Those from outside, and those that queries give each other; what is known already stays."""
        for iri in (*self.streams, *sorted(self.chain.read)):
            is_named = any(reads_names(query, iri) for query in self.chain.queries.values())
            self.engine.add_stream(iri, is_given=iri not in self.streams, is_named=is_named)

    @property
    def counts(self) -> Counts:
        """What has happened to all queries so far."""
        elements = sum(self.engine.elements(iri) for iri in self.streams)
        return together([query.counts for query in self.queries], elements, self._malformed)

    @property
    def has_finished(self) -> bool:
        """Whether all input has been read and answered, by this run or one before."""
        return self.states.has_finished

    def counts_of(self, name: str) -> Counts:
        """What has happened to the query of that name; of one that is just coming, nothing."""
        return next((query.counts for query in self.queries if name in query.names), Counts())

    # From the outside

    @property
    def is_open(self) -> bool:
        """Whether queries may come and go: what a checkpoint says of them holds for those of the beginning."""
        return self._is_temporary

    @property
    def refused(self) -> set[str]:
        """The queries that came, and could not be answered."""
        return self._membership.refused

    def join(self, name: str, standing: Standing, outlet: Outlet) -> None:
        """Answer another query, too, from the next instant on; any thread may say so."""
        self.refused.discard(name)
        self._coming[name] = outlet
        self.changes.come(name, standing, {})

    def tell(self, name: str, outlet: Outlet) -> None:
        """Give the evaluations of a query to another outlet from now on."""
        (self._coming if name in self._coming else self.outlets)[name] = outlet

    def drop(self, name: str) -> None:
        """Answer a query no more; any thread may say so. What gives something to others goes with them, or later."""
        self.changes.go(name)

    def start(self) -> None:
        """Begin, in threads of Spark's own."""
        writer = self.input.streamed(self.spark).writeStream.foreachBatch(self._process)
        writer = writer.option("checkpointLocation", str(self.states.folder / "spark"))
        writer = writer.trigger(availableNow=True) if self.is_bounded else writer.trigger(processingTime=_PACE)
        self._running = writer.start()

    def wait(self, seconds: float | None = None) -> bool:
        """Wait until it has ended, or so long: whether it has ended. Raises what has gone wrong."""
        assert self._running is not None
        until = None if seconds is None else time.monotonic() + seconds
        while self._running.isActive:
            if until is not None and time.monotonic() >= until:
                return False
            time.sleep(_TICK)
        try:
            failure = self.failure
            if failure is not None:
                raise failure
            if self.is_bounded and not self._is_stopped and not self.has_finished:
                self._finish()
        finally:
            self.states.close()
        return True

    @property
    def is_active(self) -> bool:
        """Whether Spark runs it."""
        return self._running is not None and not self._is_stopped and bool(self._running.isActive)

    @property
    def failure(self) -> BaseException | None:
        """What has ended the run, if something went wrong."""
        if self._failure is not None or self._running is None or self._is_stopped:
            return self._failure
        return self._running.exception()

    def stop(self) -> None:
        """End now; with a checkpoint, another run can go on."""
        self._is_stopped = True
        if self._running is not None:
            self._running.stop()
        self._knowledge.close()
        self.engine.clear()
        self.states.close()
        if self._is_temporary:
            shutil.rmtree(self.states.folder, ignore_errors=True)

    # Batches

    def _process(self, batch: DataFrame, number: int) -> None:
        try:
            if self._last is None:
                self.engine.move_to(batch.sparkSession)
                self._resume(self.states.before(number))
            self._heed(number)
            self._take(batch, number)
            self._answer(number, is_end=False)
            self._commit(number, has_finished=False)
        except BaseException as error:
            if not self._is_stopped:  # else this is how a batch ends that is stopped
                self._failure = error
                if self._on_end is not None:
                    self._on_end(error, self._writing)
            raise BatchError.of(error, is_stopped=self._is_stopped) from None

    def _finish(self) -> None:
        """The streams have ended."""
        if self._last is None:
            self._resume(self.states.latest)
        last = number = self.states.last if self._last is None else self._last
        self._heed(number)
        has_changed = True
        while has_changed:  # who comes now has not come to the end yet
            number += 1
            has_changed = self._answer(number, is_end=True)
        self._commit(last, has_finished=True)

    def _resume(self, kept: State | None) -> None:
        if kept is not None:
            self.engine.restore(kept["engine"])
            self._segments = set(self.engine.segments)
        for query in self.queries:
            if kept is None:
                query.begin()
            else:
                query.restore(kept["queries"][query.name])
            for iri in query.clock.streams.keys() & self._reached.keys():
                self._reached[iri] = query.clock.streams[iri].greatest
        for name in self.chain.queries:
            self.outlets[name].resume(None if kept is None else kept["written"][name])

    def _take(self, batch: DataFrame, number: int) -> None:
        now = time.time_ns() // 1_000_000 if self.how.by_arrival else None
        found = self.input.batch(batch, self.on_malformed, now)
        shares = {} if found.is_empty else self._shares(found, number)
        self._heard.update(dict.fromkeys(shares, time.monotonic()))
        for iri in self.streams:
            times = [self._reached[iri], now, shares[iri].greatest if iri in shares else None]
            self._reached[iri] = max((time for time in times if time is not None), default=None)
        silent = self._silent()
        for query in self.queries:
            query.note_silence(silent)
            self._note(query, shares)
            if now is not None:
                query.reach(self.streams, now)

    def _note(self, query: TimedQuery, shares: Mapping[str, Share]) -> None:
        for iri, share in shares.items():
            if iri not in query.clock.streams:
                continue
            seen = share.seen if query.after is None else self.engine.seen_lately(iri, query.after)
            if seen.greatest is not None:
                query.note(iri, seen.elements, seen.least, seen.greatest, has_late=seen.has_late)

    def _shares(self, found: LiveBatch, number: int) -> dict[str, Share]:
        """What came of each stream, now in the log. What was odd once is not taken for ordinary again."""
        before = {iri: Before(self._reached[iri], self._evaluated(iri)) for iri in self.streams}
        if found.is_of_few_lines and not self._has_odd and is_local(self.spark):
            lines = {self.streams[place]: history for place, history in found.histories.items()}
            shares = self.engine.take_lines(number, lines, before, self.how.lateness)
            if shares is not None:
                return shares
        if found.may_be_ordinary and not self._has_odd:
            shares = self.engine.take(number, found.rows_if_ordinary(), before, self.how.lateness)
            if shares is not None:
                return shares
            self._has_odd = True
        shares = self.engine.take(number, found.rows(), before, self.how.lateness)
        assert shares is not None
        if self.on_malformed is not _ignore:
            for malformed in found.malformed():
                self._malformed += 1
                for query in self.queries:
                    query.counts.malformed += 1
                self.on_malformed(malformed)
        return shares

    def _evaluated(self, stream: str) -> int | None:
        """The instant that has been reached by some query, perhaps without the stream."""
        reached = [query.evaluated for query in self.queries if stream in query.clock.streams]
        return max((instant for instant in reached if instant is not None), default=None)

    def _silent(self) -> set[str]:
        if self.how.idle_timeout is None:
            return set()
        since = time.monotonic() - self.how.idle_timeout / 1000
        return {iri for iri, heard in self._heard.items() if heard < since}

    def _answer(self, number: int, *, is_end: bool) -> bool:
        """Every instant that can be answered is; at the end of the streams all of them.

        Whether queries came or went meanwhile.
        """
        given = {self.chain.produced[stream]: stream for stream in self.chain.read}
        for query in self.queries:
            elements: list[Element] = []
            for evaluation in query.finish() if is_end else query.advance():
                if self._membership.hand_out(evaluation):
                    self._writing = evaluation.query
                    self.outlets[evaluation.query].write(evaluation)
                    self._writing = None
                if query.name in given:
                    elements += elements_of(evaluation)
            if query.evaluated is not None:
                self.changes.reach(query.evaluated - 1)
            if query.name in given:
                self._give(number, query, given[query.name], elements)
        for name, outlet in list(self.outlets.items()):
            if isinstance(outlet, BatchOutlet):
                self._writing = name
                outlet.finish(number)
        self._writing = None
        has_changed = self._heed(number)
        self._membership.settle()
        self.engine.evict([query.need for query in self.queries], self.changes.reached if self.is_open else FOREVER)
        return has_changed

    def _heed(self, number: int) -> bool:
        """Queries come and go. Whether any did."""

        def keep(stream: str, elements: Sequence[Element]) -> None:
            self.engine.keep(number, stream, table_of(elements))

        if not self._membership.heed(self._open_streams, keep):
            return False
        for name in [*self.chain.queries, *self.refused]:
            if name in self._coming:
                self.outlets[name] = self._coming.pop(name)
        self.outlets = {name: self.outlets[name] for name in self.chain.queries}
        return True

    def _give(self, number: int, giver: TimedQuery, stream: str, elements: Sequence[Element]) -> None:
        """What a query has answered goes to those that read it."""
        shares = {stream: self.engine.keep(number, stream, table_of(elements))} if elements else {}
        for query in self.queries:
            if stream in query.clock.streams:
                self._note(query, shares)
                query.clock.streams[stream].reached = giver.evaluated

    def _commit(self, number: int, *, has_finished: bool) -> None:
        state = {
            "engine": self.engine.state,
            "queries": {query.name: query.state for query in self.queries},
            "written": {name: self.outlets[name].position() for name in self.chain.queries},
        }
        self.states.commit(number, state, has_finished=has_finished)
        self.engine.clean(self._segments)
        self._segments = set(self.engine.segments)
        self._last = number


def _ignore(malformed: Malformed) -> None:
    """Nobody wants to know, and nobody has to look for it."""


_PACE = "100 milliseconds"
"""So often Spark looks for new input, where there is none."""

_TICK = 0.05
"""So long, in seconds, nobody looks whether it has ended."""
