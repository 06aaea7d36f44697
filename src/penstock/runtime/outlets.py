"""Outlets: the destinations of a query's answers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import repeat
from queue import Queue
from typing import Any, TypeAlias

from penstock.rdf.result_batches import ResultBatch
from penstock.rdf.results import Evaluation
from penstock.runtime.answers import Answer

Written: TypeAlias = Any
"""The position up to which an output is safe, in a form that the outlet defines; JSON."""


class Outlet:
    """Receives the answers of a query.

    Two kinds of outlets write everything exactly once in a run with a checkpoint. Either output after the last commit
    is cut off or overwritten when it is written again after a crash, as in a file. Or `write` only keeps the answers,
    `position` makes them survive a crash, and `deliver` sends them after the commit, as to a broker. An outlet that
    can do neither receives some evaluations twice, and can recognise them by query and instant.
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

    def deliver(self) -> None:
        """The position has been committed: send the messages that were kept until then."""

    def complete(self, written: Written) -> None:
        """An earlier run has ended at this position: send its messages, if it was killed before it did."""

    def interrupt(self) -> None:
        """The run is being stopped: do not wait for a receiver any longer. Any thread may call this."""

    def close(self, *, has_failed: bool) -> None:
        """The run is over; this may be called twice."""


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


@dataclass(frozen=True, slots=True)
class Outlets(Outlet):
    """Writes to several outlets."""

    outlets: tuple[Outlet, ...]

    @property
    def takes_each(self) -> bool:
        return any(outlet.takes_each for outlet in self.outlets)

    def resume(self, written: Written) -> None:
        for outlet, own in zip(self.outlets, written or repeat(None), strict=False):
            outlet.resume(own)

    def write(self, batch: ResultBatch, which: range) -> None:
        for outlet in self.outlets:
            outlet.write(batch, which)

    def finish(self, number: int) -> None:
        for outlet in self.outlets:
            outlet.finish(number)

    def position(self) -> Written:
        return [outlet.position() for outlet in self.outlets]

    def deliver(self) -> None:
        for outlet in self.outlets:
            outlet.deliver()

    def complete(self, written: Written) -> None:
        for outlet, own in zip(self.outlets, written, strict=True):
            outlet.complete(own)

    def interrupt(self) -> None:
        for outlet in self.outlets:
            outlet.interrupt()

    def close(self, *, has_failed: bool) -> None:
        for outlet in self.outlets:
            outlet.close(has_failed=has_failed)


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
