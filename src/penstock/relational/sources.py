"""Windows and graphs as relations over intervals (semantics.md §3 and §4).

Timestamps become validity intervals `[starts, ends)` by the window's formula, and these become numbers of evaluation
instants `[i, j)`: what no instant of the slice sees is gone before anything is joined. A triple pattern reads the
tables itself, so that what it does not match is not touched.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from sqlglot import exp

from penstock.algebra.expressions import Variable
from penstock.algebra.model import Dataset, StreamWindow
from penstock.algebra.services import ServiceCall
from penstock.algebra.windows import CountWindow, RangeWindow
from penstock.optimizer import Sizes
from penstock.optimizer.sizes import Spread
from penstock.relational.intervals import INSTANTS, counted_until, once, partitioned, spread
from penstock.relational.matching import TRIPLE, Asked
from penstock.relational.relations import Relation, Statement, aliased, col, number, select_from, united
from penstock.relational.static_parts import Keep
from penstock.relational.timestamps import as_term
from penstock.relational.windows import FIRST, window_rows
from penstock.syntax import ast

COUNT, STEP = exp.Placeholder(this="count"), exp.Placeholder(this="step")
"""How many instants the slice has, and how far they are apart."""


@dataclass(frozen=True, slots=True)
class AnswerTable:
    """The answers of a service: a column for each variable, named by `answer_column`, and the variables always bound.

    If it `changes`, it has columns `starts` and `ends` besides.
    """

    name: str
    certain: frozenset[str]
    changes: bool


def answer_column(place: int) -> str:
    return f"c{place}"


@dataclass(frozen=True, slots=True)
class Tables:
    """Where the input is: tables `(s, p, o, ts, element, arrival, since)` of streams, `(s, p, o)` of graphs.

    `element` numbers the elements and `arrival` the triples as they came; an element that came late counts only from
    the instant `since`. A stream of which a query reads the names of elements (`algebra.element_names`) has a column
    `g` besides: the name of the element, NULL where it has none. The graphs in `changing` have columns `starts` and
    `ends` besides. The graph under None is the unnamed one.
    """

    streams: Mapping[str, str]
    graphs: Mapping[str | None, str]
    changing: frozenset[str | None] = frozenset()
    predicates: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """All predicates that a table has, where that is known: no other pattern finds anything there."""
    services: Mapping[ServiceCall, AnswerTable] = field(default_factory=dict)
    changed: Mapping[str | None, str] = field(default_factory=dict)
    """Of a graph that is static but for a few triples, the table of these, which are not in the other one."""
    counts: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    """How many rows with each predicate a table has lately had, as far as it was counted."""
    keep: Keep | None = field(default=None, compare=False)
    """Where static parts of a query are kept, if they are."""
    given: frozenset[str] = frozenset()
    """The streams that come from other queries."""
    spread: Mapping[str, Mapping[str, Spread]] = field(default_factory=dict)
    """How the triples of each predicate are spread in tables of graphs, where that is to be known."""

    @property
    def sizes(self) -> Sizes:
        return Sizes(
            {iri: self.counts[table] for iri, table in self.streams.items() if table in self.counts},
            {iri: self.counts[table] for iri, table in self.graphs.items() if table in self.counts},
            {iri: self.spread[table] for iri, table in self.graphs.items() if table in self.spread},
        )

    def may_match(self, table: str, predicate: str | None) -> bool:
        known = self.predicates.get(table)
        return known is None or predicate is None or predicate in known


def always() -> list[exp.Expr]:
    """The interval of what holds at every instant."""
    return [aliased(exp.cast(number(0), "bigint"), "i"), aliased(exp.cast(COUNT.copy(), "bigint"), "j")]


@dataclass(slots=True, eq=False)
class ActiveGraph:
    """What triple patterns are matched against: static graphs and windows over streams, merged."""

    statement: Statement
    tables: Tables
    static: Sequence[str] = ()
    changing: Sequence[str] = ()
    windows: Sequence[tuple[StreamWindow, str]] = ()
    closing: RangeWindow | None = None
    """The window at whose closing instants, and at no others, the query is evaluated, if there is one."""
    _scans: dict[object, tuple[str, Mapping[str, str]]] = field(default_factory=dict)

    def scan(self, columns: Mapping[str, str], asked: Asked) -> str:
        """The relation of the rows that are asked for; `columns` maps s, p and o to names, as far as wanted.

        Where the same has been asked before, the same is read, under a new name.
        """
        matching = self._with(asked.predicate)
        self.statement.stream_scans += bool(matching.windows)
        key = asked, tuple(columns)
        if key not in self._scans:
            self._scans[key] = matching._scan(columns, asked), columns
            return self._scans[key][0]
        name, known = self._scans[key]
        return self.statement.renamed(name, {columns[part]: known[part] for part in columns})

    def select_static(self, columns: Mapping[str, str], asked: Asked) -> exp.Select | None:
        """What a static graph has of that, without intervals, where it is one graph beside something that moves."""
        matching = self._with(asked.predicate)
        if len(matching.static) != 1 or not (matching.windows or matching.changing):
            return None
        return _select(matching.static[0], columns, asked)

    def scan_with(self, columns: Mapping[str, str], asked: Asked, static: exp.Select) -> str:
        """`scan`, with that in place of what static graphs have."""
        matching = self._with(asked.predicate)
        self.statement.stream_scans += bool(matching.windows)
        return matching._scan(columns, asked, static)

    @property
    def counts_matches(self) -> bool:
        """Whether a window counts what matches a pattern."""
        return any(_counts_matches(window) for window, _ in self.windows)

    def holds_always(self, asked: Asked) -> bool:
        """Whether what is found holds at every instant."""
        matching = self._with(asked.predicate)
        return not matching.windows and not matching.changing

    def is_static_for(self, asked: Asked) -> bool:
        """Whether what is found is part of static graphs, in which there is something to find."""
        matching = self._with(asked.predicate)
        return bool(matching.static) and not matching.windows and not matching.changing

    def has_beside_windows(self, asked: Asked) -> bool:
        """Whether something may be found without streams."""
        matching = self._with(asked.predicate)
        return bool(matching.static or matching.changing)

    def is_momentary(self, asked: Asked) -> bool:
        """Whether what is found holds at one instant: that at which its window closes, before the next one begins."""
        matching = self._with(asked.predicate)
        return bool(matching.windows) and not matching.static and matching._is_tumbling and self._are_all_closing

    @property
    def _are_all_closing(self) -> bool:
        return all(window.window == self.closing for window, _ in self.windows)

    def _with(self, predicate: str | None) -> ActiveGraph:
        """Without the tables that have nothing with such a predicate."""
        return replace(
            self,
            _scans={},
            static=[table for table in self.static if self.tables.may_match(table, predicate)],
            changing=[table for table in self.changing if self.tables.may_match(table, predicate)],
            windows=[entry for entry in self.windows if self.tables.may_match(entry[1], predicate)],
        )

    def _scan(self, columns: Mapping[str, str], asked: Asked, static: exp.Select | None = None) -> str:
        names = list(columns.values())
        parts: list[exp.Query] = []
        if self.static:
            parts.append(self._static(columns, asked) if static is None else static)
        changing, shown = self._changing(columns, asked), self._shown(columns, asked)
        once = changing if self._is_bag else [*changing, *shown]
        if once:
            parts += self._each_once(united(once), names, parts[0] if parts else None)
        if self._is_bag:
            parts.append(self._numbered(united(shown), names))
        if not parts:
            nothing = [aliased(exp.cast(exp.null(), "text"), name) for name in names]
            parts.append(exp.select(*nothing, *always()).where(exp.false()))
        return self.statement.add(united(parts))

    def _static(self, columns: Mapping[str, str], asked: Asked) -> exp.Select:
        """A graph has each of its triples once; what is in several of them counts once, too."""
        rows = [_select(table, columns, asked) for table in self.static]
        if len(rows) == 1:
            return rows[0].select(*always())
        if not columns:  # SQL selects something
            rows = [row.select(aliased(number(1), "there")) for row in rows]
        merged = united(rows)
        merged.set("distinct", True)
        kept = [col("merged", name) for name in columns.values()]
        return exp.select(*kept, *always()).from_(merged.subquery("merged"))

    def _changing(self, columns: Mapping[str, str], asked: Asked) -> list[exp.Query]:
        """What comes and goes in graphs, which are sets beside whatever window, with its intervals `[starts, ends)`."""
        return [
            _select(table, columns, asked).select(col(table, "starts"), col(table, "ends")) for table in self.changing
        ]

    def _shown(self, columns: Mapping[str, str], asked: Asked) -> list[exp.Query]:
        """What windows show, with its intervals."""
        rows: list[exp.Query] = []
        for window, table in self.windows:
            found, conditions = _columns(table, columns), asked.conditions_on_stream(table)
            is_bounded = not self.statement.shape.is_distributed
            rows.append(window_rows(window, table, found, conditions, within_slice=is_bounded))
        return rows

    def _each_once(self, moving: exp.Query, names: list[str], static: exp.Query | None) -> list[exp.Query]:
        """A set: what is static anyway counts no more, and what overlaps in time counts once.

        Few triples come again. Among many rows these are found by hashes, so that only they are sorted.
        """
        if static is not None:
            moving = _without_equal(moving, static, names)
        if self.statement.shape.is_snapshot:
            return [self._numbered(moving, names).distinct(copy=False)]
        if self._is_tumbling:
            return [self._once_per_window(moving, names)]
        if not names or not self.statement.shape.is_large:
            return [self._once(moving, names)]
        numbered = self._numbered(moving, names).subquery("numbered")
        kept = [col("numbered", name) for name in (*names, "i", "j")]
        key = aliased(exp.func("hash", *(col("numbered", name) for name in names)), "key")
        hashed = self.statement.add(exp.select(*kept, key).from_(numbered), materialized=True)
        is_again = exp.GT(this=exp.Count(this=exp.Star()), expression=number(1))
        keys = select_from(hashed, [col(hashed, "key")]).group_by(col(hashed, "key")).having(is_again)
        again = self.statement.add(keys, materialized=True)
        same = col(hashed, "key").eq(col(again, "key"))
        alone, repeated = (
            select_from(hashed, [col(hashed, name) for name in columns]).join(again, on=same.copy(), join_type=kind)
            for kind, columns in (("anti", [*names, "i", "j"]), ("semi", [*names, "key", "i", "j"]))
        )
        disjoint = once(self.statement, self.statement.add(repeated), ["key", *names])
        return [alone, select_from(disjoint, [col(disjoint, name) for name in (*names, "i", "j")])]

    @property
    def _is_tumbling(self) -> bool:
        """Whether what overlaps ends together: there is one window, whose contents do not overlap."""
        kinds = [window.window for window, _ in self.windows]
        return not self.changing and all(
            isinstance(kind, RangeWindow) and kind.step >= kind.width and kind == kinds[0] for kind in kinds
        )

    def _once_per_window(self, rows: exp.Query, names: list[str]) -> exp.Query:
        if self._are_all_closing and self.statement.shape.is_regular and not self.static:
            return self._numbered_by_closing(rows, names)
        name = self.statement.add(self._numbered(rows, names))
        columns = [col(name, column) for column in (*names, "j")]
        first = aliased(exp.Min(this=col(name, "i")), "i")
        found = select_from(name, [*columns[:-1], first, columns[-1]])
        return found.group_by(*(column.copy() for column in columns))

    def _once(self, rows: exp.Query, names: list[str]) -> exp.Query:
        disjoint = once(self.statement, self.statement.add(self._numbered(rows, names)), names)
        return select_from(disjoint, [col(disjoint, name) for name in (*names, "i", "j")])

    def _numbered_by_closing(self, rows: exp.Query, names: list[str]) -> exp.Select:
        """What is seen when its window closes, and only then, each once; not all closings need be instants."""
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
        if self.statement.shape.is_distributed:
            together = ["i"] if self.statement.shape.has_many_instants else [*names, "i"]
            seen = exp.select("*").from_(partitioned(seen, together).subquery("partitioned"))
        behind = exp.Add(this=col("seen", "i"), expression=number(1))
        query = exp.select(*(col("seen", name) for name in (*names, "i")), aliased(behind, "j"))
        return query.from_(seen.distinct(copy=False).subquery("seen", copy=False), copy=False)

    def timed_scan(self, columns: Mapping[str, str], asked: Asked, times: Mapping[str | None, str]) -> str:
        """`scan`, with the timestamps of the triples: in any stream (None), and in streams by their names.

        Of a set each triple is there once at each instant, with the greatest timestamp that it has there.
        """
        self.statement.stream_scans += len(self.windows)
        names = list(columns.values())
        parts: list[exp.Query] = []
        for table in (*self.static, *self.changing):
            bounds = always() if table in self.static else [col(table, "starts"), col(table, "ends")]
            nothing = [aliased(exp.cast(exp.null(), "bigint"), name) for name in times.values()]
            rows = _select(table, columns, asked).select(*nothing, *bounds)
            parts.append(rows if table in self.static else self._numbered(rows, [*names, *times.values()]))
        for window, table in self.windows:
            iri = next(iri for iri, name in self.tables.streams.items() if name == table)
            stamps = [
                aliased(col(table, "ts") if stream in (None, iri) else exp.cast(exp.null(), "bigint"), name)
                for stream, name in times.items()
            ]
            rows = window_rows(window, table, [*_columns(table, columns), *stamps], asked.conditions_on_stream(table))
            parts.append(self._numbered(rows, [*names, *times.values()]))
        if not parts:
            nothing = [aliased(exp.cast(exp.null(), "text"), name) for name in (*names, *times.values())]
            return self.statement.add(exp.select(*nothing, *always()).where(exp.false()))
        found = self.statement.add(united(parts))
        if not self._is_bag:
            found = spread(self.statement, found, [*names, *times.values()])
        kept = [col(found, name) for name in (*names, "i", "j")]
        stamps = [col(found, name) for name in times.values()]
        if not self._is_bag:
            stamps = [exp.Max(this=stamp) for stamp in stamps]
        told = [aliased(as_term(stamp), name) for stamp, name in zip(stamps, times.values(), strict=True)]
        query = select_from(found, [*kept, *told])
        return self.statement.add(query if self._is_bag else query.group_by(*(column.copy() for column in kept)))

    def triples(self, asked: Asked | None = None) -> str:
        """The whole graph, or what is asked for, as a relation `(s, p, o, i, j)`."""
        return self.scan({part: part for part in TRIPLE}, asked or Asked())

    def names(self, column: str, asked: Asked) -> str:
        """The names of a window's elements as a relation, each once at an instant."""
        found = self.scan({"g": column}, asked)
        return once(self.statement, found, [column]) if self._is_bag else found

    @property
    def _is_bag(self) -> bool:
        """A merge of windows is a set, unless one of them is a bag."""
        return any(window.duplicates == "bag" for window, _ in self.windows)

    def _numbered(self, rows: exp.Query, names: list[str]) -> exp.Select:
        """`[starts, ends)` as numbers of instants; rows that no instant sees are left out."""
        if self.statement.shape.is_snapshot:
            return _seen_at_first(rows, names)
        if self.statement.shape.is_regular:
            return _numbered_by_step(rows, names)
        if self.statement.shape.is_distributed:
            return self._numbered_by_counting(rows, names)
        first, behind = "first_instant", "instant_behind"
        start, end = (exp.Coalesce(this=col(table, "k"), expressions=[COUNT.copy()]) for table in (first, behind))
        columns = [*(col("timed", name) for name in names), aliased(start, "i"), aliased(end, "j")]
        joined = exp.select(*columns).from_(rows.subquery("timed"))
        joined.set("joins", [_next_instant(first, col("timed", "starts")), _next_instant(behind, col("timed", "ends"))])
        return joined.where(exp.LT(this=start.copy(), expression=end.copy()))

    def _numbered_by_counting(self, rows: exp.Query, names: list[str]) -> exp.Select:
        """The number of the first instant at or after a time is that of the instants before it."""
        timed = self.statement.add(rows)
        times = united([select_from(timed, [aliased(col(timed, edge), "time")]) for edge in ("starts", "ends")])
        instants = select_from(INSTANTS, [aliased(col(INSTANTS, "t"), "time")])
        places = self.statement.add(counted_until(times, instants))
        start, end = (exp.Sub(this=col(at, "until"), expression=col(at, "here")) for at in ("at_start", "at_end"))
        query = select_from(timed, [*(col(timed, name) for name in names), aliased(start, "i"), aliased(end, "j")])
        for at, edge in (("at_start", "starts"), ("at_end", "ends")):
            query = query.join(exp.to_table(places, alias=at), on=col(at, "time").eq(col(timed, edge)))
        return query.where(exp.LT(this=start.copy(), expression=end.copy()))


