"""Micro-batches of Structured Streaming: one streaming query of Spark drives a run.

Spark cuts the streams into micro-batches and numbers them. It repeats an unfinished batch with the same input. A
repeated batch starts from the state before it, with its output cut to that state, so the result is the same. A batch
that the run has committed is done, even if Spark was killed before it recorded this: it is not evaluated again.
"""

from __future__ import annotations

import atexit
import shutil
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias
from weakref import WeakSet

from penstock.algebra.element_names import reads_names
from penstock.engines.protocol import IntakeBatch
from penstock.engines.spark.live_store import LiveStore
from penstock.rdf.elements import Malformed
from penstock.runtime.background import OnEnd
from penstock.runtime.checkpoints import FolderCheckpoint
from penstock.runtime.run import Run
from penstock.sources.spark.live import LargeBatch, LiveInput, LiveStream

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery


Rows: TypeAlias = "Mapping[str, pa.Table] | LargeBatch"
"""Tables by their streams, or rows that executors decode."""


class BatchError(Exception):
    """The error that Spark receives for a failed micro-batch: one line.

    Spark searches the text of the error for interruptions with a regular expression that recurses for each character. A
    Java stack trace in that text overflows the default stack, and Spark logs a thousand lines. `StreamedRun.wait`
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


class MicroBatchIntake:
    """Streams of Spark, as one: each micro-batch has the new input of all of them.

    With `has_ticks` there are micro-batches even if no input arrives, so that time passes.
    """

    reads_on_demand = is_stopped = False

    def __init__(
        self,
        streams: Mapping[str, LiveStream],
        *,
        idle_timeout: int | None = None,
        by_arrival: bool = False,
        has_ticks: bool = False,
    ) -> None:
        self._names = list(streams)
        self.input = LiveInput(list(streams.values()), has_ticks=has_ticks)
        self._idle_timeout = idle_timeout
        self._by_arrival = by_arrival
        self._heard = dict.fromkeys(streams, time.monotonic())

    @property
    def silent(self) -> set[str]:
        if self._idle_timeout is None:
            return set()
        since = time.monotonic() - self._idle_timeout / 1000
        return {iri for iri, heard in self._heard.items() if heard < since}

    def batches(self, run: Run[Rows]) -> Iterator[IntakeBatch[Rows]]:
        """None: Spark delivers batches (`StreamedRun`)."""
        return iter(())

    def batch(self, frame: DataFrame, number: int) -> IntakeBatch[Rows]:
        """A micro-batch, decoded by the driver if it is not too large."""
        now = time.time_ns() // 1_000_000 if self._by_arrival else None
        malformed: list[tuple[str, Malformed]] = []
        found = self.input.read(frame, lambda place, entry: malformed.append((self._names[place], entry)), now)
        if isinstance(found, LargeBatch):
            self._hear(self._names)
            return IntakeBatch(number, found, malformed, now=now)
        rows = {self._names[place]: table for place, table in found.items()}
        self._hear([*rows, *(stream for stream, _ in malformed)])
        return IntakeBatch(number, rows or None, malformed, now=now)

    def _hear(self, streams: Sequence[str]) -> None:
        self._heard.update(dict.fromkeys(streams, time.monotonic()))

    def close(self) -> None:
        """Spark closes its streams."""


@dataclass(slots=True, eq=False, weakref_slot=True)
class _BatchCallback:
    """The function that Spark calls with each micro-batch. Spark keeps it forever, but the run must be freed when it
    ends.
    """

    process: Callable[[DataFrame, int], None] | None

    def __call__(self, frame: DataFrame, number: int) -> None:
        if self.process is not None:
            self.process(frame, number)


_callbacks: WeakSet[_BatchCallback] = WeakSet()


@atexit.register
def _free_runs() -> None:
    """Without this, DuckDB would report the objects of a run as leaked when the program ends."""
    for callback in _callbacks:
        callback.process = None


class StreamedRun:
    """A run in threads of Spark; its store is a live store, its intake is micro-batches.

    `is_bounded`: the run ends after the current input. Without a checkpoint the folder is temporary.
    """

    def __init__(
        self,
        run: Run[Rows],
        store: LiveStore,
        intake: MicroBatchIntake,
        folder: Path,
        *,
        checkpoint: FolderCheckpoint | None,
        is_bounded: bool = False,
        on_end: OnEnd | None = None,
    ) -> None:
        self.run = run
        self._store, self._intake = store, intake
        self._folder = folder
        self._checkpoint = checkpoint
        self._is_bounded = is_bounded
        self._on_end = on_end
        self._has_begun = False
        self._callback = _BatchCallback(self._process)
        _callbacks.add(self._callback)
        self._query: StreamingQuery | None = None
        self._failure: BaseException | None = None
        self._is_stopped = False
        self._starting = ExitStack()
        """Settings of the session that count until the first micro-batch."""

    def start(self) -> None:
        """Start, in threads of Spark."""
        chain = self.run.chain
        is_named = any(reads_names(query, iri) for query in chain.queries.values() for iri in self.run.streams)
        self._intake.input = replace(self._intake.input, is_named=is_named)
        session = self._store.session
        writer = self._intake.input.streamed(session).writeStream.foreachBatch(self._callback)
        writer = writer.option("checkpointLocation", str(self._folder / "spark"))
        writer = writer.trigger(availableNow=True) if self._is_bounded else writer.trigger(processingTime=_PACE)
        self._starting.enter_context(_quick_commits(session))
        try:
            self._query = writer.start()
        except BaseException:
            self._starting.close()
            raise

    def _process(self, frame: DataFrame, number: int) -> None:
        try:
            if not self._has_begun:
                self._has_begun = True
                self._starting.close()
                self._store.move_to(frame.sparkSession)
                self.run.begin()
            if number > self.run.number:
                for _ in self.run.turn(self._intake.batch(frame, number)):
                    pass
        except BaseException as error:
            if not self._is_stopped:  # otherwise the error is how a stopped batch ends
                self._failure = error
                if self._on_end is not None:
                    self._on_end(error, self.run.writing)
            raise BatchError.of(error, is_stopped=self._is_stopped) from None

    def wait(self, seconds: float | None = None) -> bool:
        """Wait until the run has ended, or until the timeout; returns whether it has ended. Raises the error that ended
        it.
        """
        if self.run.has_finished:
            return True
        assert self._query is not None
        until = None if seconds is None else time.monotonic() + seconds
        while self._query.isActive:
            if until is not None and time.monotonic() >= until:
                return False
            time.sleep(_TICK)
        self._callback.process = None
        self._starting.close()
        try:
            failure = self.failure
            if failure is not None:
                raise failure
            if self._is_bounded and not self._is_stopped:
                for _ in self.run.answers():
                    pass
        finally:
            if self._checkpoint is not None:
                self._checkpoint.close()
        return True

    @property
    def is_active(self) -> bool:
        return self._query is not None and not self._is_stopped and bool(self._query.isActive)

    @property
    def failure(self) -> BaseException | None:
        """The error that has ended the run, if one has."""
        if self._failure is not None or self._query is None or self._is_stopped:
            return self._failure
        return self._query.exception()

    def stop(self) -> None:
        """End now; with a checkpoint, another run can continue."""
        self._is_stopped = True
        self._starting.close()
        self.run.interrupt_outlets()
        if self._query is not None:
            self._query.stop()
        self._callback.process = None
        self.run.close()
        self._store.close()
        if self._checkpoint is not None:
            self._checkpoint.close()
        else:
            shutil.rmtree(self._folder, ignore_errors=True)


@contextmanager
def _quick_commits(session: SparkSession) -> Iterator[None]:
    """For a streaming query that starts meanwhile, Spark renames the files of its logs itself, unless a program has
    set how.

    By default it starts a process for each file. Both write a temporary file and then rename it, so a crash leaves no
    partial one. Streams of files read the setting when Spark reads them for the first time.
    """
    if session.conf.get(_FILE_MANAGER, None) is not None:
        yield
        return
    session.conf.set(_FILE_MANAGER, _FILE_MANAGERS + "FileSystemBasedCheckpointFileManager")
    try:
        yield
    finally:
        session.conf.unset(_FILE_MANAGER)


_FILE_MANAGER = "spark.sql.streaming.checkpointFileManagerClass"
_FILE_MANAGERS = "org.apache.spark.sql.execution.streaming.checkpointing."

_PACE = "100 milliseconds"
"""The interval at which Spark looks for new input if there is none."""

_TICK = 0.05
"""The interval at which `wait` checks whether the run has ended, in seconds."""
