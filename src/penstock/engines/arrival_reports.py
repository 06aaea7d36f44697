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

_FEW = 8
"""So few rows are faster as Python numbers."""


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
    _few: list[tuple[int, int]] = field(default_factory=list)
    """More of them, with triples: the timestamps and elements of batches with few rows."""
    _last_end: int | None = None

    def note(self, rows: pa.Table) -> None:
        """Rows with `s`, `ts`, `since` and `element` have been appended."""
        rows = rows.select(_COLUMNS)
        in_time = rows if rows["since"].null_count == rows.num_rows else rows.filter(rows["since"].is_null())
        self._wait(in_time)
        if self.reach is None:
            return
        if _are_few(in_time) and in_time is rows:
            last = max(rows["ts"].to_pylist()) + self.reach
        else:
            shown = rows.filter(rows["s"].is_valid())
            ends = pc.add(shown["ts"], self.reach)
            starts = pc.max_element_wise(pc.add(shown["ts"], self.delay), shown["since"])
            last = pc.max(ends.filter(pc.less(starts, ends))).as_py()
        self._last_end = max((end for end in (last, self._last_end) if end is not None), default=None)

    def _wait(self, rows: pa.Table) -> None:
        if _are_few(rows):
            self._few += zip(rows["ts"].to_pylist(), rows["element"].to_pylist(), strict=True)
        elif rows.num_rows:
            self._waiting.append(rows)

    def instants(self, first: int, last: int) -> list[int]:
        """The instants from `first` to `last`; earlier ones are not needed again."""
        few, due = self._few, last - self.delay
        if not self._waiting:
            self._few = [entry for entry in few if entry[0] > due]
            entering = (time + self.delay for time, _ in few if time <= due)
            return [instant for instant in dict.fromkeys(entering) if instant >= first]
        if few:
            times, elements = zip(*few, strict=True)
            columns = [pa.repeat("", len(few)), times, pa.nulls(len(few), pa.int64()), elements]
            self._waiting.append(pa.table(columns, names=_COLUMNS))
        rows = pa.concat_tables(self._waiting)
        self._waiting, self._few = [], []
        is_due = pc.less_equal(rows["ts"], due)
        self._wait(rows.filter(pc.invert(is_due)))
        arrived = rows.filter(is_due)
        having = arrived["ts"].filter(arrived["s"].is_valid()) if self.size is None else _entering(arrived, self.size)
        found: list[int] = pc.add(pc.unique(having), self.delay).to_pylist()
        return [instant for instant in found if instant >= first]

    @property
    def last_end(self) -> int | None:
        return self._last_end


def _are_few(rows: pa.Table) -> bool:
    """Whether these are few rows with triples."""
    return 0 < rows.num_rows <= _FEW and not rows["s"].null_count


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
