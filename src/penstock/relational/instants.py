"""From times to evaluation instants: `[starts, ends)` become `[i, j)`, numbers of the instants of a slice.

Rows that no instant of the slice sees are dropped before any join.
"""

from __future__ import annotations

from sqlglot import exp

from penstock.relational.intervals import INSTANTS, counted_until, partitioned
from penstock.relational.relations import Statement, aliased, col, number, select_from, united
from penstock.relational.windows import FIRST

COUNT, STEP = exp.Placeholder(this="count"), exp.Placeholder(this="step")
"""The number of instants of the slice, and the step between them."""


def always() -> list[exp.Expr]:
    """The interval of all instants."""
    return [aliased(exp.cast(number(0), "bigint"), "i"), aliased(exp.cast(COUNT.copy(), "bigint"), "j")]


def numbered(statement: Statement, rows: exp.Query, names: list[str]) -> exp.Select:
    """`[starts, ends)` as numbers of instants; rows that no instant sees are left out."""
    if statement.shape.is_snapshot:
        return _seen_at_first(rows, names)
    if statement.shape.is_regular:
        return _numbered_by_step(rows, names)
    if statement.shape.is_distributed:
        return _numbered_by_counting(statement, rows, names)
    first, behind = "first_instant", "instant_behind"
    start, end = (exp.Coalesce(this=col(table, "k"), expressions=[COUNT.copy()]) for table in (first, behind))
    columns = [*(col("timed", name) for name in names), aliased(start, "i"), aliased(end, "j")]
    joined = exp.select(*columns).from_(rows.subquery("timed"))
    joined.set("joins", [_next_instant(first, col("timed", "starts")), _next_instant(behind, col("timed", "ends"))])
    return joined.where(exp.LT(this=start.copy(), expression=end.copy()))


def _seen_at_first(rows: exp.Query, names: list[str]) -> exp.Select:
    """The rows that the first instant, the only one, sees."""
    query = exp.select(*(col("timed", name) for name in names), *always())
    query = query.from_(rows.subquery("timed", copy=False), copy=False)
    has_started = exp.LTE(this=col("timed", "starts"), expression=FIRST.copy())
    return query.where(has_started, exp.GT(this=col("timed", "ends"), expression=FIRST.copy()), copy=False)


def _numbered_by_step(rows: exp.Query, names: list[str]) -> exp.Select:
    """If instants are a step apart, their numbers are computed; only the first one at or after a time is needed."""
    columns = [col("timed", name) for name in names]
    bounds = []
    for time, name in (("starts", "i"), ("ends", "j")):
        behind = exp.Sub(this=col("timed", time), expression=FIRST.copy())
        rounded = exp.Sub(this=exp.Add(this=behind, expression=STEP.copy()), expression=number(1))
        steps = exp.IntDiv(this=exp.Paren(this=rounded), expression=STEP.copy())
        not_before = exp.Greatest(this=steps, expressions=[number(0)], ignore_nulls=True)
        bounds.append(aliased(exp.Least(this=not_before, expressions=[COUNT.copy()], ignore_nulls=True), name))
    counted = exp.select(*columns, *bounds).from_(rows.subquery("timed", copy=False), copy=False)
    kept = [col("counted", name) for name in (*names, "i", "j")]
    is_seen = exp.LT(this=col("counted", "i"), expression=col("counted", "j"))
    return exp.select(*kept).from_(counted.subquery("counted", copy=False), copy=False).where(is_seen, copy=False)


def _numbered_by_counting(statement: Statement, rows: exp.Query, names: list[str]) -> exp.Select:
    """The number of the first instant at or after a time is the count of the instants before it."""
    timed = statement.add(rows)
    times = united([select_from(timed, [aliased(col(timed, edge), "time")]) for edge in ("starts", "ends")])
    instants = select_from(INSTANTS, [aliased(col(INSTANTS, "t"), "time")])
    places = statement.add(counted_until(times, instants))
    start, end = (exp.Sub(this=col(at, "until"), expression=col(at, "here")) for at in ("at_start", "at_end"))
    query = select_from(timed, [*(col(timed, name) for name in names), aliased(start, "i"), aliased(end, "j")])
    for at, edge in (("at_start", "starts"), ("at_end", "ends")):
        query = query.join(exp.to_table(places, alias=at), on=col(at, "time").eq(col(timed, edge)))
    return query.where(exp.LT(this=start.copy(), expression=end.copy()))


def _next_instant(alias: str, time: exp.Expr) -> exp.Join:
    """The first evaluation instant at or after a time."""
    is_after = exp.LTE(this=time, expression=col(alias, "t"))
    return exp.Join(this=exp.to_table(INSTANTS, alias=alias), method="ASOF", side="LEFT", on=is_after)


def numbered_by_closing(statement: Statement, rows: exp.Query, names: list[str]) -> exp.Select:
    """Rows seen when their window closes, and only then, each once; not every closing is an evaluation instant."""
    closes = exp.Sub(this=exp.Sub(this=col("timed", "ends"), expression=number(1)), expression=FIRST.copy())
    columns = [*(col("timed", name) for name in names), aliased(closes, "closes")]
    timed = exp.select(*columns, copy=False).from_(rows.subquery("timed", copy=False), copy=False)
    since_first = col("closing", "closes")
    i = exp.IntDiv(this=since_first, expression=STEP.copy())
    seen = exp.select(*(col("closing", name) for name in names), aliased(i, "i"), copy=False)
    seen = seen.from_(timed.subquery("closing", copy=False), copy=False)
    seen = seen.where(
        exp.GTE(this=since_first.copy(), expression=number(0)),
        exp.LT(this=since_first.copy(), expression=exp.Mul(this=COUNT.copy(), expression=STEP.copy())),
        exp.Mod(this=since_first.copy(), expression=STEP.copy()).eq(number(0)),
        copy=False,
    )
    if statement.shape.is_distributed:
        together = ["i"] if statement.shape.has_many_instants else [*names, "i"]
        seen = exp.select("*").from_(partitioned(seen, together).subquery("partitioned"))
    behind = exp.Add(this=col("seen", "i"), expression=number(1))
    query = exp.select(*(col("seen", name) for name in (*names, "i")), aliased(behind, "j"))
    return query.from_(seen.distinct(copy=False).subquery("seen", copy=False), copy=False)
