"""Evaluation instants in SQL (semantics.md §5): when the report policy of a window holds."""

from __future__ import annotations

from sqlglot import exp

from penstock.algebra.model import ContinuousQuery, StreamWindow
from penstock.algebra.reports import MOST_INSTANTS, PolicyError
from penstock.algebra.windows import CountWindow, PastWindow, RangeWindow
from penstock.relational.intervals import merge
from penstock.relational.relations import Statement, aliased, col, number, select_from
from penstock.relational.sources import FOREVER, TRIPLE, Tables, window_intervals
from penstock.syntax import ast


def compile_instants(query: ContinuousQuery, tables: Tables, first: int, last: int, end: int) -> exp.Select:
    """The instants in `[first, last]` at which any window reports, in order; `end` is where the input ends."""
    statement = Statement()
    found: list[exp.Select] = []
    for window in query.dataset.windows:
        if window.report is not None:
            streams = [window.stream] if window.stream is not None else list(tables.streams)
            found += (
                _WindowReport(statement, window, tables.streams[stream], first, last, end).instants()
                for stream in streams
            )
    if not found:
        return exp.select(aliased(exp.cast(exp.null(), "bigint"), "t")).where(exp.false())
    united: exp.Query = found[0]
    for part in found[1:]:
        united = exp.union(united, part, distinct=False)
    name = statement.add(united)
    return statement.finish(select_from(name, [col(name, "t")]).distinct().order_by(col(name, "t")))


def compile_last_end(query: ContinuousQuery, tables: Tables) -> exp.Select:
    """The last end of a validity interval: until then windows are open (`--flush`)."""
    statement = Statement()
    ends: list[exp.Expr] = []
    for window in query.dataset.windows:
        streams = [window.stream] if window.stream is not None else list(tables.streams)
        for stream in streams:
            name = statement.add(window_intervals(window, tables.streams[stream]))
            finite = exp.LT(this=col(name, "ends"), expression=number(FOREVER))
            ends.append(select_from(name, [exp.Max(this=col(name, "ends"))]).where(finite).subquery())
    latest = ends[0] if len(ends) == 1 else exp.Greatest(this=ends[0], expressions=ends[1:], ignore_nulls=True)
    return statement.finish(exp.select(aliased(latest, "t")))


