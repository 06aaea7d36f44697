"""Grouping (SPARQL 1.1 §18.5): aggregates over intervals.

Rows of a group that hold at the same instants are one portion, aggregated once. COUNT, SUM and AVG are then swept: what
a portion adds where it begins is taken away where it ends, so a slide costs nothing. DISTINCT ones are, too, once the
intervals of equal values no longer overlap. What cannot be taken away again, a least value or a sum of doubles, is put
together from the portions instant by instant.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from sqlglot import exp

from penstock.algebra.expressions import Aggregate, Variable
from penstock.relational.functions.aggregates import (
    DOUBLE,
    FLOAT,
    FLOATING,
    KIND,
    SUM,
    Manner,
    Part,
    Reading,
    finished,
    is_swept,
    needs_distinct_rows,
    parts_of,
    readings_of,
)
from penstock.relational.intervals import each_instant, each_instant_if, once, partitioned, running_sums
from penstock.relational.relations import Relation, Statement, aliased, col, number, select_from, united


@dataclass(slots=True)
class _Portions:
    """Where the portions of some aggregates come from, how many rows each has, and their parts, by column."""

    source: str
    size: str
    arguments: dict[str, dict[str, Reading]] = field(default_factory=dict)
    """The columns that aggregates look at, and what is read from each, by the names of the columns for it."""
    parts: dict[str, Part] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Calculation:
    """An aggregate, and the columns that hold its parts and the number of its rows."""

    variable: Variable
    aggregate: Aggregate
    parts: Mapping[str, str]
    size: str


_GROUPS = (".groups",)
"""The portions that tell which groups there are, empty ones included."""


class Grouping:
    """The groups of `rows` by `keys`; without keys there is one, at every instant (`always`), even if it is empty.

    With `groups` there is one for each row of that relation, which has the keys, even if it is empty.

    Keys and arguments of aggregates are variables of the rows; `solution` are those that COUNT(DISTINCT *) looks at.
    """

    def __init__(
        self,
        statement: Statement,
        rows: Relation,
        keys: Sequence[Variable],
        solution: Sequence[Variable],
        always: Sequence[exp.Expr],
        groups: Relation | None = None,
    ) -> None:
        self.statement = statement
        self.rows = rows
        self.solution = solution
        self.always = always
        self.groups = groups
        self.keys = {key: statement.column_name(key) for key in keys}
        self._portions: dict[tuple[str, ...] | None, _Portions] = {}
        self._columns: dict[tuple[str, str, str], str] = {}

    def aggregated(self, aggregates: Sequence[tuple[Variable, Aggregate]]) -> Relation:
        sweeps = not self._are_snapshots and all(is_swept(aggregate) for _, aggregate in aggregates)
        if not aggregates or not all(needs_distinct_rows(aggregate) for _, aggregate in aggregates):
            self._portions_of(None)  # tells which groups there are
        if self.groups is not None:
            self._portions[_GROUPS] = _Portions(self.groups.name, f"size{len(self._portions) + 1}")
        calculations = [self._calculation(variable, aggregate) for variable, aggregate in aggregates]
        portions = self._united()
        query = self._swept(portions, calculations) if sweeps else self._spread(portions, calculations)
        columns = self.keys | {variable: self.statement.column_name(variable) for variable, _ in aggregates}
        certain = {key for key in self.keys if key in self.rows.certain}
        certain |= {variable for variable, aggregate in aggregates if aggregate.name == "COUNT"}
        return self.statement.relation(query, columns, certain, is_momentary=self._are_momentary)

    # Portions

    def _calculation(self, variable: Variable, aggregate: Aggregate) -> _Calculation:
        argument = aggregate.argument
        assert argument is None or isinstance(argument, Variable)
        values = self.solution if argument is None else [argument]
        portions = self._portions_of(
            tuple(self.rows.columns[v] for v in values) if needs_distinct_rows(aggregate) else None
        )
        names: dict[str, str] = {}
        if argument is not None:
            column = self.rows.columns[argument]
            readings = {name: f"{column}_{name}" for name in readings_of(aggregate)}
            portions.arguments.setdefault(column, {}).update(
                {readings[name]: reading for name, reading in readings_of(aggregate).items()}
            )
            read = {name: exp.column(own) for name, own in readings.items()}
            for part_name, part in parts_of(aggregate, exp.column(column), read).items():
                key = (portions.size, column, part_name)
                names[part_name] = self._columns.setdefault(key, f"part{len(self._columns) + 1}")
                portions.parts[names[part_name]] = part
        return _Calculation(variable, aggregate, names, portions.size)

    def _portions_of(self, distinct: tuple[str, ...] | None) -> _Portions:
        """All rows, or each value once at an instant."""
        if distinct not in self._portions:
            source = self.rows.name
            if distinct is not None:
                source = once(self.statement, source, list(dict.fromkeys([*self.keys.values(), *distinct])))
            self._portions[distinct] = _Portions(source, f"size{len(self._portions) + 1}")
        return self._portions[distinct]

    def _united(self) -> str:
        """The portions by key and interval, with NULL for parts that they do not have."""
        columns = [name for portions in self._portions.values() for name in (portions.size, *portions.parts)]
        parts = {name: part for portions in self._portions.values() for name, part in portions.parts.items()}
        nothing = {name: _nothing(parts.get(name)) for name in columns}
        queries: list[exp.Query] = []
        for portions in self._portions.values():
            self._read(portions)
            own = {portions.size: exp.Count(this=exp.Star())} | {
                name: part.of_rows for name, part in portions.parts.items()
            }
            grouped = [col(portions.source, name) for name in [*self.keys.values(), "i", "j"]]
            selected = [aliased(own.get(name, nothing[name].copy()), name) for name in columns]
            query = select_from(portions.source, [*grouped, *selected])
            queries.append(query.group_by(*(column.copy() for column in grouped)))
        if not self.keys:
            queries.append(exp.select(*self.always, *(aliased(nothing[name].copy(), name) for name in columns)))
        return self.statement.add(united(queries))

    def _read(self, portions: _Portions) -> None:
        """What is read from the arguments, as columns of the source."""
        readings = [
            aliased(reading(col(portions.source, column)), name)
            for column, read in portions.arguments.items()
            for name, reading in read.items()
        ]
        if not readings:
            return
        kept = dict.fromkeys([*self.keys.values(), *portions.arguments, "i", "j"])
        query = select_from(portions.source, [*(col(portions.source, name) for name in kept), *readings])
        portions.source = self.statement.add(query)

    def _results(self, calculations: Sequence[_Calculation], source: str, **others: str) -> list[exp.Expr]:
        """The terms of the aggregates; their parts are columns of `source`, but for those that stand in `others`."""
        results: list[exp.Expr] = []
        for calculation in calculations:
            parts = {name: col(others.get(column, source), column) for name, column in calculation.parts.items()}
            term = finished(calculation.aggregate, parts, col(source, calculation.size))
            results.append(aliased(term, self.statement.column_name(calculation.variable)))
        return results

    @property
    def _sizes(self) -> list[str]:
        return [portions.size for portions in self._portions.values()]

    @property
    def _parts(self) -> dict[str, Part]:
        return {name: part for portions in self._portions.values() for name, part in portions.parts.items()}

    def _columns_of(self, manner: Manner) -> list[str]:
        return [name for name, part in self._parts.items() if part.manner is manner]

    # By sweeping

    def _swept(self, portions: str, calculations: Sequence[_Calculation]) -> exp.Query:
        swept = [name for name, part in self._parts.items() if part.manner.is_swept]
        if self.statement.shape.is_distributed:
            edges = self._edges_at_once(portions, swept)
        else:
            events = [self._edges(portions, swept, edge, sign) for edge, sign in (("i", 1), ("j", -1))]
            edges = self.statement.add(united(events))
        levels = running_sums(self.statement, edges, list(self.keys.values()), [*self._sizes, *swept])
        tells = self._portions.get(_GROUPS, next(iter(self._portions.values())))
        is_there: exp.Expr = exp.GT(this=col(levels, tells.size), expression=number(0))
        if not self.keys:
            is_there = exp.not_(col(levels, "j").is_(exp.null()))
        if self._columns_of(FLOATING):
            return self._with_floating(portions, levels, is_there, calculations)
        selected: list[exp.Expr] = [col(levels, name) for name in self.keys.values()]
        selected += self._results(calculations, levels)
        return select_from(levels, [*selected, col(levels, "i"), col(levels, "j")]).where(is_there)

    def _edges(self, portions: str, swept: Sequence[str], edge: str, sign: int) -> exp.Select:
        values = self._weights(portions, swept)
        selected: list[exp.Expr] = [col(portions, name) for name in self.keys.values()]
        selected += [aliased(v if sign > 0 else exp.Neg(this=v), name) for name, v in values.items()]
        return select_from(portions, [*selected, aliased(col(portions, edge), "i")])

    def _edges_at_once(self, portions: str, swept: Sequence[str]) -> str:
        """Each portion twice, where it begins and where it ends: what is read twice may be computed twice."""
        signs = exp.Explode(this=exp.Array(expressions=[number(1), exp.Neg(this=number(1))]))
        kept = [col(portions, name) for name in [*self.keys.values(), "i", "j"]]
        weights = [aliased(value, name) for name, value in self._weights(portions, swept).items()]
        both = self.statement.add(select_from(portions, [*kept, *weights, aliased(signs, "sign")]))
        sign = col(both, "sign")
        edge = exp.case().when(exp.GT(this=sign, expression=number(0)), col(both, "i")).else_(col(both, "j"))
        values = [
            aliased(exp.Mul(this=col(both, name), expression=sign.copy()), name) for name in (*self._sizes, *swept)
        ]
        selected = [*(col(both, name) for name in self.keys.values()), *values, aliased(edge, "i")]
        edges = select_from(both, selected)
        return self.statement.add(partitioned(edges, list(self.keys.values())) if self.keys else edges)

    def _weights(self, portions: str, swept: Sequence[str]) -> dict[str, exp.Expr]:
        """What a portion adds where it begins."""
        values: dict[str, exp.Expr] = {size: col(portions, size) for size in self._sizes}
        return values | {name: self._parts[name].manner.weight(col(portions, name)) for name in swept}

    # Floating numbers are summed up anew at each instant that has some

    def _with_floating(
        self, portions: str, levels: str, is_there: exp.Expr, calculations: Sequence[_Calculation]
    ) -> exp.Query:
        floating = self._columns_of(FLOATING)
        at_instants = self._at_instants(portions, floating, bound=floating)
        instant = [*self.keys.values(), "i"]
        totals = [aliased(FLOATING.together(col(at_instants, name)), name) for name in floating]
        summed = select_from(at_instants, [*(col(at_instants, name) for name in instant), *totals])
        sums = self.statement.add(summed.group_by(*(col(at_instants, name) for name in instant)))
        pieces = self._pieces(levels, is_there)
        end = exp.Coalesce(this=col(pieces, "j"), expressions=[exp.Add(this=col(pieces, "i"), expression=number(1))])
        selected: list[exp.Expr] = [col(pieces, name) for name in self.keys.values()]
        selected += self._results(calculations, pieces, **dict.fromkeys(floating, sums))
        selected += [col(pieces, "i"), aliased(end, "j")]
        are_same = [_same(key in self.rows.certain, pieces, sums, name) for key, name in self.keys.items()]
        on = exp.and_(*are_same, _same(True, pieces, sums, "i"))
        return select_from(pieces, selected).join(exp.to_table(sums), on=on, join_type="left")

    def _pieces(self, levels: str, is_there: exp.Expr) -> str:
        """The levels, cut into instants (with an open end) where they have floating numbers."""
        kinds = {name: KIND.of_weights(col(levels, name)) for name in self._columns_of(KIND)}
        has_floating = exp.or_(*(kind.copy().isin(number(FLOAT), number(DOUBLE)) for kind in kinds.values()))
        columns: list[exp.Expr] = [col(levels, name) for name in [*self.keys.values(), *self._sizes]]
        columns += [col(levels, name) for name in self._columns_of(SUM)]
        columns += [aliased(kind, name) for name, kind in kinds.items()]
        start, end = col(levels, "i"), col(levels, "j")
        bounds = [
            aliased(each_instant_if(has_floating, start, end), "i"),
            aliased(exp.case().when(exp.not_(has_floating.copy()), end.copy()), "j"),
        ]
        return self.statement.add(select_from(levels, [*columns, *bounds]).where(is_there))

    # By instants

    def _spread(self, portions: str, calculations: Sequence[_Calculation]) -> exp.Query:
        groups = portions if self._are_groups else self._put_together(portions)
        end = exp.Add(this=col(groups, "i"), expression=number(1))
        selected: list[exp.Expr] = [col(groups, name) for name in self.keys.values()]
        selected += self._results(calculations, groups)
        return select_from(groups, [*selected, col(groups, "i"), aliased(end, "j")])

    @property
    def _are_groups(self) -> bool:
        """Whether a portion is a whole group: nothing comes or goes within a snapshot."""
        return self._are_snapshots and len(self._portions) == 1 and bool(self.keys)

    @property
    def _are_snapshots(self) -> bool:
        """Whether no portion holds at several instants."""
        return self.statement.shape.is_snapshot or self._are_momentary

    @property
    def _are_momentary(self) -> bool:
        """Whether every group is one of one instant."""
        return bool(self.keys) and self.rows.is_momentary and (self.groups is None or self.groups.is_momentary)

    def _put_together(self, portions: str) -> str:
        rows = self._at_instants(portions, [*self._sizes, *self._parts])
        instant = [col(rows, name) for name in [*self.keys.values(), "i"]]
        together = [aliased(SUM.together(col(rows, size)), size) for size in self._sizes]
        together += [aliased(part.manner.together(col(rows, name)), name) for name, part in self._parts.items()]
        return self.statement.add(
            select_from(rows, [*instant, *together]).group_by(*(column.copy() for column in instant))
        )

    def _at_instants(self, portions: str, columns: Sequence[str], *, bound: Sequence[str] = ()) -> str:
        """A row per instant and portion; with `bound`, of those portions only in which one of these is."""
        if self._are_snapshots:
            return portions
        instant = aliased(each_instant(col(portions, "i"), col(portions, "j")), "i")
        query = select_from(portions, [*(col(portions, name) for name in [*self.keys.values(), *columns]), instant])
        if bound:
            query = query.where(exp.or_(*(exp.not_(col(portions, name).is_(exp.null())) for name in bound)))
        return self.statement.add(query)


def _nothing(part: Part | None) -> exp.Expr:
    """NULL for a part; sizes, which are no parts, and other counts are numbers, and DuckDB wants to hear it."""
    is_count = part is None or isinstance(part.of_rows, (exp.Count, exp.Sub))
    return exp.cast(exp.null(), "bigint") if is_count else exp.null()


def _same(is_certain: bool, left: str, right: str, name: str) -> exp.Expr:
    equality = exp.EQ if is_certain else exp.NullSafeEQ
    return equality(this=col(left, name), expression=col(right, name))
