"""Where the answers of a query go."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from queue import Queue
from typing import Any, TypeAlias

from penstock.rdf.result_batches import ResultBatch
from penstock.rdf.results import Evaluation
from penstock.runtime.answers import Answer

Written: TypeAlias = Any
"""How much of an output is safe, as its outlet says it; JSON can hold it."""


class Outlet:
    """Takes the answers of a query.

    What is written between two commits is cut off or overwritten when it is written again after a crash. An outlet that
    can do neither receives some evaluations twice, and can recognise them by query and instant.
    """

    @property
    def takes_each(self) -> bool:
        """Whether it takes evaluations one at a time, so that it sees how far the run is at each."""
        return False

    def resume(self, written: Written) -> None:
        """Writing begins; `written` is what `position` returned at the last commit, None at the very beginning."""

    def write(self, batch: ResultBatch, which: range) -> None:
        """Take some evaluations of a batch, which follow each other."""

    def finish(self, number: int) -> None:
        """All evaluations of a batch are written. A batch that is repeated after a crash has the same number."""

    def position(self) -> Written:
        """How much survives a crash now; None where nothing can be taken back."""


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
    """Writes to the outlet of another query, which begins and ends it."""

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
