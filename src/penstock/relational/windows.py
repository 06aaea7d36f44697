"""Windows in SQL (semantics.md §3): the rows of a stream with their validity intervals `[starts, ends)`."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from penstock.algebra.model import ContinuousQuery, StreamWindow
from penstock.algebra.windows import AllWindow, CountWindow, NowWindow, PastWindow, RangeWindow, Window
from penstock.relational.intervals import counted_until
from penstock.relational.relations import aliased, col, number, select_from, united

FOREVER = 2**62
"""The end of an interval without end."""

FIRST, LAST = exp.Placeholder(this="first"), exp.Placeholder(this="last")
"""The first and the last instant of a statement: rows that no instant between them sees are not read."""


def passed(table: str) -> str:
    """The parameter for the number of evicted elements of a stream: numbering continues after them."""
    return f"passed_{table}"


def reach_of(window: Window) -> int | None:
    """For how long after its timestamp the window shows an element, at most; None if it is not known in advance."""
    match window:
        case RangeWindow(width=length) | PastWindow(start=length):
            return length
        case NowWindow():
            return 1
        case _:
            return None


def longest_window(query: ContinuousQuery) -> int | None:
    """For how long after its timestamp any window shows an element, at most; None if it is not known in advance."""
    lengths = [reach_of(window.window) for window in query.dataset.windows]
    known = [length for length in lengths if length is not None]
    return max(known, default=None) if len(known) == len(lengths) else None


def longest_in_joins(query: ContinuousQuery) -> int | None:
    """The same, of the windows whose length is known, beside windows that count elements; None of other queries.

    Where all lengths are known, slices are some windows long anyway (runtime/slicer.py).
    """
    windows = [window.window for window in query.dataset.windows]
    known = [length for window in windows if (length := reach_of(window)) is not None]
    others = {type(window) for window in windows if reach_of(window) is None}
    return max(known, default=None) if others <= {CountWindow} else None


def window_rows(
    window: StreamWindow,
    table: str,
    columns: Sequence[exp.Expr],
    conditions: Sequence[exp.Expr] = (),
    *,
    in_time: bool = False,
    within_slice: bool = True,
) -> exp.Select:
    """The rows that satisfy the conditions: their columns, `starts` and `ends`.

    A late element counts from `since` on, the watermark that it was behind (§2); `in_time` drops it. Rows that no
    instant of the slice can see are dropped, unless the caller does this later (`within_slice`).
    """
    kind = window.window
    starts: exp.Expr
    ends: exp.Expr
    kept = [condition.copy() for condition in conditions]  # a statement may repeat them
    if in_time:
        kept.append(_is_in_time(table))
    if isinstance(kind, CountWindow):
        moving = kind.step > 1
        intervals = _moves(kind, table, kept) if moving else _last_elements(kind, table, kept, in_time)
        query = select_from(table, [column.copy() for column in columns]).join(
            intervals.subquery("counted"), on=col(table, _counted_by(kind)).eq(col("counted", _counted_by(kind)))
        )
        starts, ends = col("counted", "starts"), col("counted", "ends")
        kept += [exp.LTE(this=starts, expression=LAST.copy()), exp.GT(this=ends, expression=FIRST.copy())]
    else:
        time = col(table, "ts")
        begins, ends, reach = _interval(kind, time)
        starts = exp.Greatest(this=begins, expressions=[col(table, "since")], ignore_nulls=True)
        kept += [*_beginning(kind, time), *(_bounds(time, *reach) if within_slice else ())]
        query = select_from(table, [column.copy() for column in columns])
    if isinstance(kind, RangeWindow) and kind.step <= kind.width:  # a window that closes sees all rows
        is_seen = exp.LT(this=col(table, "since"), expression=ends.copy())
        kept.append(exp.or_(_is_in_time(table), is_seen))
    else:
        kept.append(exp.LT(this=starts.copy(), expression=ends.copy()))
    return query.select(aliased(starts.copy(), "starts"), aliased(ends.copy(), "ends"), copy=False).where(
        *kept, copy=False
    )


def rows_at_first(
    window: StreamWindow, table: str, columns: Sequence[exp.Expr], conditions: Sequence[exp.Expr] = ()
) -> exp.Select:
    """The rows that satisfy the conditions and are in the window at the instant `$first`: their columns."""
    kind, time = window.window, col(table, "ts")
    query = select_from(table, [column.copy() for column in columns])
    kept = [condition.copy() for condition in conditions]
    if isinstance(kind, CountWindow):
        moving = kind.step > 1
        intervals = _moves(kind, table, kept) if moving else _last_at(kind, table, kept)
        same = col(table, _counted_by(kind)).eq(col("counted", _counted_by(kind)))
        kept += holds_at_first(col("counted", "starts"), col("counted", "ends")) if moving else []
        query = query.join(intervals.subquery("counted"), on=same)
        return query.where(*kept) if kept else query
    kept += [*_beginning(kind, time), *_bounds(time, *_interval(kind, time)[2], last=FIRST), _has_come(table)]
    if isinstance(kind, RangeWindow):
        kept.append(exp.GTE(this=_last_closing(kind, time), expression=FIRST.copy()))
    return query.where(*kept, copy=False)


def holds_at_first(starts: exp.Expr, ends: exp.Expr) -> list[exp.Expr]:
    """The interval contains the instant `$first`."""
    return [exp.LTE(this=starts, expression=FIRST.copy()), exp.GT(this=ends, expression=FIRST.copy())]


def _has_come(table: str) -> exp.Expr:
    """Whether the row counts at the instant `$first`: a late one does so since it came."""
    return exp.or_(_is_in_time(table), exp.LTE(this=col(table, "since"), expression=FIRST.copy()))


def _is_in_time(table: str) -> exp.Expr:
    return col(table, "since").is_(exp.null())


def _interval(kind: object, time: exp.Expr) -> tuple[exp.Expr, exp.Expr, tuple[int | None, int]]:
    """Start and end of an element's interval; and how long after its timestamp it ends (at most) and starts (at
    least): None means forever.
    """
    match kind:
        case RangeWindow(width):
            return time, exp.Add(this=_last_closing(kind, time), expression=number(1)), (width, 0)
        case PastWindow(start, end):
            return _later(time, end), _later(time, start), (start, end)
        case NowWindow():
            return time, _later(time, 1), (1, 0)
        case AllWindow():
            return time, number(FOREVER), (None, 0)
    raise TypeError(f"not a window: {kind}")


def _last_closing(window: RangeWindow, time: exp.Expr) -> exp.Expr:
    """The greatest closing instant that still sees an element."""
    origin = window.origin
    if not window.begins:  # so early that no time is before it, because integer division rounds down
        origin -= FOREVER // 4 // window.step * window.step
    since_origin = exp.Paren(this=exp.Sub(this=time.copy(), expression=number(origin + 1)))
    periods = exp.Paren(this=exp.IntDiv(this=since_origin, expression=number(window.step)))
    return exp.Add(
        this=number(origin + window.width), expression=exp.Mul(this=periods, expression=number(window.step))
    )  # fmt: skip


def _beginning(kind: object, time: exp.Expr) -> list[exp.Expr]:
    if isinstance(kind, RangeWindow) and kind.begins:
        return [exp.GT(this=time.copy(), expression=number(kind.origin))]
    return []


def _bounds(time: exp.Expr, longest: int | None, shortest: int, last: exp.Expr = LAST) -> list[exp.Expr]:
    """The rows that instants between the first and the last can see, judged only by the timestamps."""
    bounds: list[exp.Expr] = [exp.LTE(this=_later(time, shortest), expression=last.copy())]
    if longest is not None:
        bounds.append(exp.GT(this=time.copy(), expression=exp.Sub(this=FIRST.copy(), expression=number(longest))))
    return bounds


def _later(time: exp.Expr, delay: int) -> exp.Expr:
    return exp.Add(this=time.copy(), expression=number(delay)) if delay else time.copy()


# Count windows. They count the elements of the stream or, for MATCHING, the rows that match.


def _counted_by(window: CountWindow) -> str:
    return "arrival" if window.matching else "element"


def counted_elements(window: CountWindow, table: str, conditions: Sequence[exp.Expr]) -> exp.Select:
    """The elements that a count window counts: `ts`, the number, and `since`."""
    key = _counted_by(window)
    query = select_from(table, [col(table, name) for name in ("ts", key, "since")])
    return query.where(*(c.copy() for c in conditions)) if window.matching else query.distinct()


def _in_order(*columns: exp.Expr) -> exp.Order:
    return exp.Order(expressions=[exp.Ordered(this=column.copy()) for column in columns])


def _last_elements(window: CountWindow, table: str, conditions: Sequence[exp.Expr], in_time: bool) -> exp.Select:
    """From the timestamp of an element to that of the one which is `size` positions later.

    A late element changes the positions, but not before its arrival: an epoch `[opens, closes)` begins.
    """
    key = _counted_by(window)
    elements = counted_elements(window, table, conditions)
    elements = elements.where(_is_in_time(table)) if in_time else elements
    oldest = oldest_of_last(
        window, table, conditions, FIRST, window.size + 1
    )  # from then on, no older one is among the last elements
    elements = elements.where(
        exp.GTE(this=col(table, "ts"), expression=oldest), exp.LTE(this=col(table, "ts"), expression=LAST.copy())
    )
    late = select_from(table, [aliased(col(table, "since"), "opens")]).where(exp.not_(_is_in_time(table)))
    always = exp.select(aliased(exp.cast(number(-FOREVER), "bigint"), "opens"))
    opening = (always if in_time else exp.union(always, late, distinct=True)).subquery("opening")
    closes = exp.Window(
        this=exp.Lead(this=col("opening", "opens"), offset=number(1), default=number(FOREVER)),
        order=_in_order(col("opening", "opens")),
    )
    epochs = exp.select(col("opening", "opens"), aliased(closes, "closes")).from_(opening).subquery("epoch")
    since, opens = col("known", "since"), col("epoch", "opens")
    is_known = exp.or_(since.is_(exp.null()), exp.LTE(this=since.copy(), expression=opens))
    leaves = exp.Window(
        this=exp.Lead(this=col("known", "ts"), offset=number(window.size), default=number(FOREVER)),
        partition_by=[opens.copy()],
        order=_in_order(col("known", "ts"), col("known", key)),
    )
    starts = exp.Greatest(this=col("known", "ts"), expressions=[opens.copy()], ignore_nulls=True)
    ends = exp.Least(this=leaves, expressions=[col("epoch", "closes")], ignore_nulls=True)
    query = exp.select(col("known", key), aliased(starts, "starts"), aliased(ends, "ends"))
    is_asked_about = exp.and_(
        exp.LTE(this=opens.copy(), expression=LAST.copy()),
        exp.GT(this=col("epoch", "closes"), expression=FIRST.copy()),
    )
    return query.from_(elements.subquery("known")).join(epochs, on=exp.and_(is_known, is_asked_about))


def _last_at(window: CountWindow, table: str, conditions: Sequence[exp.Expr]) -> exp.Select:
    """The last elements at the instant `$first`."""
    key = _counted_by(window)
    there = [_has_come(table), exp.LTE(this=col(table, "ts"), expression=FIRST.copy())]
    if window.size == 1:  # a row of the last element is enough
        rows = select_from(table, [col(table, key)]).where(*(conditions if window.matching else ()), *there)
        return rows.order_by(*(exp.Ordered(this=col(table, name), desc=True) for name in ("ts", key))).limit(1)
    elements = counted_elements(window, table, conditions).where(*there)
    last = exp.select(col("known", key)).from_(elements.subquery("known"))
    return last.order_by(*(exp.Ordered(this=col("known", name), desc=True) for name in ("ts", key))).limit(window.size)


def oldest_of_last(
    window: CountWindow, table: str, conditions: Sequence[exp.Expr], before: exp.Expr, count: int
) -> exp.Expr:
    """The timestamp of the oldest of the last `count` elements that were in time before an instant.

    If there are fewer elements, it is before all time.
    """
    came = counted_elements(window, table, conditions).where(_is_in_time(table))
    came = came.where(exp.LT(this=col(table, "ts"), expression=before.copy()))
    last = exp.select(col("came", "ts")).from_(came.subquery("came"))
    last = last.order_by(exp.Ordered(this=col("came", "ts"), desc=True)).limit(count)
    are_enough = exp.GTE(this=exp.Count(this=exp.Star()), expression=number(count))
    oldest = exp.case().when(are_enough, exp.Min(this=col("last", "ts"))).else_(number(-FOREVER))
    return exp.select(oldest).from_(last.subquery("last")).subquery()


def _numbered_elements(window: CountWindow, table: str, conditions: Sequence[exp.Expr]) -> exp.Select:
    """The elements in time: `ts`, the key, and their number `seq` in the order of time."""
    key = _counted_by(window)
    known = counted_elements(window, table, conditions).where(_is_in_time(table)).subquery("known")
    place = exp.Window(this=exp.RowNumber(), order=_in_order(col("known", "ts"), col("known", key)))
    offset = number(0) if window.matching else exp.Placeholder(this=passed(table))
    seq = aliased(exp.Add(this=place, expression=offset), "seq")
    return exp.select(col("known", "ts"), col("known", key), seq).from_(known)


def _moves(window: CountWindow, table: str, conditions: Sequence[exp.Expr]) -> exp.Select:
    """From the move that adds an element to the move that removes it: the content moves with every `step` elements.

    A late element moves nothing.
    """
    key = _counted_by(window)
    numbered = _numbered_elements(window, table, conditions)
    enters, leaves = (_move_of(window, delay) for delay in (0, window.size))
    ends = exp.Coalesce(this=col("leaves", "ts"), expressions=[number(FOREVER)])
    return (
        exp.select(col("entering", key), aliased(col("enters", "ts"), "starts"), aliased(ends, "ends"))
        .from_(numbered.subquery("entering"))
        .join(numbered.copy().subquery("enters"), on=col("enters", "seq").eq(enters))
        .join(numbered.copy().subquery("leaves"), on=col("leaves", "seq").eq(leaves), join_type="left")
    )


def _move_of(window: CountWindow, delay: int) -> exp.Expr:
    """The number of the element that moves the content, at or after that of another one and a delay."""
    step = number(window.step)
    position = exp.Add(this=col("entering", "seq"), expression=number(delay + window.step - 1))
    moves = exp.IntDiv(this=exp.Paren(this=position), expression=step)
    return exp.Mul(this=exp.Paren(this=moves), expression=step.copy())


def late_among_last(window: CountWindow, table: str, conditions: Sequence[exp.Expr]) -> exp.Select:
    """The numbers `arrival` of the late rows that had fewer than `size` elements after them on arrival: they count."""
    is_late = exp.not_(_is_in_time(table))
    asked = [select_from(table, [aliased(col(table, time), "time")]).where(is_late.copy()) for time in ("ts", "since")]
    in_time = counted_elements(window, table, conditions).where(_is_in_time(table)).subquery("in_time")
    places = counted_until(united(asked), exp.select(aliased(col("in_time", "ts"), "time")).from_(in_time))
    query = select_from(table, [col(table, "arrival")])
    for alias, time in (("at_its_time", "ts"), ("when_it_came", "since")):
        query = query.join(places.subquery(alias), on=col(table, time).eq(col(alias, "time")))
    behind = exp.Sub(this=col("when_it_came", "until"), expression=col("at_its_time", "until"))
    return query.where(is_late, exp.LT(this=behind, expression=number(window.size)), *(c.copy() for c in conditions))


def moving_elements(window: CountWindow, table: str, conditions: Sequence[exp.Expr] = ()) -> exp.Select:
    """The timestamps `t` of the elements that move the content: the closing instants."""
    numbered = _numbered_elements(window, table, conditions).subquery("numbered")
    is_move = exp.Mod(this=col("numbered", "seq"), expression=number(window.step)).eq(number(0))
    return exp.select(aliased(col("numbered", "ts"), "t")).from_(numbered).where(is_move)