def _seen_at_first(rows: exp.Query, names: list[str]) -> exp.Select:
    """What the first instant, the only one, sees."""
    query = exp.select(*(col("timed", name) for name in names), *always())
    query = query.from_(rows.subquery("timed", copy=False), copy=False)
    has_started = exp.LTE(this=col("timed", "starts"), expression=FIRST.copy())
    return query.where(has_started, exp.GT(this=col("timed", "ends"), expression=FIRST.copy()), copy=False)


def _numbered_by_step(rows: exp.Query, names: list[str]) -> exp.Select:
    """Instants that are a step apart are counted off; the first of them at or after a time is what matters."""
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


def _without_equal(rows: exp.Query, others: exp.Query, names: list[str]) -> exp.Query:
    equal: list[exp.Expr] = [col("rows", name).eq(col("others", name)) for name in names]
    kept = [col("rows", name) for name in (*names, "starts", "ends")]
    query = exp.select(*kept).from_(rows.subquery("rows"))
    return query.join(others.copy().subquery("others"), on=exp.and_(*equal) if equal else exp.true(), join_type="anti")


def _columns(table: str, columns: Mapping[str, str]) -> list[exp.Expr]:
    return [aliased(col(table, part), name) for part, name in columns.items()]


def _select(table: str, columns: Mapping[str, str], asked: Asked) -> exp.Select:
    query = select_from(table, _columns(table, columns))
    conditions = asked.conditions(table)
    return query.where(*conditions) if conditions else query


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
    counts_matches: bool = False
    """Only a WINDOW block of its own reads a window that counts what the patterns in that block match."""


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
        windows = [w for w in dataset.windows if w.stream_variable is None and not _counts_matches(w)]
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
            found.append(NamedGraph(window.name, graph, window.stream_variable, stream, _counts_matches(window)))
        return found

    def answers(self, call: ServiceCall) -> Relation:
        """What a service has answered."""
        table = self.tables.services[call]
        columns = {Variable(name): self.statement.column_name(Variable(name)) for name in call.variables}
        names = list(columns.values())
        rows = select_from(
            table.name, [aliased(col(table.name, answer_column(p)), name) for p, name in enumerate(names)]
        )
        if table.changes:
            timed = rows.select(col(table.name, "starts"), col(table.name, "ends"))
            found = ActiveGraph(self.statement, self.tables)._numbered(timed, names)
        else:
            found = rows.select(*always())
        certain = frozenset(variable for variable in columns if variable.name in table.certain)
        return Relation(self.statement.add(found), columns, certain, holds_always=not table.changes)

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
                self.tables,
                [self.tables.graphs[graph] for graph in bound if graph not in self.tables.changing],
                [
                    *(self.tables.graphs[graph] for graph in bound if graph in self.tables.changing),
                    *(self.tables.changed[graph] for graph in bound if graph in self.tables.changed),
                ],
                [
                    (window, self.tables.streams[source])
                    for window in windows
                    for source in streams_of(window, self.tables)
                    if stream is None or source == stream
                ],
                _only_closing(self.dataset),
            )
        return self._known[key]


def _only_closing(dataset: Dataset) -> RangeWindow | None:
    reporting = [window for window in dataset.windows if window.report is not None]
    kinds = {window.window for window in reporting}
    (kind,) = kinds if len(kinds) == 1 else (None,)
    is_it = isinstance(kind, RangeWindow) and all(_reports_when_closing(window.report) for window in reporting)
    return kind if is_it and isinstance(kind, RangeWindow) else None


def _reports_when_closing(report: ast.Report | None) -> bool:
    closing = ast.Strategy("window-close")
    return report == closing or (isinstance(report, ast.AllOf) and closing in report.reports)


def _counts_matches(window: StreamWindow) -> bool:
    return isinstance(window.window, CountWindow) and window.window.matching


def streams_of(window: StreamWindow, tables: Tables) -> list[str]:
    """The streams that a window is over; one over every stream is over those from outside."""
    if window.stream is not None:
        return [window.stream]
    return [stream for stream in tables.streams if stream not in tables.given]


def reads(dataset: Dataset, stream: str, tables: Tables) -> bool:
    """Whether a window is over the stream."""
    return any(stream in streams_of(window, tables) for window in dataset.windows)
