"""Windows and graphs as relations over intervals (semantics.md §3 and §4).

Timestamps become validity intervals `[starts, ends)` by the window's formula, and these become numbers of evaluation
instants `[i, j)`: what no instant of the slice sees is gone before anything is joined. A triple pattern reads the
tables itself, so that what it does not match is not touched.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from sqlglot import exp

from penstock.algebra.model import Dataset, StreamWindow
from penstock.relational.intervals import INSTANTS, once
from penstock.relational.matching import TRIPLE, Conditions
from penstock.relational.relations import Statement, aliased, col, number, select_from, united
from penstock.relational.windows import window_rows


class NotYetError(NotImplementedError):
    """A part of a query that this engine does not run yet: the sentence names it."""

    def __init__(self, part: str) -> None:
        super().__init__(f"the embedded engine does not run {part} yet; `penstock oracle` does")


COUNT = exp.Placeholder(this="count")
"""How many instants the slice has."""


@dataclass(frozen=True, slots=True)
class Tables:
    """Where the input is: tables `(s, p, o, ts, element, arrival, since)` of streams, `(s, p, o)` of graphs.

    `element` numbers the elements and `arrival` the triples as they came; an element that came late counts only from
    the instant `since`. The graphs in `changing` have columns `starts` and `ends` besides. The graph under None is the
    unnamed one.
    """

    streams: Mapping[str, str]
    graphs: Mapping[str | None, str]
    changing: frozenset[str | None] = frozenset()


def always() -> list[exp.Expr]:
    """The interval of what holds at every instant."""
    return [aliased(exp.cast(number(0), "bigint"), "i"), aliased(exp.cast(COUNT.copy(), "bigint"), "j")]


@dataclass(slots=True, eq=False)
class ActiveGraph:
    """What triple patterns are matched against: static graphs and windows over streams, merged."""

    statement: Statement
    static: Sequence[str] = ()
    changing: Sequence[str] = ()
    windows: Sequence[tuple[StreamWindow, str]] = ()
    _triples: list[str] = field(default_factory=list)

    def scan(self, columns: Mapping[str, str], conditions: Conditions) -> str:
        """The relation of the rows that meet the conditions; `columns` maps s, p and o to names, as far as wanted."""
        parts = [_select(table, columns, conditions).select(*always()) for table in self.static]
        moving = [
            _select(table, columns, conditions).select(col(table, "starts"), col(table, "ends"))
            for table in self.changing
        ]
        for window, table in self.windows:
            asked = conditions(table) or [exp.not_(col(table, "s").is_(exp.null()))]
            moving.append(window_rows(window, table, _columns(table, columns), asked))
        if moving:
            parts.append(self._numbered(self.statement.add(united(moving)), list(columns.values())))
        if not parts:
            nothing = [aliased(exp.cast(exp.null(), "text"), name) for name in columns.values()]
            parts.append(exp.select(*nothing, *always()).where(exp.false()))
        name = self.statement.add(united(parts))
        if self._is_bag or not (moving or len(parts) > 1):
            return name
        return once(self.statement, name, list(columns.values()))

    def triples(self) -> str:
        """The whole graph as a relation `(s, p, o, i, j)`."""
        if not self._triples:
            self._triples.append(self.scan({part: part for part in TRIPLE}, lambda table: []))
        return self._triples[0]

    @property
    def _is_bag(self) -> bool:
        """A merge of windows is a set, unless one of them is a bag."""
        return any(window.duplicates == "bag" for window, _ in self.windows)

    def _numbered(self, source: str, names: Iterable[str]) -> exp.Select:
        """`[starts, ends)` as numbers of instants; rows that no instant sees are left out."""
        first, behind = "first_instant", "instant_behind"
        start, end = (exp.Coalesce(this=col(table, "k"), expressions=[COUNT.copy()]) for table in (first, behind))
        columns = [*(col(source, name) for name in names), aliased(start, "i"), aliased(end, "j")]
        joined = select_from(source, columns)
        joined.set("joins", [_next_instant(first, col(source, "starts")), _next_instant(behind, col(source, "ends"))])
        return joined.where(exp.LT(this=start.copy(), expression=end.copy()))


def _columns(table: str, columns: Mapping[str, str]) -> list[exp.Expr]:
    return [aliased(col(table, part), name) for part, name in columns.items()]


def _select(table: str, columns: Mapping[str, str], conditions: Conditions) -> exp.Select:
    query = select_from(table, _columns(table, columns))
    asked = conditions(table)
    return query.where(*asked) if asked else query


def _next_instant(alias: str, time: exp.Expr) -> exp.Join:
    """The first evaluation instant at or after a time."""
    is_after = exp.LTE(this=time, expression=col(alias, "t"))
    return exp.Join(this=exp.to_table(INSTANTS, alias=alias), method="ASOF", side="LEFT", on=is_after)


@dataclass(frozen=True, slots=True)
class NamedGraph:
    """A graph with its name and, where that says which, the stream that it comes from and the variable to tell it."""

    name: str
    graph: ActiveGraph
    stream_variable: str | None = None
    stream: str | None = None


class Sources:
    """The active graphs of a query."""

    def __init__(self, statement: Statement, dataset: Dataset, tables: Tables) -> None:
        self.statement = statement
        self.dataset = dataset
        self.tables = tables
        self._known: dict[object, ActiveGraph] = {}

    @property
    def default(self) -> ActiveGraph:
        unnamed = [window for window in self.dataset.windows if not window.is_named]
        return self._once("default", self._static_default, unnamed)

    def graphs(self) -> list[NamedGraph]:
        """What GRAPH can read; a window of the default graph comes merged with the static part of it."""
        dataset = self.dataset
        names = dataset.named_graphs if dataset.has_clauses else [g for g in self.tables.graphs if g is not None]
        static = [NamedGraph(name, self._once(("graph", name), [name], [])) for name in names]
        windows = [window for window in dataset.windows if window.stream_variable is None]
        return [*static, *(named for window in windows for named in self._named(window, is_merged=not window.is_named))]

    def windows(self) -> list[NamedGraph]:
        """What WINDOW can read: of a window over every stream, each stream by itself."""
        return [named for window in self.dataset.windows for named in self._named(window, is_merged=False)]

    def _named(self, window: StreamWindow, *, is_merged: bool) -> list[NamedGraph]:
        if window.name is None:
            return []
        static = self._static_default if is_merged else []
        found: list[NamedGraph] = []
        for stream in streams_of(window, self.tables):
            graph = self._once((window, stream, is_merged), static, [window], stream)
            found.append(NamedGraph(window.name, graph, window.stream_variable, stream))
        return found

    @property
    def _static_default(self) -> list[str | None]:
        return [None, *self.dataset.default_graphs]

    def _once(
        self, key: object, graphs: Sequence[str | None], windows: Sequence[StreamWindow], stream: str | None = None
    ) -> ActiveGraph:
        if key not in self._known:
            bound = [graph for graph in graphs if graph in self.tables.graphs]
            self._known[key] = ActiveGraph(
                self.statement,
                [self.tables.graphs[graph] for graph in bound if graph not in self.tables.changing],
                [self.tables.graphs[graph] for graph in bound if graph in self.tables.changing],
                [
                    (window, self.tables.streams[source])
                    for window in windows
                    for source in streams_of(window, self.tables)
                    if stream is None or source == stream
                ],
            )
        return self._known[key]


def streams_of(window: StreamWindow, tables: Tables) -> list[str]:
    """The streams that a window is over."""
    return [window.stream] if window.stream is not None else list(tables.streams)
