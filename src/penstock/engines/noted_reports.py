"""Reports that are computed from the appended rows, without a statement (closings.py, arrival_reports.py)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Generic, Protocol, TypeVar

import pyarrow as pa
import pyarrow.compute as pc


class NotedWindow(Protocol):
    """The instants at which one window reports."""

    def note(self, rows: pa.Table) -> None:
        """Rows have been appended."""

    def instants(self, first: int, last: int) -> Iterable[int]:
        """The instants from `first` to `last`; earlier ones are not needed again."""

    @property
    def last_end(self) -> int | None:
        """The time until which windows with content are open."""


Window = TypeVar("Window", bound=NotedWindow, covariant=True)


class NotedReport(Generic[Window]):
    """The report of windows, each with its stream (`CompiledReport`); the query sees rows `after` an instant."""

    def __init__(self, windows: Sequence[tuple[str, Window]], after: int | None = None) -> None:
        self.windows = windows
        self.after = after

    def note(self, stream: str, rows: pa.Table) -> None:
        if self.after is not None:
            rows = rows.filter(pc.greater(rows["ts"], self.after))
        for read, window in self.windows:
            if read == stream:
                window.note(rows)

    def instants(self, first: int, last: int, end: int | None) -> list[int]:
        return sorted({instant for _, window in self.windows for instant in window.instants(first, last)})

    def last_end(self, first: int) -> int | None:
        ends = [window.last_end for _, window in self.windows]
        return max((end for end in ends if end is not None and end > first), default=None)
