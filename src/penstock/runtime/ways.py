"""The ways to execute a run, and the one function that chooses between them.

| way | intake | windows live in | evaluated by |
|---|---|---|---|
| embedded | sources, read in threads | DuckDB | DuckDB |
| history | complete streams | nowhere: tasks read what they need | DuckDB in executors, or Spark SQL |
| micro-batches | Structured Streaming | the window log | DuckDB beside the driver, or Spark SQL |
| sources on Spark | sources, read in threads | the window log | DuckDB beside the driver, or Spark SQL |

For the last two, `engines/spark/live_store.py` chooses the evaluator: the cluster for windows that outgrow the driver.
"""

from __future__ import annotations

import shutil
import tempfile
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Any

from penstock.algebra.inputs import InputError
from penstock.algebra.services import ServiceAnswer, ServiceCall
from penstock.engines.duckdb.store import DuckDBStore
from penstock.engines.protocol import WindowStore
from penstock.rdf.elements import Malformed
from penstock.runtime.background import BackgroundRun, OnEnd, ThreadedRun
from penstock.runtime.changing_graphs import Updates
from penstock.runtime.checkpoints import Checkpoint, DatabaseCheckpoint, FolderCheckpoint
from penstock.runtime.history_intake import HistoryIntake
from penstock.runtime.outlets import Outlet
from penstock.runtime.queries import QuerySpec
from penstock.runtime.run import Run
from penstock.runtime.settings import RunSettings
from penstock.runtime.source_intake import SourceIntake
from penstock.sources.batches import BoundStream, SparkStream
from penstock.sources.graphs import Graph
from penstock.sources.message_streams import MessageStream

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class Way(Enum):
    """A way to execute a run; `title` and `description` are for `explain`."""

    EMBEDDED = "embedded", "sources read by this process, windows in DuckDB"
    HISTORY = "history", "complete streams on Spark, answered in slices by DuckDB in the executors, or by Spark SQL"
    MICRO_BATCHES = "micro-batches", "Structured Streaming, windows in the window log"
    SOURCES_ON_SPARK = "sources on Spark", "sources read by the driver, windows in the window log"

    @property
    def title(self) -> str:
        return self.value[0]

    @property
    def description(self) -> str:
        return self.value[1]


@dataclass(frozen=True, slots=True)
class RunRequest:
    """A requested run: queries, their input, and their outlets.

    `on_malformed` receives malformed input with its stream, `on_end` the error that ends a run in the background.
    `checkpoint` is a folder; `fingerprint` identifies the run that may continue there. `is_bounded`: streams of Spark
    end after the current input. `stopped` ends the intake.
    """

    queries: Sequence[QuerySpec]
    streams: Mapping[str, BoundStream]
    graphs: Mapping[str | None, Graph] = field(default_factory=dict)
    settings: RunSettings = field(default_factory=RunSettings)
    outlets: Mapping[str, Outlet] = field(default_factory=dict)
    on_malformed: Callable[[str, Malformed], None] | None = None
    on_end: OnEnd | None = None
    updates: Updates | None = None
    checkpoint: Path | None = None
    fingerprint: str = ""
    is_bounded: bool = False
    stopped: threading.Event = field(default_factory=threading.Event)
    service_answers: Mapping[ServiceCall, Sequence[ServiceAnswer]] = field(default_factory=dict)
    """Used instead of the endpoints."""


def choose_way(request: RunRequest, *, on_spark: bool) -> Way:
    """The way for a run.

    Spark streams the sources that only it can read, and every run with a checkpoint. It reads complete streams as a
    history. Sources for which this process has to wait, or that ask a web server, are read here, on either engine.
    """
    if not on_spark:
        return Way.EMBEDDED
    sources = request.streams.values()
    if request.checkpoint is not None or any(isinstance(source, SparkStream) for source in sources):
        return Way.MICRO_BATCHES
    is_complete = all(
        source.can_resume and not source.is_live and not isinstance(source, MessageStream) for source in sources
    )
    return Way.HISTORY if is_complete and not request.settings.by_arrival else Way.SOURCES_ON_SPARK


def open_run(request: RunRequest, spark: SparkSession | None = None) -> BackgroundRun:
    """The run, ready to start. Raises ValueError if it is not possible, and CheckpointError."""
    if spark is None:
        return _embedded(request)
    return _ON_SPARK[choose_way(request, on_spark=True)](request, spark)


