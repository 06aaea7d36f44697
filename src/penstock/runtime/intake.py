"""The interface between a run and its intake."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING, Protocol, TypeVar

from penstock.engines.protocol import IntakeBatch

if TYPE_CHECKING:
    from penstock.runtime.run import Run

Rows = TypeVar("Rows")


class Intake(Protocol[Rows]):
    """Reads the input of a run, batch by batch (source_intake.py, history_intake.py, micro_batches.py)."""

    @property
    def reads_on_demand(self) -> bool:
        """Whether a stream is read when the first query reads it; otherwise all are read from the start."""

    @property
    def silent(self) -> Collection[str]:
        """The streams that have been idle for longer than their timeout."""

    @property
    def is_stopped(self) -> bool:
        """Whether the run was stopped: then the streams have not ended, though there are no more batches."""

    def batches(self, run: Run[Rows]) -> Iterator[IntakeBatch[Rows]]:
        """All batches until the streams end."""

    def close(self) -> None: ...
