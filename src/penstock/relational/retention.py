"""The rows of a stream that later instants still need, and rows that arrived too late for any (semantics.md §2)."""

from __future__ import annotations

from collections.abc import Hashable

from sqlglot import exp

from penstock.algebra.model import ContinuousQuery, StreamWindow
from penstock.algebra.operators import TriplePattern
from penstock.algebra.windows import CountWindow
from penstock.relational.matching import TRIPLE, asked_by, counted_patterns
from penstock.relational.relations import aliased, col, least, number, select_from, united
from penstock.relational.tables import Tables, streams_of
from penstock.relational.windows import FOREVER, late_among_last, oldest_of_last, reach_of, window_rows

HORIZON = exp.Placeholder(this="horizon")
"""All instants before it have been evaluated."""


def oldest_needed(query: ContinuousQuery, tables: Tables, stream: str, horizon: int) -> int | None:
    """The result of `compile_oldest` if no window counts; else None."""
    windows = [window.window for window in query.dataset.windows if stream in streams_of(window, tables)]
    if any(isinstance(window, CountWindow) for window in windows):
        return None
    reaches = [reach_of(window) for window in windows]
    return min((-FOREVER if reach is None else horizon - reach for reach in reaches), default=horizon)


def retained_by(query: ContinuousQuery) -> Hashable:
    """What the statements of this module depend on: queries for which this is equal share them."""
    return query.dataset, tuple(tuple(counted_patterns(query, window)) for window in query.dataset.windows)


def compile_oldest(query: ContinuousQuery, tables: Tables, stream: str) -> exp.Select:
    """The timestamp `ts` before which no row of a stream is needed from the horizon on."""
    bounds = [
        _oldest(window, tables.streams[stream], pattern)
        for window in query.dataset.windows
        if stream in streams_of(window, tables)
        for pattern in counted_patterns(query, window)
    ]
    return exp.select(aliased(least(bounds) if bounds else HORIZON.copy(), "ts"))


def _oldest(window: StreamWindow, table: str, pattern: TriplePattern | None) -> exp.Expr:
    counted, reach = window.window, reach_of(window.window)
    if isinstance(counted, CountWindow) and not (counted.matching and counted.step > 1):
        return oldest_of_last(counted, table, _asked(table, pattern), HORIZON, counted.size + counted.step)
    if reach is not None:
        return exp.Sub(this=HORIZON.copy(), expression=number(reach))
    return number(-FOREVER)  # the rows that each pattern has passed are not counted


def compile_uncounted(query: ContinuousQuery, tables: Tables, stream: str) -> exp.Select:
    """The triples that arrived too late to count in any window: their numbers, terms and timestamps."""
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
    """The numbers of rows that are in a window's content at some time."""
    if isinstance(window.window, CountWindow) and window.window.step == 1:
        return late_among_last(window.window, table, conditions)
    rows = window_rows(window, table, [col(table, "arrival")], conditions)
    return exp.select(col("valid", "arrival")).from_(rows.subquery("valid"))


def _asked(table: str, pattern: TriplePattern | None) -> list[exp.Expr]:
    return [] if pattern is None else asked_by(pattern).conditions(table)
