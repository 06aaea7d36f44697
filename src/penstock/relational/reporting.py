"""Evaluation instants in SQL (semantics.md §5): when the report policy of a window holds."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from sqlglot import exp

from penstock.algebra.model import ContinuousQuery, StreamWindow
from penstock.algebra.operators import TriplePattern
from penstock.algebra.reports import MOST_INSTANTS, PolicyError
from penstock.algebra.windows import CountWindow, PastWindow, RangeWindow
from penstock.relational.intervals import merge
from penstock.relational.matching import TRIPLE, TripleConditions, asked_by, counted_patterns
from penstock.relational.relations import Statement, aliased, col, number, select_from, united
from penstock.relational.shapes import LocalSlice
from penstock.relational.tables import Tables, streams_of
from penstock.relational.windows import FIRST, FOREVER, LAST, moving_elements, window_rows
from penstock.syntax import ast

END = exp.Placeholder(this="end")
"""The instant at which the streams end; NULL until it is known."""

BEFORE = exp.Sub(this=FIRST, expression=number(1))
"""Content has changed if it differs from that of the millisecond before."""


@dataclass(frozen=True, slots=True)
class InstantsPlan:
    """A statement that returns the instants `t` between the first and the last at which any window reports, in order.

    `steps` are those of the series that it generates, even if the streams have few elements.
    """

    statement: exp.Select
    steps: tuple[int, ...]

    def check(self, first: int, last: int) -> None:
        """Raises PolicyError if there are more instants than anyone can wait for."""
        if any((last - first) // step > MOST_INSTANTS for step in self.steps):
            raise PolicyError(
                f"this report policy may hold at more than {MOST_INSTANTS} instants of the input; "
                "join it with non-empty by &, or take a longer step or period"
            )


def compile_instants(query: ContinuousQuery, tables: Tables) -> InstantsPlan:
    statement = Statement(LocalSlice(is_regular=False, is_large=True))
    found: list[exp.Query] = []
    steps: list[int] = []
    for window in query.dataset.windows:
        if window.report is None:
            continue
        for stream in streams_of(window, tables):
            for pattern in counted_patterns(query, window):
                report = _WindowReport(statement, window, tables.streams[stream], pattern)
                found.append(report.instants())
                steps += report.steps
    if not found:
        nothing = exp.select(aliased(exp.cast(exp.null(), "bigint"), "t")).where(exp.false())
        return InstantsPlan(nothing, ())
    name = statement.add(united(found))
    selected = select_from(name, [col(name, "t")]).distinct().order_by(col(name, "t"))
    return InstantsPlan(statement.finish(selected), tuple(steps))


def compile_last_end(query: ContinuousQuery, tables: Tables) -> exp.Select:
    """The last end of a validity interval: until then some reporting windows are open (`--flush`)."""
    ends: list[exp.Expr] = []
    for window in query.dataset.windows:
        if window.report is None:
            continue
        for stream in streams_of(window, tables):
            for pattern in counted_patterns(query, window):
                table = tables.streams[stream]
                rows = window_rows(window, table, [], _conditions(table, pattern)).subquery("valid")
                is_finite = exp.LT(this=col("valid", "ends"), expression=number(FOREVER))
                latest = exp.select(exp.Max(this=col("valid", "ends"))).from_(rows).where(is_finite)
                ends.append(latest.subquery())
    if not ends:
        return exp.select(aliased(exp.cast(exp.null(), "bigint"), "t"))
    latest_of_all = ends[0] if len(ends) == 1 else exp.Greatest(this=ends[0], expressions=ends[1:], ignore_nulls=True)
    return exp.select(aliased(latest_of_all, "t"))


def _conditions(table: str, pattern: TriplePattern | None) -> list[exp.Expr]:
    return (TripleConditions() if pattern is None else asked_by(pattern)).conditions_on_stream(table)


class _WindowReport:
    """The policy of one window over one stream; with `pattern` the window counts its matches."""

    def __init__(
        self, statement: Statement, window: StreamWindow, table: str, pattern: TriplePattern | None
    ) -> None:  # fmt: skip
        self.statement = statement
        self.window = window
        self.table = table
        self.conditions = _conditions(table, pattern)
        self.steps: list[int] = []
        self.only_occupied = False

    def instants(self) -> exp.Select:
        report = self.window.report
        assert report is not None
        self.only_occupied = isinstance(report, ast.AllOf) and ast.Strategy("non-empty") in report.reports
        implied: list[ast.Report] = [ast.Strategy("non-empty")] if self.only_occupied else []
        candidates = self._candidates(report, implied) or self._series(number(0), 1, begins=False)
        name = self.statement.add(candidates)
        time = col(name, "t")
        within = exp.Between(this=time, low=FIRST.copy(), high=LAST.copy())
        distinct = select_from(name, [time.copy()]).where(within).distinct()
        rest = _without(report, implied)
        if rest is None:
            return distinct
        name = self.statement.add(distinct)
        return select_from(name, [col(name, "t")]).where(self._holds(rest, col(name, "t")))

    def _candidates(self, report: ast.Report, implied: list[ast.Report]) -> exp.Query | None:
        """A superset of the instants at which the policy holds; None means all instants.

        Conditions that hold at all of them are added to `implied`.
        """
        match report:
            case ast.AllOf(reports):
                for part in reports:
                    found = self._candidates(part, implied)
                    if found is not None:
                        return found
                return None
            case ast.AnyOf(reports):
                parts = [part for part in (self._candidates(part, []) for part in reports) if part is not None]
                if len(parts) < len(reports):
                    return None
                if all(isinstance(part, ast.Strategy) for part in reports):
                    implied.append(report)
                return united(parts)
            case ast.Strategy():
                found = self._instants_of(report)
                if found is not None:
                    implied.append(report)
                return found
            case _:
                return None

    def _instants_of(self, strategy: ast.Strategy) -> exp.Query | None:
        match strategy:
            case ast.Strategy("window-close"):
                return self._closing()
            case ast.Strategy("content-change"):
                return self._changes()
            case ast.Strategy("arrival"):
                return self._arrivals()
            case ast.Strategy("periodic", int(period)):
                return self._series(number(self.window.origin), period)
            case ast.Strategy("stream-end"):
                return exp.select(aliased(exp.cast(END.copy(), "bigint"), "t"))
            case _:
                return None

    def _holds(self, report: ast.Report, instant: exp.Expr) -> exp.Expr:
        match report:
            case ast.AllOf(reports):
                return exp.and_(*(self._holds(part, instant) for part in reports))
            case ast.AnyOf(reports):
                return exp.or_(*(self._holds(part, instant) for part in reports))
            case ast.NotReport(inner):
                return exp.not_(self._holds(inner, instant))
            case ast.Strategy("non-empty"):
                return self._is_not_empty(instant)
            case ast.Strategy():
                instants = self._instants_of(report)
                assert instants is not None
                name = self.statement.add(instants)
                known = select_from(name, [col(name, "t")]).where(exp.not_(col(name, "t").is_(exp.null())))
                return exp.In(this=instant.copy(), query=known.subquery())
        raise TypeError(f"not a report: {report}")

    def _is_not_empty(self, instant: exp.Expr) -> exp.Expr:
        covering = (
            select_from(self._occupied, [number(1)])
            .where(exp.LTE(this=col(self._occupied, "i"), expression=instant.copy()))
            .where(exp.GT(this=col(self._occupied, "j"), expression=instant.copy()))
        )
        return exp.Exists(this=covering)

    @cached_property
    def _occupied(self) -> str:
        """The stretches `[i, j)` in which the window is not empty.

        Among intervals with the same end the longest covers all others: few are left to be merged.
        """
        # In a count window, elements only give way to later ones, and a late element follows another one: it makes no
        # difference. If matches are counted, that other one need not match.
        counts_all = isinstance(self.window.window, CountWindow) and not self.window.window.matching
        name = self.statement.add(window_rows(self.window, self.table, [], self.conditions, in_time=counts_all))
        columns = [aliased(exp.Min(this=col(name, "starts")), "i"), aliased(col(name, "ends"), "j")]
        return merge(self.statement, self.statement.add(select_from(name, columns).group_by(col(name, "ends"))), [])

    def _closing(self) -> exp.Query:
        match self.window.window:
            case RangeWindow(width, step, origin, begins):
                return self._series(number(origin + width), step, begins=begins)
            case PastWindow(step=int(step), origin=origin):
                return self._series(number(origin), step)
            case CountWindow() as window:
                return moving_elements(window, self.table, self.conditions)
            case _:
                return self._arrivals()

    def _series(self, start: exp.Expr, step: int, *, begins: bool = True) -> exp.Query:
        """start + n·step for n ≥ 0 (any n, if it does not begin); with content, if the policy requires it."""
        if not begins:
            start = exp.Sub(this=start, expression=number(FOREVER // 4 // step * step))
        if not self.only_occupied:
            self.steps.append(step)
            return exp.select(aliased(_unnested_series(_next_of(start, FIRST, step), LAST, step), "t"))
        name = self._occupied
        from_here = exp.Greatest(this=col(name, "i"), expressions=[FIRST.copy()], ignore_nulls=True)
        before_end = exp.Sub(this=col(name, "j"), expression=number(1))
        until = exp.Least(this=before_end, expressions=[LAST.copy()], ignore_nulls=True)
        return select_from(name, [aliased(_unnested_series(_next_of(start, from_here, step), until, step), "t")])

    def _arrivals(self) -> exp.Query:
        rows = window_rows(self.window, self.table, [], self.conditions, in_time=True).subquery("arriving")
        return exp.select(aliased(col("arriving", "starts"), "t")).from_(rows).distinct()

    def _changes(self) -> exp.Query:
        """The instants at which, for some triple, the numbers of beginning and ending intervals differ."""
        columns: list[exp.Expr] = [col(self.table, part) for part in TRIPLE]
        rows = window_rows(self.window, self.table, columns, self.conditions)
        for placeholder in list(rows.find_all(exp.Placeholder)):
            if placeholder.this == FIRST.this:
                placeholder.replace(exp.Paren(this=BEFORE.copy()))
        valid = self.statement.add(rows)
        bounds = [aliased(col(valid, "starts"), "i"), aliased(col(valid, "ends"), "j")]
        source = self.statement.add(select_from(valid, [*(col(valid, part) for part in TRIPLE), *bounds]))
        if self.window.duplicates == "set":
            source = merge(self.statement, source, TRIPLE)
        edges = []
        for bound, change in (("i", 1), ("j", -1)):
            columns = [col(source, part) for part in TRIPLE]
            columns += [aliased(col(source, bound), "t"), aliased(number(change), "change")]
            edges.append(select_from(source, columns))
        name = self.statement.add(united(edges))
        keys = [col(name, part) for part in (*TRIPLE, "t")]
        balance = exp.Sum(this=col(name, "change"))
        unbalanced = self.statement.add(
            select_from(name, [col(name, "t")]).group_by(*keys).having(exp.NEQ(this=balance, expression=number(0)))
        )
        return select_from(unbalanced, [col(unbalanced, "t")])


def _without(report: ast.Report, implied: list[ast.Report]) -> ast.Report | None:
    """The conditions of a policy that are still to be checked."""
    if report in implied:
        return None
    if not isinstance(report, ast.AllOf):
        return report
    rest = tuple(part for part in report.reports if part not in implied)
    if len(rest) < 2:
        return rest[0] if rest else None
    return ast.AllOf(rest)


def _next_of(start: exp.Expr, time: exp.Expr, step: int) -> exp.Expr:
    """The first of start, start + step, … that is not before a time."""
    behind = exp.Sub(this=exp.Add(this=time.copy(), expression=number(step - 1)), expression=exp.Paren(this=start))
    behind_if_any = exp.Greatest(this=behind, expressions=[number(0)], ignore_nulls=True)
    periods = exp.IntDiv(this=behind_if_any, expression=number(step))
    return exp.Add(this=start.copy(), expression=exp.Mul(this=exp.Paren(this=periods), expression=number(step)))


def _unnested_series(first: exp.Expr, last: exp.Expr, step: int) -> exp.Expr:
    start, end, by = (exp.cast(bound.copy(), "bigint") for bound in (first, last, number(step)))
    return exp.Explode(this=exp.GenerateSeries(start=start, end=end, step=by))
