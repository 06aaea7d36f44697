"""A run of registered queries: the program iterates over it, or it continues in the background."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from queue import Empty, Queue
from types import TracebackType
from typing import TYPE_CHECKING, Any

from penstock.algebra.inputs import InputError
from penstock.api.dead_letters import DeadLetters, LettersOutlet
from penstock.api.run_messages import RunMessages
from penstock.api.shared_settings import chain_of, shared_settings
from penstock.engines.protocol import CompiledQuery, Slice, WindowStore
from penstock.rdf.results import Evaluation
from penstock.runtime.answers import Answer
from penstock.runtime.outlets import Outlet, Outlets, QueueOutlet
from penstock.runtime.queries import RunningQuery
from penstock.runtime.run import Run
from penstock.runtime.ways import RunRequest, Way, choose_way, open_run
from penstock.sinks.counts import Counts

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from penstock.api.queries import RegisteredQuery

_SECONDS_BETWEEN = 0.1


@dataclass(frozen=True, slots=True)
class RunStatus:
    """`message` is the state of the run; `way` is the way in which it is executed, as in `explain`."""

    message: str
    is_active: bool
    way: str


@dataclass(frozen=True, slots=True)
class RunProgress:
    """The progress of a run: its counts, those of each query, and the current evaluator of its windows."""

    counts: Counts
    queries: Mapping[str, Counts]
    evaluated_by: str

    @property
    def watermark(self) -> int | None:
        return self.counts.watermark


class RunHandle:
    """A run of queries; `RegisteredQuery.start` and `Engine.start` return it.

    It resembles a StreamingQuery of Spark. An error ends the run and is logged; the next `wait` or `stop` raises it.
    At the end of `with` the run is stopped.
    """

    def __init__(
        self,
        request: RunRequest,
        spark: SparkSession | None,
        queries: Sequence[RegisteredQuery],
        asked: Mapping[RegisteredQuery, Outlet | None],
        messages: RunMessages,
        on_end: Callable[[RunHandle], None],
    ) -> None:
        """A run that is ready to start. `request` has its input; without an outlet, the program iterates over
        evaluations.

        A run that this process drives has begun, so errors in its input are raised here.
        """
        self._stopped = request.stopped
        self._has_checkpoint = request.checkpoint is not None
        self.way = choose_way(request, on_spark=spark is not None)
        self._queries = {query.name: query for query in queries}
        """The queries that are evaluated: the requested ones, and those whose streams they read."""
        self._asked = {query.name: query for query in asked}
        """The requested queries."""
        self._is_iterated = None in asked.values()
        self._given_outlets = [outlet for outlet in asked.values() if outlet is not None]
        self._found: Queue[Answer] = Queue()
        """Evaluations of micro-batches that the program has not received yet."""
        self._messages, self._letters = messages, DeadLetters(messages)
        self._on_end = on_end
        self._is_iterating = self._has_ended = self._has_failed = self._is_raised = False
        self._last_progress: RunProgress | None = None
        """The explanation of a run that has ended: its store is closed."""
        self._changing = threading.RLock()
        request = replace(
            request,
            queries=[query._spec(self._letters, messages) for query in queries],
            outlets=self._outlets(asked),
            on_malformed=self._letters.malformed,
            on_end=partial(messages.failed, list(self._queries)),
        )
        self._background = open_run(request, spark)
        self._is_summed_up = self.has_finished
        try:
            for query in queries:
                query._runs_in(self._run, self.way)
            if self.has_finished:
                self._run.complete()
            elif self.way is not Way.MICRO_BATCHES:
                self._run.begin()
        except BaseException:
            self._has_failed = True
            self._background.stop()
            self._close_outlets()
            self._letters.close()
            raise

    def _outlets(self, asked: Mapping[RegisteredQuery, Outlet | None]) -> dict[str, Outlet]:
        outlets: dict[str, Outlet] = {}
        for query, given in asked.items():
            self._letters.add(query.name, query.options.late, is_strict=query.options.is_strict)
            outlet = QueueOutlet(self._found) if given is None and self.way is Way.MICRO_BATCHES else given
            if outlet is not None and self._has_checkpoint:
                outlet = Outlets((LettersOutlet(self._letters, query.name), outlet))
            if outlet is not None:
                outlets[query.name] = outlet
            if not self._has_checkpoint:
                self._letters.open(query.name)
        return outlets

    @property
    def _run(self) -> Run[Any]:
        return self._background.run

    # Progress

    @property
    def is_active(self) -> bool:
        """Whether it is running: neither stopped, nor ended by an error, nor at the end of its input."""
        return not self._has_ended and (self._is_iterating or self._background.is_active)

    @property
    def has_finished(self) -> bool:
        """Whether an earlier run with the same checkpoint has read all input."""
        return self._run.has_finished

    @property
    def status(self) -> RunStatus:
        failure = self._background.failure
        if failure is not None:
            message = f"failed: {failure}"
        elif self.is_active:
            message = "running"
        else:
            message = "stopped" if self._stopped.is_set() else "finished"
        return RunStatus(message, self.is_active, self.way.title)

    @property
    def counts(self) -> Counts:
        """The counts of the query, or of the first one if there are several; each query has its own `counts`."""
        return self._run.queries[0].counts

    @property
    def last_progress(self) -> RunProgress:
        """The counts of the run so far, and of each query."""
        with self._changing:
            if self._last_progress is not None:
                return self._last_progress
            counts = {name: query.counts for query in self._run.queries for name in query.names}
            asked = {name: counts[name] for name in self._asked if name in counts}
            return RunProgress(self._run.counts, asked, self._run.store.evaluated_by)

    def exception(self) -> BaseException | None:
        """The error that has ended the run, such as one that a function raised; None if there is none."""
        return self._background.failure

    # Running

    def start(self) -> None:
        """Run in the background."""
        if not self.has_finished:
            self._background.start()

    def run(self) -> None:
        """Run to the end of the input, in this thread as far as possible."""
        if self.way is not Way.MICRO_BATCHES:
            for _ in self._driven():
                pass
            return
        try:
            self.start()
            self.wait()
        except KeyboardInterrupt:
            self._sum_up(None)
            raise
        finally:
            self._end()

    def evaluations(self) -> Iterator[Evaluation]:
        """Run, and return each evaluation as soon as its instant has passed."""
        for batch, which in self.answers():
            for evaluation in batch.evaluations(which):
                query = self._asked.get(evaluation.query)
                if query is not None and query._takes(evaluation):
                    yield evaluation

    def answers(self, *, are_together: bool = False) -> Iterator[Answer]:
        """The same in columns; several instants may come together."""
        return self._queued() if self.way is Way.MICRO_BATCHES else self._driven(are_together)

    def _driven(self, are_together: bool = False) -> Iterator[Answer]:
        """The thread that iterates does the work."""
        self._is_iterating = True
        try:
            for answer in self._run.answers(are_together=are_together):
                if self._stopped.is_set():
                    return
                if self._is_asked_for(answer):
                    yield answer
                    if self._stopped.is_set():
                        return
            self._sum_up(self._run.store)
        except KeyboardInterrupt:
            self._sum_up(None)
            raise
        except Exception:
            self._has_failed = True
            raise
        finally:
            self._is_iterating = False
            self._end(explains=False)

    def _queued(self) -> Iterator[Answer]:
        """Spark does the work in its own threads; evaluations wait in a queue."""
        self.start()
        with self:
            has_ended = False
            while not (has_ended and self._found.empty()) and not self._stopped.is_set() and self._asked:
                has_ended = has_ended or self.wait(0)
                with suppress(Empty):
                    answer = self._found.get(timeout=_SECONDS_BETWEEN)
                    if self._is_asked_for(answer):
                        yield answer

    def whole(self, query: RegisteredQuery) -> tuple[CompiledQuery, Slice] | None:
        """Run over history: all instants of a query in one slice, and what evaluates it; the store stays open."""
        try:
            found = self._run.whole(query.name)
            self._sum_up(self._run.store, explains=False)
            running = self._run.query(query.name)
            if running.counts.evaluations:
                query._explain_empty_later(running, self._run.store)
            else:
                self._explain_empty(query, running, self._run.store)
        finally:
            self._sum_up(None, explains=False)
            self._has_ended = True
            self._run.close()
            self._letters.close()
            self._on_end(self)
        return found

    def _is_asked_for(self, answer: Answer) -> bool:
        batch, which = answer
        return batch.query(which.start) in self._asked

    def wait(self, seconds: float | None = None) -> bool:
        """Wait until all input has been answered, for at most `seconds`; return whether the run has ended.

        Raises the error that has ended the run.
        """
        try:
            has_ended = self._background.wait(seconds)
        except BaseException:
            self._is_raised = self._is_raised or self._background.failure is not None
            raise
        if has_ended:
            self._sum_up(None if self._has_ended else self._run.store)
            self._close_outlets()
        return has_ended

    def _close_outlets(self) -> None:
        for outlet in self._given_outlets:
            outlet.close(has_failed=self._has_failed or self._background.failure is not None)

    await_termination = wait

    def stop(self) -> None:
        """Stop now; any thread may call this. With a checkpoint, another run can continue.

        Raises the error that had ended the run before, unless `wait` or an earlier `stop` has raised it.
        """
        self._end()
        failure = self._background.failure
        if failure is not None and not self._is_raised:
            self._is_raised = True
            raise failure

    def interrupt(self) -> None:
        """End the statement that is running in this process, if there is one; any thread may call this."""
        if self.way is not Way.MICRO_BATCHES:
            self._run.interrupt()
        else:
            self._run.interrupt_outlets()

    def _end(self, *, explains: bool = True) -> None:
        if self._is_iterating:  # the iterating thread releases it
            self._stopped.set()
        if self._is_iterating or self._has_ended:
            return
        self._has_ended = True
        self._stopped.set()
        self._sum_up(None, explains=explains)
        with self._changing:
            self._last_progress = self.last_progress
        self._background.stop()
        self._close_outlets()
        self._letters.close()
        self._on_end(self)

    def _sum_up(self, store: WindowStore[Any] | None, *, explains: bool = True) -> None:
        """At the end, once: report what was dropped, and which queries returned no results.

        Without a store, predicates are not checked: that may take a job of Spark's.
        """
        with self._changing:
            if self._is_summed_up:
                return
            self._is_summed_up = True
            self._letters.sum_up()
            for name, counts in self.last_progress.queries.items():
                self._letters.drop(name, counts.late)
            has_read = store is not None or not self._has_checkpoint  # else an earlier run may have answered
            if explains and has_read and self._background.failure is None:
                for running in self._run.queries:
                    for name in running.names:
                        if name in self._asked:
                            self._explain_empty(self._asked[name], running, store)

    def _explain_empty(self, query: RegisteredQuery, running: RunningQuery, store: WindowStore[Any] | None) -> None:
        reason = query._explain_empty(running, store)
        if reason is not None:
            self._messages.empty(query.name, reason)

    # Membership

    def add(self, query: RegisteredQuery, each: Callable[[Evaluation], None]) -> None:
        """Answer another query of the engine, too, from the next instant on; `each` receives its evaluations.

        The query sees the part of its streams after the instant that the run has reached. On Spark it can read only
        streams that the run started with.

        Raises ValueError where the query cannot run with the others, where the run has ended, and where it has a
        checkpoint: a checkpointed run keeps the queries it started with.
        """
        with self._changing:
            self.check_add(query)
            self._join(query, query._callback(each))

    def check_add(self, query: RegisteredQuery) -> None:
        """Raises ValueError where a query cannot run with the others."""
        with self._changing:
            self._check_open(query)
            if self.is_answering(query):
                raise InputError(f"{query.name} is already answered by this run")
            if any(query.engine is not other.engine for other in self._queries.values()):
                raise InputError("add takes a query that the same engine has registered")
            needed = query.with_producers()
            everyone = {**self._queries, **{one.name: one for one in needed if one.name not in self._queries}}
            shared_settings(list(everyone.values()))
            chain = chain_of(everyone.values())
            bound = self._run.streams if self.way is Way.MICRO_BATCHES else query.engine.streams
            for one in needed:
                chain.streams_of(one.name, bound)

    def join(self, query: RegisteredQuery) -> None:
        """Answer a query that the engine has just registered, too; `evaluations` returns its results."""
        with self._changing:
            self._join(query, QueueOutlet(self._found) if self.way is Way.MICRO_BATCHES else None)

    def _join(self, query: RegisteredQuery, outlet: Outlet | None) -> None:
        options = query.options
        self._letters.add(query.name, options.late, is_strict=options.is_strict)
        self._letters.open(query.name)
        self._asked[query.name] = query
        sources = {} if self.way is Way.MICRO_BATCHES else query.engine.bound_streams()
        for one in query.with_producers():
            if one.name not in self._queries:
                self._queries[one.name] = one
                self._run.join(
                    one.name, one._spec(self._letters, self._messages), sources, outlet if one is query else None
                )
                one._runs_in(self._run, self.way)
            elif one is query and outlet is not None:  # other queries already read it
                self._run.changes.set_outlet(one.name, outlet)

    def drop(self, query: RegisteredQuery) -> None:
        """Stop answering a query; queries that only it needed are dropped, too.

        Raises ValueError where the run does not answer it or answers nothing else, where others read its stream, and
        where there is a checkpoint.
        """
        with self._changing:
            self.check_drop(query)
            self._letters.drop(query.name, query.counts.late)
            del self._asked[query.name]
            needed = chain_of(self._queries.values()).needed_for(self._asked)
            for name in [name for name in self._queries if name not in needed]:
                self._queries.pop(name)._runs_no_more()
                self._run.drop(name)

    def check_drop(self, query: RegisteredQuery) -> None:
        """Raises ValueError where the query cannot leave the run."""
        with self._changing:
            if not self._is_iterated:
                self._check_open(query)
            if not self.is_answering(query):
                raise InputError(f"{query.name} is not answered by this run")
            if len(self._asked) == 1 and not self._is_iterated:
                raise InputError(f"{query.name} is the only query of this run: stop() ends it")
            chain_of(self._queries.values()).check_unread(query.name)

    def _check_open(self, query: RegisteredQuery) -> None:
        if self._has_ended or self.has_finished:
            raise InputError("the run has ended: start another one")
        if self._has_checkpoint:
            raise InputError(
                "a checkpointed run keeps the queries it started with: stop it, and start another one with other "
                "queries and another checkpoint"
            )
        if not self._run.is_open:
            raise InputError(
                "a run over history on Spark is one job for the queries it started with: stop it with engine.stop(), "
                f"register {query.name}, and start again"
            )

    def is_answering(self, query: RegisteredQuery) -> bool:
        """Whether the query was requested, and the run has not ended."""
        with self._changing:
            for name in self._run.refused & self._queries.keys():
                self._asked.pop(name, None)
                del self._queries[name]
            return not self._has_ended and not self.has_finished and self._asked.get(query.name) is query

    def __enter__(self) -> RunHandle:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is None:
            self.stop()
        else:
            self._end()