class _WindowReport:
    """The policy of one window over one stream."""

    def __init__(self, statement: Statement, window: StreamWindow, table: str, first: int, last: int, end: int) -> None:
        self.statement = statement
        self.window = window
        self.table = table
        self.first, self.last, self.end = first, last, end
        self.only_occupied = False
        intervals = statement.add(window_intervals(window, table))
        columns = [col(intervals, name) for name in TRIPLE]
        bounds = [aliased(col(intervals, "starts"), "i"), aliased(col(intervals, "ends"), "j")]
        self.validity = statement.add(select_from(intervals, [*columns, *bounds]))

    def instants(self) -> exp.Select:
        report = self.window.report
        assert report is not None
        candidates = self._candidates(report)
        if candidates is None:
            if self.last - self.first > MOST_INSTANTS:
                raise PolicyError(
                    "this report policy may hold at every millisecond of a long input; "
                    "join it with window-close, content-change, arrival or periodic by &"
                )
            candidates = self._series(self.first, 1)
        name = self.statement.add(candidates)
        within = exp.Between(this=col(name, "t"), low=number(self.first), high=number(self.last))
        distinct = self.statement.add(select_from(name, [col(name, "t")]).where(within).distinct())
        return select_from(distinct, [col(distinct, "t")]).where(self._holds(report, col(distinct, "t")))

    def _candidates(self, report: ast.Report) -> exp.Query | None:
        """A superset of the instants at which the policy holds; None stands for all there are."""
        match report:
            case ast.AllOf(reports):
                self.only_occupied = ast.Strategy("non-empty") in reports
                found = (self._candidates(part) for part in reports)
                return next((part for part in found if part is not None), None)
            case ast.AnyOf(reports):
                parts = [part for part in map(self._candidates, reports) if part is not None]
                if len(parts) < len(reports):
                    return None
                united: exp.Query = parts[0]
                for part in parts[1:]:
                    united = exp.union(united, part, distinct=False)
                return united
            case ast.Strategy():
                return self._instants_of(report)
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
                return self._series(self.window.origin, period)
            case ast.Strategy("stream-end"):
                return exp.select(aliased(exp.cast(number(self.end), "bigint"), "t"))
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
                return exp.In(this=instant.copy(), query=instants.subquery())
        raise TypeError(f"not a report: {report}")

    def _is_not_empty(self, instant: exp.Expr) -> exp.Expr:
        """More intervals have begun by then than have ended."""
        edges = exp.union(
            select_from(self.validity, [aliased(col(self.validity, "i"), "t"), aliased(number(1), "change")]),
            select_from(self.validity, [aliased(col(self.validity, "j"), "t"), aliased(number(-1), "change")]),
            distinct=False,
        )
        name = self.statement.add(edges)
        summed = self.statement.add(
            select_from(name, [col(name, "t"), aliased(exp.Sum(this=col(name, "change")), "change")]).group_by(
                col(name, "t")
            )
        )
        running = exp.Window(
            this=exp.Sum(this=col(summed, "change")),
            order=exp.Order(expressions=[exp.Ordered(this=col(summed, "t"))]),
        )
        levels = self.statement.add(select_from(summed, [col(summed, "t"), aliased(running, "open")]))
        after = exp.Window(
            this=exp.Lead(this=col(levels, "t"), offset=number(1)),
            order=exp.Order(expressions=[exp.Ordered(this=col(levels, "t"))]),
        )
        until = exp.Coalesce(this=after, expressions=[number(FOREVER)])
        spans = self.statement.add(
            select_from(levels, [aliased(col(levels, "t"), "i"), aliased(until, "j"), col(levels, "open")])
        )
        covering = (
            select_from(spans, [number(1)])
            .where(exp.GT(this=col(spans, "open"), expression=number(0)))
            .where(exp.LTE(this=col(spans, "i"), expression=instant.copy()))
            .where(exp.GT(this=col(spans, "j"), expression=instant.copy()))
        )
        return exp.Exists(this=covering)

    def _closing(self) -> exp.Query:
        match self.window.window:
            case RangeWindow(width, step, origin, begins):
                start = origin + width
                if not begins and start > self.first:
                    start -= -(-(start - self.first) // step) * step
                return self._series(start, step)
            case PastWindow(step=int(step), origin=origin):
                return self._series(origin, step)
            case CountWindow(step=step):
                is_move = exp.Mod(this=col(self.table, "seq"), expression=number(step)).eq(number(0))
                return select_from(self.table, [aliased(col(self.table, "ts"), "t")]).where(is_move)
            case _:
                return self._arrivals()

    def _series(self, start: int, step: int) -> exp.Query:
        """start + n·step for n ≥ 0 within `[first, last]`; over a long time, only where there is content."""
        skipped = max(0, -(-(self.first - start) // step))
        first = start + skipped * step
        if (self.last - first) // step <= MOST_INSTANTS:
            return exp.select(aliased(_unnested_series(number(first), number(self.last), step), "t"))
        if not self.only_occupied:
            raise PolicyError(
                f"this report policy may hold at more than {MOST_INSTANTS} instants of the input; "
                "join it with non-empty by &, or take a longer step or period"
            )
        begin, end = col(self.validity, "i"), col(self.validity, "j")
        passed = exp.Sub(this=exp.Add(this=begin, expression=number(step - 1)), expression=number(first))
        at_or_after = exp.Add(
            this=number(first),
            expression=exp.Mul(
                this=exp.Paren(this=exp.IntDiv(this=exp.Paren(this=passed), expression=number(step))),
                expression=number(step),
            ),
        )
        first_seen = exp.Greatest(this=at_or_after, expressions=[number(first)], ignore_nulls=True)
        bounds = self.statement.add(
            select_from(self.validity, [aliased(first_seen, "first"), aliased(end, "behind")]).distinct()
        )
        before = exp.Sub(this=col(bounds, "behind"), expression=number(1))
        until = exp.Least(this=before, expressions=[number(self.last)], ignore_nulls=True)
        return select_from(bounds, [aliased(_unnested_series(col(bounds, "first"), until, step), "t")])

    def _arrivals(self) -> exp.Query:
        return select_from(self.validity, [aliased(col(self.validity, "i"), "t")]).distinct()

    def _changes(self) -> exp.Query:
        """Where, for some triple, intervals that begin and intervals that end do not balance."""
        source = self.validity
        if self.window.duplicates == "set":
            source = merge(self.statement, source, TRIPLE)
        triple = [col(source, name) for name in TRIPLE]
        edges = exp.union(
            select_from(source, [*triple, aliased(col(source, "i"), "t"), aliased(number(1), "change")]),
            select_from(
                source, [*(c.copy() for c in triple), aliased(col(source, "j"), "t"), aliased(number(-1), "change")]
            ),
            distinct=False,
        )
        name = self.statement.add(edges)
        keys = [col(name, part) for part in (*TRIPLE, "t")]
        balance = exp.Sum(this=col(name, "change"))
        unbalanced = self.statement.add(
            select_from(name, [col(name, "t")]).group_by(*keys).having(exp.NEQ(this=balance, expression=number(0)))
        )
        return select_from(unbalanced, [col(unbalanced, "t")])


def _unnested_series(first: exp.Expr, last: exp.Expr, step: int) -> exp.Expr:
    bounds = [exp.cast(bound, "bigint") for bound in (first, last, number(step))]
    return exp.func("unnest", exp.func("generate_series", *bounds))
