"""How queries, their input and their outlets become a run."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from queue import Queue
from typing import TYPE_CHECKING, Any

from penstock.api.dead_letters import DeadLetters
from penstock.api.handle import RunHandle
from penstock.api.queries import RegisteredQuery
from penstock.api.run_messages import RunMessages
from penstock.engines.protocol import WindowStore
from penstock.rdf.result_batches import ResultBatch
from penstock.runtime.answers import Answer
from penstock.runtime.outlets import Outlet, QueueOutlet, Written
from penstock.runtime.ways import RunRequest, Way, choose_way, open_run

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@dataclass(frozen=True, slots=True)
class _WithLetters(Outlet):
    """Another outlet, whose position in a checkpoint includes that of the file of dead letters."""

    outlet: Outlet
    letters: DeadLetters
    query: str

    def resume(self, written: Written) -> None:
        own, letters = (None, None) if written is None else written
        self.letters.open(self.query, letters)
        self.outlet.resume(own)

    @property
    def takes_each(self) -> bool:
        return self.outlet.takes_each

    def write(self, batch: ResultBatch, which: range) -> None:
        self.outlet.write(batch, which)

    def finish(self, number: int) -> None:
        self.outlet.finish(number)

    def position(self) -> Written:
        return self.outlet.position(), self.letters.position(self.query)


def open_handle(
    request: RunRequest,
    spark: SparkSession | None,
    queries: Sequence[RegisteredQuery],
    asked: Mapping[RegisteredQuery, Outlet | None],
    messages: RunMessages,
    prepare: Callable[[WindowStore[Any]], None],
    on_end: Callable[[RunHandle], None],
) -> RunHandle:
    """Queries in one run, ready to start. `request` has their input; an outlet that is None: evaluations are iterated.

    A run that this process drives has begun, so what is wrong with its input is raised here.
    """
    is_iterated = None in asked.values()
    has_checkpoint = request.checkpoint is not None
    way = choose_way(
        request.streams,
        on_spark=spark is not None,
        by_arrival=request.settings.by_arrival,
        has_checkpoint=has_checkpoint,
    )
    letters = DeadLetters(messages)
    found: Queue[Answer] = Queue()
    outlets: dict[str, Outlet] = {}
    for query, given in asked.items():
        letters.add(query.name, query.options.late, is_strict=query.options.is_strict)
        outlet = QueueOutlet(found) if given is None and way is Way.MICRO_BATCHES else given
        if outlet is not None:
            outlets[query.name] = _WithLetters(outlet, letters, query.name) if has_checkpoint else outlet
        if not has_checkpoint:
            letters.open(query.name)
    names = [query.name for query in queries]
    requested = {query.name: query for query in asked}
    specs = [query._spec(letters, messages) for query in queries]
    background = open_run(
        replace(
            request,
            queries=specs,
            outlets=outlets,
            on_malformed=letters.malformed,
            on_end=partial(messages.failed, names),
        ),
        spark,
    )
    prepare(background.run.store)
    try:
        handle = RunHandle(
            background,
            way,
            {query.name: query for query in queries},
            requested,
            letters,
            messages,
            request.stopped,
            has_checkpoint=has_checkpoint,
            is_iterated=is_iterated,
            found=found,
            on_end=on_end,
        )
        if way is not Way.MICRO_BATCHES and not handle.has_finished:
            background.run.begin()
    except BaseException:
        background.stop()
        letters.close()
        raise
    return handle
