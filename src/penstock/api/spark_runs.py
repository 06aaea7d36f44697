"""Runs over what Spark streams: they go on in threads of Spark's own, and their answers go to functions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from types import TracebackType
from typing import TYPE_CHECKING

from penstock.algebra.model import QueryForm
from penstock.api.frames import text_table
from penstock.api.spark_frames import checked_types, typed
from penstock.rdf.results import Evaluation
from penstock.runtime.checkpoints import Written
from penstock.runtime.micro_batches import MicroBatches
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

    At the end of `with` it is stopped.
    """

    def __init__(self, batches: MicroBatches, opened: ExitStack) -> None:
        self._batches = batches
        self._opened = opened
        self._has_ended = False

    @property
    def counts(self) -> Counts:
        """Those of the query, the first if there are several: each has its own `counts`."""
        return self._batches.queries[0].counts

    def is_answering(self, name: str) -> bool:
        """Whether the query of that name is one of those, and the run goes on."""
        names = (name for query in self._batches.queries for name in query.names)
        return not self._has_ended and not self._batches.has_finished and name in names

    def wait(self, seconds: float | None = None) -> bool:
        """Wait until all input has been answered, or so long: whether it has ended. Raises what has gone wrong."""
        return self._batches.has_finished or self._batches.wait(seconds)

    def stop(self) -> None:
        """End it now; with a checkpoint another run can go on."""
        self._has_ended = True
        self._batches.stop()
        self._opened.close()

    def __enter__(self) -> LiveRun:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()