def _embedded(request: RunRequest) -> ThreadedRun:
    if request.checkpoint is None:
        return _from_sources(request, DuckDBStore())
    checkpoint = DatabaseCheckpoint(request.checkpoint, request.fingerprint)
    try:
        return _from_sources(request, checkpoint.store, checkpoint, checkpoint.close)
    except BaseException:
        checkpoint.close()
        raise


def _sources_on_spark(request: RunRequest, spark: SparkSession) -> ThreadedRun:
    from penstock.engines.spark.live_store import LiveStore

    folder = tempfile.TemporaryDirectory(prefix="penstock-")
    store = LiveStore(spark, Path(folder.name), is_durable=False, windows=request.settings.windows)

    def release() -> None:
        store.close()
        folder.cleanup()

    return _from_sources(request, store, release=release)


def _from_sources(
    request: RunRequest,
    store: WindowStore[Mapping[str, Any]],
    checkpoint: Checkpoint | None = None,
    release: Callable[[], None] | None = None,
) -> ThreadedRun:
    settings = request.settings
    intake = SourceIntake(idle_timeout=settings.idle_timeout, by_arrival=settings.by_arrival, stopped=request.stopped)
    is_prompt = any(source.is_live for source in request.streams.values())
    run = _run(request, store, intake, checkpoint, is_prompt=is_prompt)
    return ThreadedRun(run, request.stopped, release or store.close, request.on_end)


def _history(request: RunRequest, spark: SparkSession) -> ThreadedRun:
    from penstock.engines.spark.history import HistoryStore

    store = HistoryStore(spark, windows=request.settings.windows)
    return ThreadedRun(_run(request, store, HistoryIntake()), request.stopped, store.close, request.on_end)


def _micro_batches(request: RunRequest, spark: SparkSession) -> BackgroundRun:
    from penstock.engines.spark.live_store import LiveStore
    from penstock.runtime.micro_batches import MicroBatchIntake, StreamedRun
    from penstock.sources.spark.live import LiveStream

    settings, checkpoint = request.settings, None
    streams = {iri: stream for iri, stream in request.streams.items() if isinstance(stream, LiveStream)}
    if len(streams) < len(request.streams):
        raise InputError("some streams end and others do not: write ?follow after each folder, or after none")
    folder = Path(tempfile.mkdtemp(prefix="penstock-")) if request.checkpoint is None else request.checkpoint.resolve()
    is_durable = request.checkpoint is not None
    store = LiveStore(spark, folder / "log", is_durable=is_durable, windows=settings.windows)
    if request.checkpoint is not None:
        checkpoint = FolderCheckpoint(folder, request.fingerprint, store)
    time_passes = settings.by_arrival or settings.idle_timeout is not None
    intake = MicroBatchIntake(
        streams,
        idle_timeout=settings.idle_timeout,
        by_arrival=settings.by_arrival,
        has_ticks=time_passes and not request.is_bounded,
    )
    try:
        run = _run(request, store, intake, checkpoint, is_prompt=True)
    except BaseException:
        store.close()
        if checkpoint is not None:
            checkpoint.close()
        else:
            shutil.rmtree(folder, ignore_errors=True)
        raise
    return StreamedRun(
        run, store, intake, folder, checkpoint=checkpoint, is_bounded=request.is_bounded, on_end=request.on_end
    )


_ON_SPARK: Mapping[Way, Callable[[RunRequest, SparkSession], BackgroundRun]] = {
    Way.HISTORY: _history,
    Way.MICRO_BATCHES: _micro_batches,
    Way.SOURCES_ON_SPARK: _sources_on_spark,
}


def _run(
    request: RunRequest,
    store: WindowStore[Any],
    intake: Any,
    checkpoint: Checkpoint | None = None,
    *,
    is_prompt: bool = False,
) -> Run[Any]:
    for iri, graph in request.graphs.items():
        store.load_graph(iri, graph)
    for call, answers in request.service_answers.items():
        store.load_answers(call, answers)
    return Run(
        store,
        intake,
        request.queries,
        request.streams,
        request.settings,
        outlets=request.outlets,
        on_malformed=request.on_malformed,
        updates=request.updates,
        checkpoint=checkpoint,
        is_prompt=is_prompt,
    )
