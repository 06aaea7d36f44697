"""Intervals in SQL: merging, subtracting, spreading over instants."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from penstock.relational.relations import Statement, aliased, col, number, select_from, united

INSTANTS = "instants"
"""The table of the slice's evaluation instants: `k` numbers them from 0, `t` is the instant."""


def merge(statement: Statement, source: str, keys: Sequence[str]) -> str:
    """Rows with equal keys, whose overlapping and touching intervals are merged (gaps and islands)."""
    if statement.shape.is_snapshot:
        return once(statement, source, keys)
    columns = [col(source, key) for key in keys]
    parts = partition_keys(statement, columns)
    reached = _over(exp.Max(this=col(source, "j")), parts, [col(source, "i"), col(source, "j")], _ALL_BEFORE)
    is_new = exp.case().when(exp.LTE(this=col(source, "i"), expression=reached), number(0)).else_(number(1))
    marked = statement.add(
        select_from(source, [*columns, col(source, "i"), col(source, "j"), aliased(is_new, "is_new")])
    )
    keys_of_marked = [col(marked, key) for key in keys]
    order = [col(marked, "i"), col(marked, "j")]
    island = _over(exp.Sum(this=col(marked, "is_new")), partition_keys(statement, keys_of_marked), order, _UP_TO_HERE)
    numbered = statement.add(
        select_from(marked, [*keys_of_marked, col(marked, "i"), col(marked, "j"), aliased(island, "island")])
    )
    grouped = [col(numbered, key) for key in keys]
    bounds = [
        aliased(exp.Min(this=col(numbered, "i")), "i"),
        aliased(exp.Max(this=col(numbered, "j")), "j"),
    ]
    return statement.add(
        select_from(numbered, [*grouped, *bounds]).group_by(*[c.copy() for c in grouped], col(numbered, "island"))
    )


def once(
    statement: Statement, source: str, keys: Sequence[str], *, has_many: bool = False, begins: str | None = None
) -> str:
    """Rows with equal keys, with intervals that do not overlap: at each instant there is at most one.

    `has_many`: of many rows that are equal and begin together, the longest is taken first, because sorting costs more.
    `begins`: a column with the instant at which a row begins that touches no earlier one; else NULL.
    """
    if statement.shape.is_snapshot:
        return statement.add(select_from(source, [col(source, name) for name in (*keys, "i", "j")]).distinct())
    if has_many and not statement.shape.is_distributed:
        begun = [col(source, name) for name in (*keys, "i")]
        longest = select_from(source, [*begun, aliased(exp.Max(this=col(source, "j")), "j")])
        source = statement.add(longest.group_by(*(column.copy() for column in begun)))
    columns = [col(source, key) for key in keys]
    i, j = col(source, "i"), col(source, "j")
    order = exp.Order(expressions=[exp.Ordered(this=i.copy()), exp.Ordered(this=j.copy(), desc=True)])
    parts = partition_keys(statement, columns)
    reached = exp.Window(this=exp.Max(this=j.copy()), partition_by=parts, order=order, spec=_ALL_BEFORE.copy())
    start = exp.Greatest(this=i, expressions=[reached], ignore_nulls=True)
    found = [*(column.copy() for column in columns), aliased(start, "i"), j]
    if begins is not None:
        is_first = exp.or_(reached.copy().is_(exp.null()), exp.LT(this=reached.copy(), expression=i.copy()))
        found.append(aliased(exp.case().when(is_first, i.copy()), begins))
    uncovered = statement.add(select_from(source, found))
    kept = [col(uncovered, name) for name in (*keys, *([begins] if begins else ()), "i", "j")]
    is_left = exp.LT(this=col(uncovered, "i"), expression=col(uncovered, "j"))
    return statement.add(select_from(uncovered, kept).where(is_left))


