"""What later instants still need of a stream, and what came too late for any of them (semantics.md §2)."""

from __future__ import annotations

from sqlglot import exp

from penstock.algebra.model import ContinuousQuery, StreamWindow
from penstock.algebra.operators import TriplePattern
from penstock.algebra.windows import CountWindow, NowWindow, PastWindow, RangeWindow
from penstock.relational.matching import TRIPLE, asked_by, counted_patterns
from penstock.relational.relations import aliased, col, least, number, select_from, united
from penstock.relational.sources import Tables, streams_of
from penstock.relational.windows import FOREVER, late_among_last, oldest_of_last, window_rows

HORIZON = exp.Placeholder(this="horizon")
"""All instants before it have been evaluated."""


def compile_oldest(query: ContinuousQuery, tables: Tables, stream: str) -> exp.Select:
    """The timestamp `ts` before which nothing of a stream is needed from the horizon on."""
    bounds = [
        _oldest(window, tables.streams[stream], pattern)
        for window in query.dataset.windows
        if stream in streams_of(window, tables)
        for pattern in counted_patterns(query, window)
    ]
    return exp.select(aliased(least(bounds) if bounds else HORIZON.copy(), "ts"))


def _oldest(window: StreamWindow, table: str, pattern: TriplePattern | None) -> exp.Expr:
    match window.window:
        case RangeWindow(width=length) | PastWindow(start=length):
            return exp.Sub(this=HORIZON.copy(), expression=number(length))
        case NowWindow():
            return exp.Sub(this=HORIZON.copy(), expression=number(1))
        case CountWindow(size, step, matching) as counted:
            if matching and step > 1:  # nobody counts what each pattern has passed
                return number(-FOREVER)
            return oldest_of_last(counted, table, _asked(table, pattern), HORIZON, size + step)
        case _:
            return number(-FOREVER)


def compile_uncounted(query: ContinuousQuery, tables: Tables, stream: str) -> exp.Select:
    """The triples that came too late to count in any window: their numbers, terms and timestamps."""
    table = tables.streams[stream]
    counted: list[exp.Query] = [
        _counted_rows(window, table, _asked(table, pattern))
        for window in query.dataset.windows
        if stream in streams_of(window, tables)
        for pattern in counted_patterns(query, window)
    ]
    query_text = select_from(table, [col(table, name) for name in ("arrival", "element", *TRIPLE, "ts")])
    query_text = query_text.where(exp.not_(col(table, "since").is_(exp.null())))
    if counted:
        known = exp.select(exp.column("arrival")).from_(united(counted).subquery("counted"))
        query_text = query_text.where(exp.not_(exp.In(this=col(table, "arrival"), query=known.subquery())))
    return query_text.order_by(col(table, "arrival"))


def _counted_rows(window: StreamWindow, table: str, conditions: list[exp.Expr]) -> exp.Select:
    """The numbers of rows that are part of a window's content at some time."""
    if isinstance(window.window, CountWindow) and window.window.step == 1:
        return late_among_last(window.window, table, conditions)
    rows = window_rows(window, table, [col(table, "arrival")], conditions)
    return exp.select(col("valid", "arrival")).from_(rows.subquery("valid"))


def _asked(table: str, pattern: TriplePattern | None) -> list[exp.Expr]:
    return [] if pattern is None else asked_by(pattern).conditions(table)
