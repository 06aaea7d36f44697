"""Active graphs: the triples that patterns are matched against, as relations over intervals (semantics.md §3 and §4).

Each triple pattern reads the tables itself, so that the engine skips rows that do not match.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from sqlglot import exp

from penstock.algebra.model import StreamWindow
from penstock.algebra.windows import CountWindow, RangeWindow
from penstock.relational.instants import always, numbered, numbered_by_closing
from penstock.relational.intervals import once, spread
from penstock.relational.matching import TRIPLE, TripleConditions
from penstock.relational.relations import Statement, aliased, col, number, select_from, united
from penstock.relational.tables import Tables
from penstock.relational.timestamps import as_term
from penstock.relational.windows import holds_at_first, rows_at_first, window_rows


@dataclass(slots=True, eq=False)
class ActiveGraph:
    """The input of triple patterns: static graphs and windows over streams, merged."""

    statement: Statement
    tables: Tables
    static: Sequence[str] = ()
    changing: Sequence[str] = ()
    windows: Sequence[tuple[StreamWindow, str]] = ()
    closing: RangeWindow | None = None
    """The window whose closing instants are all evaluation instants of the query, if there is one."""
    _scans: dict[object, tuple[str, Mapping[str, str]]] = field(default_factory=dict)

    def scan(self, columns: Mapping[str, str], asked: TripleConditions) -> str:
        """The relation of the requested rows; `columns` maps s, p and o to names, as far as needed.

        An equal request reads the same relation again, under a new name.
        """
        matching = self._with(asked.predicate)
        self.statement.stream_scans += bool(matching.windows)
        key = asked, tuple(columns)
        if key not in self._scans:
            self._scans[key] = matching._scan(columns, asked), columns
            return self._scans[key][0]
        name, known = self._scans[key]
        return self.statement.renamed(name, {columns[part]: known[part] for part in columns})

    def select_static(self, columns: Mapping[str, str], asked: TripleConditions) -> exp.Select | None:
        """The rows of the static graph, without intervals, if there is one graph besides streams or changes."""
        matching = self._with(asked.predicate)
        if len(matching.static) != 1 or not (matching.windows or matching.changing):
            return None
        return _select(matching.static[0], columns, asked)

    def scan_with(self, columns: Mapping[str, str], asked: TripleConditions, static: exp.Select) -> str:
        """`scan`, with this relation in place of the static graphs."""
        matching = self._with(asked.predicate)
        self.statement.stream_scans += bool(matching.windows)
        return matching._scan(columns, asked, static)

    @property
    def counts_matches(self) -> bool:
        """Whether a window counts the matches of a pattern."""
        return any(counts_matches(window) for window, _ in self.windows)

    def holds_always(self, asked: TripleConditions) -> bool:
        """Whether all rows hold at every instant."""
        matching = self._with(asked.predicate)
        return not matching.windows and not matching.changing

    def is_static_for(self, asked: TripleConditions) -> bool:
        """Whether all rows are from static graphs, which may have such rows."""
        matching = self._with(asked.predicate)
        return bool(matching.static) and not matching.windows and not matching.changing

    def has_beside_windows(self, asked: TripleConditions) -> bool:
        """Whether there may be rows without streams."""
        matching = self._with(asked.predicate)
        return bool(matching.static or matching.changing)

    def is_momentary(self, asked: TripleConditions) -> bool:
        """Whether each row holds at one instant only: its window closes then, and the next one begins later."""
        matching = self._with(asked.predicate)
        return bool(matching.windows) and not matching.static and matching._is_tumbling and self._are_all_closing

    @property
    def _are_all_closing(self) -> bool:
        return all(window.window == self.closing for window, _ in self.windows)

    def _with(self, predicate: str | None) -> ActiveGraph:
        """Drops the tables that have no triple with this predicate."""
        return replace(
            self,
            _scans={},
            static=[table for table in self.static if self.tables.may_match(table, predicate)],
            changing=[table for table in self.changing if self.tables.may_match(table, predicate)],
            windows=[entry for entry in self.windows if self.tables.may_match(entry[1], predicate)],
        )

    def _scan(self, columns: Mapping[str, str], asked: TripleConditions, static: exp.Select | None = None) -> str:
        names = list(columns.values())
        parts: list[exp.Query] = []
        is_snapshot = self.statement.shape.is_snapshot
        if self.static:
            parts.append(self._static(columns, asked) if static is None else static)
        changing, shown = self._changing(columns, asked), self._shown(columns, asked)
        once = changing if self._is_bag else [*changing, *shown]
        if once:
            parts += self._each_once(united(once), names, parts[0] if parts else None)
        if self._is_bag:
            parts.append(united(shown) if is_snapshot else numbered(self.statement, united(shown), names))
        if not parts:
            nothing = [aliased(exp.cast(exp.null(), "text"), name) for name in names]
            parts.append(exp.select(*nothing, *always()).where(exp.false()))
        return self.statement.add(united(parts))

    def _static(self, columns: Mapping[str, str], asked: TripleConditions) -> exp.Select:
        """A graph contains each triple once; a triple in several graphs counts once, too."""
        rows = [_select(table, columns, asked) for table in self.static]
        if len(rows) == 1:
            return rows[0].select(*always())
        if not columns:  # SQL selects something
            rows = [row.select(aliased(number(1), "there")) for row in rows]
        merged = united(rows)
        merged.set("distinct", True)
        kept = [col("merged", name) for name in columns.values()]
        return exp.select(*kept, *always()).from_(merged.subquery("merged"))

    def _changing(self, columns: Mapping[str, str], asked: TripleConditions) -> list[exp.Query]:
        """Rows of changing graphs, which are sets in any merge with windows, with their intervals `[starts, ends)`; of
        a snapshot those that are there.
        """
        rows: list[exp.Query] = []
        for table in self.changing:
            query, bounds = _select(table, columns, asked), (col(table, "starts"), col(table, "ends"))
            is_snapshot = self.statement.shape.is_snapshot
            rows.append(
                query.select(*always()).where(*holds_at_first(*bounds)) if is_snapshot else query.select(*bounds)
            )
        return rows

    def _shown(self, columns: Mapping[str, str], asked: TripleConditions) -> list[exp.Query]:
        """Rows of windows, with their intervals; of a snapshot those that are there."""
        rows: list[exp.Query] = []
        for window, table in self.windows:
            found, conditions = _columns(table, columns), asked.conditions_on_stream(table)
            if self.statement.shape.is_snapshot:
                rows.append(rows_at_first(window, table, [*found, *always()], conditions))
            else:
                is_bounded = not self.statement.shape.is_distributed
                rows.append(window_rows(window, table, found, conditions, within_slice=is_bounded))
        return rows

    def _each_once(self, moving: exp.Query, names: list[str], static: exp.Query | None) -> list[exp.Query]:
        """A set: rows that are static anyway are dropped, and rows that overlap in time count once.

        Few triples occur again. In many rows these are found by hashes, so that only they are sorted.
        """
        is_snapshot = self.statement.shape.is_snapshot
        if static is not None:
            moving = _without_equal(moving, static, names, ("i", "j") if is_snapshot else ("starts", "ends"))
        if is_snapshot:
            kept = [col("moving", name) for name in names or ("i", "j")]
            different = exp.select(*kept).from_(moving.subquery("moving", copy=False), copy=False).distinct(copy=False)
            if not names:
                return [different]
            found = exp.select(*(col("different", name) for name in names), *always())
            return [found.from_(different.subquery("different", copy=False), copy=False)]
        if self._is_tumbling:
            return [self._once_per_window(moving, names)]
        if not names or not self.statement.shape.is_large:
            return [self._once(moving, names)]
        rows = numbered(self.statement, moving, names).subquery("numbered")
        kept = [col("numbered", name) for name in (*names, "i", "j")]
        key = aliased(exp.func("hash", *(col("numbered", name) for name in names)), "key")
        hashed = self.statement.add(exp.select(*kept, key).from_(rows), materialized=True)
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
        """Whether overlapping rows end together: there is one window, whose contents do not overlap."""
        kinds = [window.window for window, _ in self.windows]
        return not self.changing and all(
            isinstance(kind, RangeWindow) and kind.step >= kind.width and kind == kinds[0] for kind in kinds
        )

    def _once_per_window(self, rows: exp.Query, names: list[str]) -> exp.Query:
        if self._are_all_closing and self.statement.shape.is_regular and not self.static:
            return numbered_by_closing(self.statement, rows, names)
        name = self.statement.add(numbered(self.statement, rows, names))
        columns = [col(name, column) for column in (*names, "j")]
        first = aliased(exp.Min(this=col(name, "i")), "i")
        found = select_from(name, [*columns[:-1], first, columns[-1]])
        return found.group_by(*(column.copy() for column in columns))

    def _once(self, rows: exp.Query, names: list[str]) -> exp.Query:
        disjoint = once(self.statement, self.statement.add(numbered(self.statement, rows, names)), names)
        return select_from(disjoint, [col(disjoint, name) for name in (*names, "i", "j")])

    def timed_scan(self, columns: Mapping[str, str], asked: TripleConditions, times: Mapping[str | None, str]) -> str:
        """`scan`, with the timestamps of the triples: in any stream (None), and in streams by their names.

        In a set, each triple is there once at each instant, with its greatest timestamp at that instant.
        """
        self.statement.stream_scans += len(self.windows)
        names = list(columns.values())
        parts: list[exp.Query] = []
        for table in (*self.static, *self.changing):
            bounds = always() if table in self.static else [col(table, "starts"), col(table, "ends")]
            nothing = [aliased(exp.cast(exp.null(), "bigint"), name) for name in times.values()]
            rows = _select(table, columns, asked).select(*nothing, *bounds)
            parts.append(rows if table in self.static else numbered(self.statement, rows, [*names, *times.values()]))
        for window, table in self.windows:
            iri = next(iri for iri, name in self.tables.streams.items() if name == table)
            stamps = [
                aliased(col(table, "ts") if stream in (None, iri) else exp.cast(exp.null(), "bigint"), name)
                for stream, name in times.items()
            ]
            rows = window_rows(window, table, [*_columns(table, columns), *stamps], asked.conditions_on_stream(table))
            parts.append(numbered(self.statement, rows, [*names, *times.values()]))
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

    def triples(self, asked: TripleConditions | None = None) -> str:
        """The whole graph, or the requested part of it, as a relation `(s, p, o, i, j)`."""
        return self.scan({part: part for part in TRIPLE}, asked or TripleConditions())

    def names(self, column: str, asked: TripleConditions) -> str:
        """The names of a window's elements as a relation, without duplicates at an instant."""
        found = self.scan({"g": column}, asked)
        return once(self.statement, found, [column]) if self._is_bag else found

    @property
    def _is_bag(self) -> bool:
        """A merge of windows is a set, unless one of them is a bag."""
        return any(window.duplicates == "bag" for window, _ in self.windows)


def counts_matches(window: StreamWindow) -> bool:
    return isinstance(window.window, CountWindow) and window.window.matching


def _without_equal(rows: exp.Query, others: exp.Query, names: list[str], bounds: tuple[str, str]) -> exp.Query:
    equal: list[exp.Expr] = [col("rows", name).eq(col("others", name)) for name in names]
    kept = [col("rows", name) for name in (*names, *bounds)]
    query = exp.select(*kept).from_(rows.subquery("rows"))
    return query.join(others.copy().subquery("others"), on=exp.and_(*equal) if equal else exp.true(), join_type="anti")


def _columns(table: str, columns: Mapping[str, str]) -> list[exp.Expr]:
    return [aliased(col(table, part), name) for part, name in columns.items()]


def _select(table: str, columns: Mapping[str, str], asked: TripleConditions) -> exp.Select:
    query = select_from(table, _columns(table, columns))
    conditions = asked.conditions(table)
    return query.where(*conditions) if conditions else query
