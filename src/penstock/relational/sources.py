"""Windows and graphs as relations of triples `(s, p, o, i, j)` (semantics.md §3 and §4).

Timestamps become validity intervals `[starts, ends)` by the window's formula, and these become numbers of evaluation
instants: what no instant of the slice sees is gone before anything is joined.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from sqlglot import exp

from penstock.algebra.model import Dataset, StreamWindow
from penstock.algebra.windows import AllWindow, CountWindow, NowWindow, PastWindow, RangeWindow
from penstock.relational.intervals import INSTANTS, merge
from penstock.relational.relations import Statement, aliased, col, number, select_from


class NotYetError(NotImplementedError):
    """A part of a query that this engine does not run yet: the sentence names it."""

    def __init__(self, part: str) -> None:
        super().__init__(f"the embedded engine does not run {part} yet; `penstock oracle` does")


FOREVER = 2**62
"""The end of what never ends."""

TRIPLE = ("s", "p", "o")


@dataclass(frozen=True, slots=True)
class Tables:
    """Where the input is: tables `(s, p, o, ts, seq, since)` of streams and `(s, p, o, starts, ends)` of graphs.

    `seq` numbers the elements; a late one counts only from the instant `since`. The graph under None is the unnamed
    one.
    """

    streams: Mapping[str, str]
    graphs: Mapping[str | None, str]


class Sources:
    """The active graphs of a query; each is compiled when it is first read."""

    def __init__(self, statement: Statement, dataset: Dataset, tables: Tables) -> None:
        self.statement = statement
        self.dataset = dataset
        self.tables = tables
        self._known: dict[object, str] = {}
        named = dataset.named_graphs if dataset.has_clauses else [g for g in tables.graphs if g is not None]
        self.graph_names = [*named, *(w.name for w in dataset.windows if w.name is not None)]
        self.window_names = [w.name for w in dataset.windows if w.name is not None]

    def default(self) -> str:
        unnamed = [window for window in self.dataset.windows if not window.is_named]
        return self._once("default", lambda: self._merged([*self._static_default(), *self._contents(unnamed)], unnamed))

    def graph(self, name: str) -> str:
        """What GRAPH sees: a window of the default graph comes merged with the static part of it."""
        windows = [window for window in self.dataset.windows if window.name == name]
        if not windows:
            return self._once(("graph", name), lambda: self._merged(self._graphs([name]), []))
        if windows[0].is_named:
            return self.window(name)
        return self._once(
            ("merged", name), lambda: self._merged([*self._static_default(), *self._contents(windows)], windows)
        )

    def window(self, name: str) -> str:
        windows = [window for window in self.dataset.windows if window.name == name]
        return self._once(("window", name), lambda: self._merged(self._contents(windows), windows))

    def _once(self, key: object, compile_it: Callable[[], str]) -> str:
        if key not in self._known:
            self._known[key] = compile_it()
        return self._known[key]

    def _static_default(self) -> list[exp.Select]:
        return self._graphs([None, *self.dataset.default_graphs])

    def _graphs(self, names: Sequence[str | None]) -> list[exp.Select]:
        tables = [self.tables.graphs[name] for name in names if name in self.tables.graphs]
        return [_triples(table, [col(table, "starts"), col(table, "ends")]) for table in tables]

    def _contents(self, windows: Sequence[StreamWindow]) -> list[exp.Select]:
        if any(isinstance(window.window, CountWindow) and window.window.matching for window in windows):
            raise NotYetError("a window inside a group that counts (WINDOW ELEMS)")
        if any(window.stream_variable is not None and window.is_named for window in windows):
            raise NotYetError("STREAM with a variable")
        return [
            window_intervals(window, self.tables.streams[stream])
            for window in windows
            for stream in ([window.stream] if window.stream is not None else self.tables.streams)
        ]

    def _merged(self, parts: list[exp.Select], windows: Sequence[StreamWindow]) -> str:
        """All parts as one graph: a set, unless one of its windows is a bag."""
        if not parts:
            empty = [aliased(exp.cast(exp.null(), "text"), name) for name in TRIPLE]
            bounds = [aliased(number(0), "i"), aliased(number(0), "j")]
            return self.statement.add(exp.select(*empty, *bounds).where(exp.false()))
        united: exp.Query = parts[0]
        for part in parts[1:]:
            united = exp.union(united, part, distinct=False)
        numbered = self._numbered(self.statement.add(united))
        if any(window.duplicates == "bag" for window in windows):
            return numbered
        return merge(self.statement, numbered, TRIPLE)

    def _numbered(self, source: str) -> str:
        """`[starts, ends)` as numbers of instants; rows that no instant sees are left out."""
        first, behind = "first_instant", "instant_behind"
        joined = select_from(source, [col(source, name) for name in TRIPLE])
        count = exp.select(exp.Count(this=exp.Star())).from_(INSTANTS).subquery()
        start = exp.Coalesce(this=col(first, "k"), expressions=[count])
        end = exp.Coalesce(this=col(behind, "k"), expressions=[count.copy()])
        joined = joined.select(aliased(start, "i"), aliased(end, "j"))
        joined.set("joins", [_next_instant(first, col(source, "starts")), _next_instant(behind, col(source, "ends"))])
        mapped = self.statement.add(joined)
        columns = [col(mapped, name) for name in (*TRIPLE, "i", "j")]
        return self.statement.add(
            select_from(mapped, columns).where(exp.LT(this=col(mapped, "i"), expression=col(mapped, "j")))
        )


def _next_instant(alias: str, time: exp.Expr) -> exp.Join:
    """The first evaluation instant at or after a time."""
    is_after = exp.LTE(this=time, expression=col(alias, "t"))
    return exp.Join(this=exp.to_table(INSTANTS, alias=alias), method="ASOF", side="LEFT", on=is_after)


def window_intervals(window: StreamWindow, table: str) -> exp.Select:
    """The triples of a stream with the intervals that the window gives them, and what lateness leaves of these."""
    found = _window_intervals(window, table).subquery("found")
    columns = [col("found", name) for name in TRIPLE]
    starts = exp.Greatest(this=col("found", "starts"), expressions=[col("found", "since")], ignore_nulls=True)
    query = exp.select(*columns, aliased(starts, "starts"), col("found", "ends")).from_(found)
    return query.where(exp.LT(this=starts.copy(), expression=col("found", "ends")))


def _window_intervals(window: StreamWindow, table: str) -> exp.Select:
    time = col(table, "ts")
    kind = window.window
    match kind:
        case RangeWindow(width, step, origin, begins):
            if not begins:  # so far back that no time lies before it, and integer division rounds down
                origin -= FOREVER // 4 // step * step
            passed = exp.Sub(this=time, expression=number(origin + 1))
            periods = exp.IntDiv(this=exp.Paren(this=passed), expression=number(step))
            last = exp.Add(
                this=number(origin + width), expression=exp.Mul(this=exp.Paren(this=periods), expression=number(step))
            )
            ends = exp.Add(this=last, expression=number(1))
            is_seen = exp.and_(
                exp.GT(this=time.copy(), expression=number(origin)), exp.LTE(this=time.copy(), expression=last.copy())
            )
            return _elements(table, [time.copy(), ends]).where(is_seen)
        case PastWindow(start, end):
            bounds: list[exp.Expr] = [exp.Add(this=time.copy(), expression=number(ago)) for ago in (end, start)]
            return _elements(table, bounds)
        case NowWindow():
            return _elements(table, [time, exp.Add(this=time.copy(), expression=number(1))])
        case CountWindow():
            return _counted(kind, table)
        case AllWindow():
            return _elements(table, [time, number(FOREVER)])
        case _:
            raise TypeError(f"not a window: {kind}")


def _counted(window: CountWindow, table: str) -> exp.Select:
    """`[ts of the move that lets it in, ts of the move that lets it out)`; `seq` numbers the elements from 1."""
    enters, leaves = (f"{table}_enters", f"{table}_leaves")
    step = number(window.step)

    def move(offset: int) -> exp.Expr:
        position = exp.Add(this=col(table, "seq"), expression=number(offset + window.step - 1))
        return exp.Mul(
            this=exp.Paren(this=exp.IntDiv(this=exp.Paren(this=position), expression=step.copy())),
            expression=step.copy(),
        )

    starts = col(enters, "ts")
    ends = exp.Coalesce(this=col(leaves, "ts"), expressions=[number(FOREVER)])
    elements = exp.select(exp.column("seq"), aliased(exp.Max(this=exp.column("ts")), "ts")).from_(table).group_by("seq")
    selected = _elements(table, [starts, ends])
    return (
        selected.join(elements.subquery(enters), on=col(enters, "seq").eq(move(0)))
        .join(elements.copy().subquery(leaves), on=col(leaves, "seq").eq(move(window.size)), join_type="left")
        .where(exp.LT(this=starts.copy(), expression=ends.copy()))
    )


def _elements(table: str, interval: list[exp.Expr]) -> exp.Select:
    return _triples(table, interval).select(col(table, "since"))


def _triples(table: str, interval: list[exp.Expr]) -> exp.Select:
    columns = [col(table, name) for name in TRIPLE]
    return select_from(table, [*columns, aliased(interval[0], "starts"), aliased(interval[1], "ends")])
