"""Runs over what Spark streams: they go on in threads of Spark's own, and their answers go to functions."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

from penstock.algebra.inputs import InputError
from penstock.algebra.model import QueryForm
from penstock.api.frames import text_table
from penstock.api.outsiders import Outsiders
from penstock.api.queries import RegisteredQuery, chain_of, how_together, ignore
from penstock.api.spark_frames import checked_types, typed
from penstock.api.spark_streams import LiveStream, is_server
from penstock.engines.protocol import Engine
from penstock.rdf.elements import Malformed
from penstock.rdf.results import Evaluation
from penstock.runtime.checkpoints import Written
from penstock.runtime.log import LOG
from penstock.runtime.micro_batches import Callback, MicroBatches, Outlet
from penstock.sinks.counts import Counts

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

OnBatch = Callable[["DataFrame", int], None]


@dataclass(frozen=True, slots=True)
class BatchWriter:
    """What each micro-batch answers, for a function, as a DataFrame. Raises InputError for types that are none."""

    function: OnBatch
    spark: SparkSession
    form: QueryForm
    terms: bool
    types: Mapping[str, str]
    _waiting: list[Evaluation] = field(default_factory=list, init=False)

    def __post_init__(self) -> None:
        checked_types(self.types, self.form)

    def resume(self, written: Written) -> None:
        self._waiting.clear()

    def write(self, evaluation: Evaluation) -> None:
        if evaluation.says_something:
            self._waiting.append(evaluation)

    def finish(self, number: int) -> None:
        if not self._waiting:
            return
        frame = self.spark.createDataFrame(text_table(self._waiting, self.form, terms=self.terms))
        self.function(typed(frame, self.types), number)
        self._waiting.clear()

    def position(self) -> Written:
        return None


class LiveRun:
    """Queries that are being answered; `RegisteredQuery.start` and `Engine.start` make it.

    Others may come, and leave it, while it goes on; any thread may say so. At the end of `with` it is stopped. An error
    ends it, is logged, and is raised by the next `wait` or `stop`; `is_active` and `exception` tell of it.
    """

    def __init__(
        self,
        batches: MicroBatches,
        queries: Iterable[RegisteredQuery],
        outsiders: dict[RegisteredQuery, Outsiders],
        opened: ExitStack,
    ) -> None:
        self._batches = batches
        self._queries = {query.name: query for query in queries}
        """Those that are answered: what somebody asked for, and what that needs."""
        self._outsiders = outsiders
        """Of those that somebody asked for."""
        self._opened = opened
        self._has_ended = False
        self._is_summed_up = batches.has_finished
        self._is_raised = False
        """Whether the program has the error that ended the run."""
        self._changing = threading.RLock()
        for query in self._queries.values():
            query.runs_in(batches)

    @property
    def counts(self) -> Counts:
        """Those of the query, the first if there are several: each has its own `counts`."""
        return self._batches.queries[0].counts

    def add(self, query: RegisteredQuery, each: Callable[[Evaluation], None]) -> None:
        """Answer another query of the engine, too, from the next instant on; `each` gets its evaluations.

        Of its streams, which are among those that the run began with, it sees what is after the instant that the run
        has come to.

        Raises ValueError where it cannot be answered with the others, where the run has ended, and where there is a
        checkpoint: that is for the queries that a run began with.
        """
        with self._changing:
            self._check_open()
            if self.is_answering(query):
                raise InputError(f"{query.name} is answered by this run already")
            if any(query.streams is not other.streams for other in self._queries.values()):
                raise InputError("add takes a query that the same engine has registered")
            needed = {one.name: one for one in query.with_givers()}
            everyone = {**needed, **self._queries}
            how_together(list(everyone.values()))
            chain = chain_of(everyone.values())
            for name in needed:
                chain.streams_of(name, self._batches.streams)
            outsiders, outlet = opened_for(query, self._opened), query.told_to(each)
            self._outsiders[query] = outsiders
            for one in needed.values():
                if one.name not in self._queries:
                    on_late, own = (outsiders.late, outlet) if one is query else (ignore, Callback(ignore))
                    self._queries[one.name] = one
                    self._batches.join(one.name, one.standing(on_late), own)
                    one.runs_in(self._batches)
                elif one is query:  # others read it already
                    self._batches.tell(one.name, outlet)

    def drop(self, query: RegisteredQuery) -> None:
        """Answer the query no more; the others go on, and what only it needed goes with it.

        Raises ValueError where it is none of the queries or the only one, where others read its stream, and where there
        is a checkpoint.
        """
        with self._changing:
            self.check_drop(query)
            self._outsiders.pop(query).sum_up(query.counts)
            needed = chain_of(self._queries.values()).needed_for(other.name for other in self._outsiders)
            for name in [name for name in self._queries if name not in needed]:
                self._queries.pop(name).runs_no_more()
                self._batches.drop(name)

    def check_drop(self, query: RegisteredQuery) -> None:
        """Raises ValueError where the query cannot leave the run."""
        with self._changing:
            self._check_open()
            if not self.is_answering(query):
                raise InputError(f"{query.name} is not answered by this run")
            if len(self._outsiders) == 1:
                raise InputError(f"{query.name} is the only query of this run: stop() ends it")
            chain_of(self._queries.values()).check_unread(query.name)

    def _check_open(self) -> None:
        if self._has_ended or self._batches.has_finished:
            raise InputError("the run has ended: start another")
        if not self._batches.is_open:
            raise InputError(
                "a run with a checkpoint answers the queries that it began with: stop it, and start one with others "
                "and another checkpoint"
            )

    def is_answering(self, query: RegisteredQuery) -> bool:
        """Whether the query is one of those that it was asked for, and the run goes on."""
        with self._changing:
            for name in self._batches.refused & self._queries.keys():
                self._outsiders.pop(self._queries.pop(name), None)
            return not self._has_ended and not self._batches.has_finished and query in self._outsiders

    def wait(self, seconds: float | None = None) -> bool:
        """Wait until all input has been answered, or so long: whether it has ended. Raises what has gone wrong."""
        try:
            has_ended = self._batches.has_finished or self._batches.wait(seconds)
        except BaseException:
            self._is_raised = self._is_raised or self._batches.failure is not None
            raise
        if has_ended:
            self._sum_up(self._batches.engine)
        return has_ended

    @property
    def is_active(self) -> bool:
        """Whether it is running: neither stopped, nor ended by an error, nor at the end of its input."""
        return not self._has_ended and self._batches.is_active

    def exception(self) -> BaseException | None:
        """The error that has ended the run, such as one that a function raised; None if there is none."""
        return self._batches.failure

    def stop(self) -> None:
        """End it now; with a checkpoint another run can go on.

        Raises the error that had ended the run before, unless `wait` or an earlier `stop` has raised it.
        """
        self._end()
        failure = self._batches.failure
        if failure is not None and not self._is_raised:
            self._is_raised = True
            raise failure

    def _end(self) -> None:
        self._has_ended = True
        self._sum_up(None)
        self._batches.stop()
        self._opened.close()

    def _sum_up(self, engine: Engine | None) -> None:
        """At the end, once: what each query has dropped, and why it has answered nothing, if so."""
        with self._changing:
            if self._is_summed_up:
                return
            self._is_summed_up = True
            for query, outsiders in self._outsiders.items():
                outsiders.sum_up(query.counts)
                has_read = engine is not None or self._batches.is_open  # else an earlier run may have answered
                if has_read and self._batches.failure is None:
                    query.explain_empty(self._batches.queries, engine)

    def __enter__(self) -> LiveRun:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is None:
            self.stop()
        else:
            self._end()


def start_together(
    outlets: Mapping[RegisteredQuery, Outlet], checkpoint: Path | None, *, is_bounded: bool
) -> LiveRun:  # fmt: skip
    """Queries of one engine over what Spark streams, with those that give them something: each stream is read once."""
    first = next(iter(outlets))
    streams: Mapping[str, LiveStream] = dict(first.streams)  # others may be bound later
    if any(hasattr(source, "is_live") for source in streams.values()):
        raise InputError("some streams are not what Spark streams: bind a streaming DataFrame, or FOLDER?follow")
    for source in streams.values():
        if checkpoint is not None and is_server(source.name):
            raise InputError(
                f"{source.name} cannot be read again after a restart, so that a checkpoint is of no use: write the "
                "stream into a folder, and follow that"
            )
    queries = list(dict.fromkeys(query for asked in outlets for query in asked.with_givers()))
    names = [query.name for query in queries]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise InputError(f"two of the queries go by the name {twice!r}: register each with a name= of its own")
    how = how_together(queries)
    opened = ExitStack()
    outsiders = {query: opened_for(query, opened) for query in outlets}

    def malformed(malformed: Malformed) -> None:
        for each in list(outsiders.values()):
            each.malformed(malformed)

    manners = [f"{query.name}\n{query.text}\n{query.manner}" for query in queries]
    batches = MicroBatches(
        first.on_spark(),
        [
            (query.standing(outsiders[query].late), outlets[query])
            if query in outlets
            else (query.standing(ignore), Callback(ignore))
            for query in queries
        ],
        streams,
        first.graphs,
        how,
        checkpoint=checkpoint,
        fingerprint="\n".join([*manners, *sorted(streams)]),
        is_bounded=is_bounded,
        on_malformed=malformed,
        updates=first.updates,
        on_end=_log_end(names),
    )
    run = LiveRun(batches, queries, outsiders, opened)
    first.live.append(run)
    opened.callback(first.live.remove, run)
    if not batches.has_finished:
        batches.start()
    return run


def _log_end(names: Sequence[str]) -> Callable[[BaseException, str | None], None]:
    """Nobody may be waiting for the run when it ends."""

    def log(error: BaseException, name: str | None) -> None:
        raised = f"{type(error).__name__}: {error}"
        if name is None:
            LOG.error(f"{', '.join(names)}: the run has ended with {raised}")
        else:
            LOG.error(f"{name}: the run has ended, because the function that takes its answers raised {raised}")

    return log


def opened_for(query: RegisteredQuery, opened: ExitStack) -> Outsiders:
    """What does not count for a query, with the file of its dead letters, if it is to have one."""
    outsiders = Outsiders(query.manner.is_strict)
    outsiders.open(query.manner.late, opened)
    return outsiders