def beside(statement: Statement, source: str, keys: Sequence[str], *, is_before: bool) -> exp.Window:
    """How far rows with equal keys reach that begin before this one does; or when those begin that end after it does.

    GROUPS and RANGE have the same rows here. DuckDB finds those of GROUPS in a third of the time; Spark has only RANGE.
    """
    one = exp.Literal.number(1)
    bounds = {"start": "UNBOUNDED", "start_side": "PRECEDING", "end": one, "end_side": "PRECEDING"}
    if not is_before:
        bounds = {"start": one, "start_side": "FOLLOWING", "end": "UNBOUNDED", "end_side": "FOLLOWING"}
    start, end = col(source, "i"), col(source, "j")
    return exp.Window(
        this=exp.Max(this=end) if is_before else exp.Min(this=start),
        partition_by=partition_keys(statement, [col(source, key) for key in keys]),
        order=exp.Order(expressions=[exp.Ordered(this=start.copy() if is_before else end.copy())]),
        spec=exp.WindowSpec(kind="RANGE" if statement.shape.is_distributed else "GROUPS", **bounds),
    )


def gaps(statement: Statement, source: str, columns: Sequence[str], covered: str, row: str) -> str:
    """The rows of `source` at the instants that `covered` leaves free.

    Both number the rows, in the column `row`. The intervals of `covered` do not overlap, and lie within the rows' own.
    """
    partition, order = [col(covered, row)], [col(covered, "i")]
    previous = exp.Window(
        this=exp.Lag(this=col(covered, "j"), offset=number(1)),
        partition_by=partition,
        order=exp.Order(expressions=[exp.Ordered(this=column) for column in order]),
    )
    before = statement.add(
        select_from(covered, [col(covered, row), aliased(previous, "since"), aliased(col(covered, "i"), "until")])
    )
    kept = [col(source, column) for column in columns]
    start = exp.Coalesce(this=col(before, "since"), expressions=[col(source, "i")])
    between = (
        select_from(source, [*kept, aliased(start, "i"), aliased(col(before, "until"), "j")])
        .join(exp.to_table(before), on=col(source, row).eq(col(before, row)))
        .where(exp.LT(this=start.copy(), expression=col(before, "until")))
    )
    last = statement.add(
        select_from(covered, [col(covered, row), aliased(exp.Max(this=col(covered, "j")), "since")]).group_by(
            col(covered, row)
        )
    )
    tail_start = exp.Coalesce(this=col(last, "since"), expressions=[col(source, "i")])
    tail = (
        select_from(source, [*(c.copy() for c in kept), aliased(tail_start, "i"), aliased(col(source, "j"), "j")])
        .join(exp.to_table(last), on=col(source, row).eq(col(last, row)), join_type="left")
        .where(exp.LT(this=tail_start.copy(), expression=col(source, "j")))
    )
    return statement.add(exp.union(between, tail, distinct=False))


def each_instant(start: exp.Expr, end: exp.Expr) -> exp.Expr:
    """The numbers of the instants from `start` on and before `end`: a row for each."""
    return exp.Explode(this=_numbers(start, end))


def each_instant_if(condition: exp.Expr, start: exp.Expr, end: exp.Expr) -> exp.Expr:
    """A row for each instant where the condition holds, else one for the first."""
    only_first = exp.Array(expressions=[start.copy()])
    return exp.Explode(this=exp.case().when(condition, _numbers(start, end)).else_(only_first))


def _numbers(start: exp.Expr, end: exp.Expr) -> exp.Expr:
    return exp.GenerateSeries(start=start, end=end, is_end_exclusive=True)


def spread(statement: Statement, source: str, columns: Sequence[str]) -> str:
    """A row per instant: a snapshot, which multiplies the rows by the instants of their intervals."""
    if statement.shape.is_snapshot:
        return source
    kept = [col(source, column) for column in columns]
    snapshot = select_from(source, [*kept, aliased(each_instant(col(source, "i"), col(source, "j")), "i")])
    selected = [col(source, column) for column in [*columns, "i"]]
    behind = exp.Add(this=col(source, "i"), expression=number(1))
    return statement.add(exp.select(*selected, aliased(behind, "j")).from_(snapshot.subquery(source)))


