"""The instants at which RANGE windows close with content, computed from the appended rows, without a statement.

This is the policy of RSP-QL and C-SPARQL, `window-close & non-empty`, so it covers most queries.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pyarrow as pa
import pyarrow.compute as pc

from penstock.algebra.model import ContinuousQuery, StreamWindow
from penstock.algebra.windows import RangeWindow
from penstock.engines.noted_reports import NotedReport
from penstock.relational.tables import Tables, streams_of
from penstock.relational.windows import FOREVER
from penstock.syntax import ast

Stretch = tuple[int, int]
"""The instants `start ≤ t < end`."""

_CLOSING, _OCCUPIED = ast.Strategy("window-close"), ast.Strategy("non-empty")


def content(times: Sequence[int], since: Sequence[int] | None = None) -> pa.Table:
    """Rows with content at these times, in the form that `note` takes."""
    behind = pa.nulls(len(times), pa.int64()) if since is None else pa.array(since, pa.int64())
    return pa.table({"s": pa.repeat("", len(times)), "ts": pa.array(times, pa.int64()), "since": behind})


class Closings:
    """The instants at which a RANGE window over a stream closes and is not empty."""

    def __init__(self, window: RangeWindow) -> None:
        self.window = window
        self._occupied: list[Stretch] = []
        """The stretches with content, in order; they do not touch."""

    def note(self, rows: pa.Table) -> None:
        """Rows with `s`, `ts` and `since` have been appended: each counts until the last closing that sees it."""
        window = self.window
        origin = window.origin if window.begins else window.origin - FOREVER // 4 // window.step * window.step
        times, since = rows["ts"], rows["since"]
        counts = pc.and_(rows["s"].is_valid(), pc.greater(times, origin))
        if pc.any(pc.invert(counts)).as_py():
            times, since = times.filter(counts), since.filter(counts)
        periods = pc.divide(pc.subtract(times, origin + 1), window.step)
        starts = pc.max_element_wise(times, since)
        found = pa.table([periods, starts], names=["period", "start"]).group_by("period", use_threads=False)
        found = found.aggregate([("start", "min")])  # among rows with the same end, the first one covers all others
        ends = pc.add(pc.multiply(found["period"], window.step), origin + window.width + 1)
        stretches = zip(found["start_min"].to_pylist(), ends.to_pylist(), strict=True)
        self._occupied = _merged([*self._occupied, *((start, end) for start, end in stretches if start < end)])

    def add(self, other: Closings) -> None:
        """Add the intervals that another object has noted for the same window."""
        self._occupied = _merged([*self._occupied, *other._occupied])

    def instants(self, first: int, last: int) -> Iterator[int]:
        """The instants from `first` to `last`; earlier ones are not needed again."""
        self._occupied = [(start, end) for start, end in self._occupied if end > first]
        for start, end in self._occupied:
            yield from self.window.closing_instants((), max(first, start), min(last, end - 1))

    @property
    def last_end(self) -> int | None:
        return self._occupied[-1][1] if self._occupied else None


def closing_report(query: ContinuousQuery, tables: Tables) -> NotedReport[Closings] | None:
    """None if some window has another policy."""
    found: list[tuple[str, Closings]] = []
    for window in query.dataset.windows:
        if window.report is None:
            continue
        if not isinstance(window.window, RangeWindow) or not _closes_over_content(window):
            return None
        found += [(stream, Closings(window.window)) for stream in streams_of(window, tables)]
    return NotedReport(found, query.dataset.after)


def _closes_over_content(window: StreamWindow) -> bool:
    report = window.report
    return isinstance(report, ast.AllOf) and len(report.reports) == 2 and {_CLOSING, _OCCUPIED} == set(report.reports)


def _merged(stretches: list[Stretch]) -> list[Stretch]:
    """In order; touching stretches are merged."""
    merged: list[Stretch] = []
    for start, end in sorted(stretches):
        if merged and start <= merged[-1][1]:
            merged[-1] = merged[-1][0], max(merged[-1][1], end)
        else:
            merged.append((start, end))
    return merged
