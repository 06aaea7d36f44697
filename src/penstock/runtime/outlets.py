"""Outlets: the destinations of a query's answers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from queue import Queue
from typing import Any, TypeAlias

from penstock.rdf.result_batches import ResultBatch
from penstock.rdf.results import Evaluation
from penstock.runtime.answers import Answer

Written: TypeAlias = Any
"""The position up to which an output is safe, in a form that the outlet defines; JSON."""


class Outlet:
    """Receives the answers of a query.

    Output after the last commit is cut off or overwritten when it is written again after a crash. An outlet that can do
    neither receives some evaluations twice, and can recognise them by query and instant.
    """

    @property
    def takes_each(self) -> bool:
        """Whether it receives evaluations one at a time, so that it sees the progress of the run at each."""
        return False

    def resume(self, written: Written) -> None:
        """Writing begins; `written` is the result of `position` at the last commit, None at the very beginning."""

    def write(self, batch: ResultBatch, which: range) -> None:
        """Receive some consecutive evaluations of a batch."""

    def finish(self, number: int) -> None:
        """All evaluations of a batch are written. A batch that is repeated after a crash has the same number."""

    def position(self) -> Written:
        """The position that survives a crash now; None if output cannot be cut off."""


@dataclass(frozen=True, slots=True)
class QueueOutlet(Outlet):
    """Puts evaluations into a queue, for another thread."""

    queue: Queue[Answer]

    @property
    def takes_each(self) -> bool:
        return True

    def write(self, batch: ResultBatch, which: range) -> None:
        self.queue.put((batch, which))


@dataclass(frozen=True, slots=True)
class SharedOutlet(Outlet):
    """Writes to the outlet of another query, which opens and closes it."""

    outlet: Outlet

    def write(self, batch: ResultBatch, which: range) -> None:
        self.outlet.write(batch, which)


@dataclass(frozen=True)
class Callback(Outlet):
    """Passes evaluations to a function."""

    function: Callable[[Evaluation], None]

    @property
    def takes_each(self) -> bool:
        return True

    def write(self, batch: ResultBatch, which: range) -> None:
        for evaluation in batch.evaluations(which):
            self.function(evaluation)