def stretches(statement: Statement, source: str) -> str:
    """The stretches `[i, j)` of time in which no row begins or ends."""
    ends = [select_from(source, [aliased(col(source, edge), "i")]) for edge in ("i", "j")]
    cuts = statement.add(exp.union(*ends, distinct=True))
    following = exp.Window(
        this=exp.Lead(this=col(cuts, "i"), offset=number(1)),
        order=exp.Order(expressions=[exp.Ordered(this=col(cuts, "i"))]),
    )
    return statement.add(select_from(cuts, [col(cuts, "i"), aliased(following, "j")]))


def counted_until(asked: exp.Query, counted: exp.Query) -> exp.Select:
    """The number of `counted` rows at each requested `time` (`here`), and up to it (`until`)."""
    marked = []
    for query, mark in ((asked, 0), (counted, 1)):
        marked.append(exp.select(col("times", "time"), aliased(number(mark), "mark")).from_(query.subquery("times")))
    time, here = col("marked", "time"), exp.Sum(this=col("marked", "mark"))
    until = _over(exp.Sum(this=here.copy()), [], [time], _UP_TO_HERE)
    query = exp.select(time, aliased(here, "here"), aliased(until, "until"))
    return query.from_(united(marked).subquery("marked")).group_by(time.copy())


def running_sums(statement: Statement, events: str, keys: Sequence[str], values: Sequence[str]) -> str:
    """The running sum of the values of the events (at `i`), per key, from each event to the next: `[i, j)`.

    The last event of a key has no next one: its `j` is NULL.
    """
    partition, order = [col(events, key) for key in keys], [col(events, "i")]
    totals = [
        aliased(_over(exp.Sum(this=exp.Sum(this=col(events, value))), partition, order, _UP_TO_HERE), value)
        for value in values
    ]
    following = exp.Window(
        this=exp.Lead(this=col(events, "i"), offset=number(1)),
        partition_by=[column.copy() for column in partition],
        order=exp.Order(expressions=[exp.Ordered(this=col(events, "i"))]),
    )
    at = [*partition, *order]
    levels = select_from(events, [*(c.copy() for c in at), aliased(following, "j"), *totals])
    return statement.add(levels.group_by(*(c.copy() for c in at)))


def partitioned(query: exp.Select, columns: Sequence[str]) -> exp.Select:
    """Repartitions, where there are partitions: rows with equal values in the columns are together from here on.

    No later step has to move them. Before this no step looks for equal rows, because there are few.
    """
    query.set("hint", exp.Hint(expressions=[exp.func("REPARTITION", *map(exp.column, columns))]))
    return query


def partition_keys(statement: Statement, columns: Sequence[exp.Column]) -> list[exp.Expr]:
    """The columns that a window function partitions by.

    Spark sorts by the first eight bytes, and compares the rest only for equal ones; terms mostly share the first bytes.
    """
    copies: list[exp.Expr] = [column.copy() for column in columns]
    if not statement.shape.is_distributed or not columns:
        return copies
    return [exp.func("xxhash64", *(column.copy() for column in columns)), *copies]


def _over(
    function: exp.Expr,
    partition: Sequence[exp.Expr],
    order: Sequence[exp.Expr],
    frame: exp.WindowSpec,
) -> exp.Window:
    return exp.Window(
        this=function,
        partition_by=[column.copy() for column in partition],
        order=exp.Order(expressions=[exp.Ordered(this=column.copy()) for column in order]),
        spec=frame.copy(),
    )


_ALL_BEFORE = exp.WindowSpec(
    kind="ROWS", start="UNBOUNDED", start_side="PRECEDING", end=exp.Literal.number(1), end_side="PRECEDING"
)
_UP_TO_HERE = exp.WindowSpec(kind="ROWS", start="UNBOUNDED", start_side="PRECEDING", end="CURRENT ROW", end_side=None)
