"""The instants at which elements enter windows, computed from the appended rows, without a statement.

This is the policy of CQELS, `arrival`.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import pyarrow as pa
import pyarrow.compute as pc

from penstock.algebra.model import ContinuousQuery, StreamWindow
from penstock.algebra.windows import AllWindow, CountWindow, NowWindow, PastWindow
from penstock.engines.noted_reports import NotedReport
from penstock.relational.tables import Tables, streams_of
from penstock.syntax import ast

_COLUMNS = ["s", "ts", "since", "element"]


@dataclass(slots=True)
class Arrivals:
    """The instants at which elements in time enter a window: `delay` after their timestamps.

    `reach`: how long after its timestamp the window shows an element; None if there is no such length. `size`: the
    window counts elements, so of those with one timestamp only the last ones enter.
    """

    delay: int = 0
    reach: int | None = None
    size: int | None = None
    _waiting: list[pa.Table] = field(default_factory=list)
    """The rows in time of which no instant has been returned."""
    _last_end: int | None = None

    def note(self, rows: pa.Table) -> None:
        """Rows with `s`, `ts`, `since` and `element` have been appended."""
        rows = rows.select(_COLUMNS)
        self._waiting.append(rows.filter(rows["since"].is_null()))
        if self.reach is not None:
            shown = rows.filter(rows["s"].is_valid())
            ends = pc.add(shown["ts"], self.reach)
            starts = pc.max_element_wise(pc.add(shown["ts"], self.delay), shown["since"])
            last = pc.max(ends.filter(pc.less(starts, ends))).as_py()
            self._last_end = max((end for end in (last, self._last_end) if end is not None), default=None)

    def instants(self, first: int, last: int) -> list[int]:
        """The instants from `first` to `last`; earlier ones are not needed again."""
        if not self._waiting:
            return []
        rows = pa.concat_tables(self._waiting)
        is_due = pc.less_equal(rows["ts"], last - self.delay)
        self._waiting = [rows.filter(pc.invert(is_due))]
        due = rows.filter(is_due)
        times = due["ts"].filter(due["s"].is_valid()) if self.size is None else _entering(due, self.size)
        found: list[int] = pc.add(pc.unique(times), self.delay).to_pylist()
        return [instant for instant in found if instant >= first]

    @property
    def last_end(self) -> int | None:
        return self._last_end


def arrival_report(query: ContinuousQuery, tables: Tables) -> NotedReport[Arrivals] | None:
    """None if some window has another policy, or enters elements at other instants."""
    found: list[tuple[str, Arrivals]] = []
    for window in query.dataset.windows:
        if window.report is None:
            continue
        for stream in streams_of(window, tables):
            arrivals = _arrivals(window)
            if arrivals is None:
                return None
            found.append((stream, arrivals))
    return NotedReport(found, query.dataset.after)


def _arrivals(window: StreamWindow) -> Arrivals | None:
    if window.report != ast.Strategy("arrival"):
        return None
    match window.window:
        case NowWindow():
            return Arrivals(reach=1)
        case PastWindow(start, end, step=None) if start > end:
            return Arrivals(end, start)
        case AllWindow():
            return Arrivals()
        case CountWindow(size, step=1, matching=False):
            return Arrivals(size=size)
        case _:
            return None


def _entering(rows: pa.Table, size: int) -> pa.ChunkedArray:
    """The timestamps at which some of the last `size` elements have triples."""
    if not rows["s"].null_count:
        return rows["ts"]
    elements = rows.group_by(["ts", "element"], use_threads=False).aggregate([("s", "count")])
    elements = elements.sort_by([("ts", "ascending"), ("element", "descending")])
    places: dict[int, int] = {}
    entering: list[int] = []
    for time, count in zip(elements["ts"].to_pylist(), elements["s_count"].to_pylist(), strict=True):
        places[time] = places.get(time, 0) + 1
        if count and places[time] <= size:
            entering.append(time)
    return pa.chunked_array([pa.array(entering, pa.int64())])
