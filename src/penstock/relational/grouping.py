"""Grouping (SPARQL 1.1 §18.5): aggregates over intervals.

Rows of a group with the same interval form one portion, which is aggregated once. COUNT, SUM and AVG are then swept:
the value of a portion is added where it begins and subtracted where it ends, so a slide costs nothing. With DISTINCT
this works, too, once the intervals of equal values no longer overlap. Values that cannot be subtracted, such as a
minimum or a sum of doubles, are combined from the portions, for each stretch of time in which no portion of the group
begins or ends.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from sqlglot import exp

from penstock.algebra.expressions import Aggregate, Variable
from penstock.relational.blocks import BLOCK, blocks_around, cut_into_blocks
from penstock.relational.functions.aggregates import (
    DOUBLE,
    FLOAT,
    FLOATING,
    KIND,
    SUM,
    Combination,
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
    """The source of the portions of some aggregates, the number of rows of each, and their parts, by column."""

    source: str
    size: str
    arguments: dict[str, dict[str, Reading]] = field(default_factory=dict)
    """The columns that aggregates read, and for each the columns of the values read from it."""
    parts: dict[str, Part] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Calculation:
    """An aggregate, and the columns of its parts and of the number of its rows."""

    variable: Variable
    aggregate: Aggregate
    parts: Mapping[str, str]
    size: str


_GROUPS = (".groups",)
"""The portions that determine the groups, including empty groups."""


class Grouping:
    """The groups of `rows` by `keys`; without keys there is one, at every instant (`always`), even if it is empty.

    With `groups` there is a group for each row of that relation, which has the keys, even if it is empty.

    Keys and arguments of aggregates are variables of the rows; COUNT(DISTINCT *) counts the variables `solution`.
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
            self._portions_of(None)  # determines the groups
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
        """All rows; or for DISTINCT, each value once at an instant."""
        if distinct not in self._portions:
            source = self.rows.name
            if distinct is not None:
                source = once(
                    self.statement, source, list(dict.fromkeys([*self.keys.values(), *distinct])), has_many=True
                )
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
        """The values read from the arguments, as columns of the source."""
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
        """The terms of the aggregates; their parts are columns of `source`, except for those in `others`."""
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

    def _columns_of(self, combination: Combination) -> list[str]:
        return [name for name, part in self._parts.items() if part.combination is combination]

    # By sweeping

    def _swept(self, portions: str, calculations: Sequence[_Calculation]) -> exp.Query:
        swept = [name for name, part in self._parts.items() if part.combination.is_swept]
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
        """Each portion twice, at its begin and at its end, in one pass: the engine may compute a relation for each
        reader.
        """
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
        """The value that a portion adds where it begins."""
        values: dict[str, exp.Expr] = {size: col(portions, size) for size in self._sizes}
        return values | {name: self._parts[name].combination.weight(col(portions, name)) for name in swept}

    # Sums of floating numbers are computed again wherever a portion begins or ends

    def _with_floating(
        self, portions: str, levels: str, is_there: exp.Expr, calculations: Sequence[_Calculation]
    ) -> exp.Query:
        floating = self._columns_of(FLOATING)
        if self.statement.shape.is_distributed:
            return self._with_floating_by_instants(portions, levels, is_there, calculations)
        sums, levels = self._floating_sums(portions, floating), self._with_kinds(levels, is_there)
        selected: list[exp.Expr] = [col(levels, name) for name in self.keys.values()]
        selected += self._results(calculations, levels, **dict.fromkeys(floating, sums))
        selected += [col(levels, "i"), col(levels, "j")]
        on = exp.and_(*self._same_keys(levels, sums), _same(True, levels, sums, "i"))
        return select_from(levels, selected).join(exp.to_table(sums), on=on, join_type="left")

    def _floating_sums(self, portions: str, floating: Sequence[str]) -> str:
        keys = list(self.keys.values())
        stretches = self._stretches(portions)
        placed = self._placed(portions, stretches, floating)
        place = aliased(each_instant(col(placed, "i"), col(placed, "j")), "place")
        at_places = select_from(placed, [*(col(placed, name) for name in [*keys, *floating]), place])
        rows = self.statement.add(
            at_places.where(exp.or_(*(exp.not_(col(placed, name).is_(exp.null())) for name in floating)))
        )
        totals = [aliased(FLOATING.together(col(rows, name)), name) for name in floating]
        grouped = [col(rows, name) for name in [*keys, "place"]]
        summed = select_from(rows, [*grouped, *totals]).group_by(*(column.copy() for column in grouped))
        sums = self.statement.add(summed)
        query = select_from(sums, [*(col(sums, name) for name in [*keys, *floating]), col(stretches, "i")])
        on = exp.and_(*self._same_keys(sums, stretches), _same(True, sums, stretches, "place"))
        return self.statement.add(query.join(exp.to_table(stretches), on=on))

    def _with_kinds(self, levels: str, is_there: exp.Expr) -> str:
        columns: list[exp.Expr] = [col(levels, name) for name in [*self.keys.values(), *self._sizes]]
        columns += [col(levels, name) for name in self._columns_of(SUM)]
        columns += [aliased(KIND.of_weights(col(levels, name)), name) for name in self._columns_of(KIND)]
        return self.statement.add(select_from(levels, [*columns, col(levels, "i"), col(levels, "j")]).where(is_there))

    # By stretches

    def _spread(self, portions: str, calculations: Sequence[_Calculation]) -> exp.Query:
        if self._are_groups:
            groups, end = portions, _behind(portions)
        elif self._are_snapshots or self.statement.shape.is_distributed:
            rows = self._at_instants(portions, [*self._sizes, *self._parts])
            groups = self._together(rows, [*self.keys.values(), "i"])
            end = _behind(groups)
        else:
            groups = self._put_together(portions)
            end = col(groups, "j")
        selected: list[exp.Expr] = [col(groups, name) for name in self.keys.values()]
        selected += self._results(calculations, groups)
        return select_from(groups, [*selected, col(groups, "i"), aliased(end, "j")])

    @property
    def _are_groups(self) -> bool:
        """Whether a portion is a whole group: within a snapshot nothing begins or ends."""
        return self._are_snapshots and len(self._portions) == 1 and bool(self.keys)

    @property
    def _are_snapshots(self) -> bool:
        """Whether each portion holds at one instant only."""
        return self.statement.shape.is_snapshot or self._are_momentary

    @property
    def _are_momentary(self) -> bool:
        """Whether every group holds at one instant only."""
        return bool(self.keys) and self.rows.is_momentary and (self.groups is None or self.groups.is_momentary)

    def _together(self, rows: str, keys: Sequence[str]) -> str:
        """Combines the parts of rows with equal keys."""
        grouped = [col(rows, name) for name in keys]
        together = [aliased(SUM.together(col(rows, size)), size) for size in self._sizes]
        together += [aliased(part.combination.together(col(rows, name)), name) for name, part in self._parts.items()]
        return self.statement.add(
            select_from(rows, [*grouped, *together]).group_by(*(column.copy() for column in grouped))
        )

    def _put_together(self, portions: str) -> str:
        """The groups between each begin or end of a portion and the next, with the combined parts of their portions.

        Portions are combined in blocks first, except for floating numbers, whose sum depends on the order.
        """
        keys, parts = list(self.keys.values()), [*self._sizes, *self._parts]
        stretches = self._stretches(portions)
        placed = self._placed(portions, stretches, parts)
        if self._columns_of(FLOATING):
            place = aliased(each_instant(col(placed, "i"), col(placed, "j")), "place")
            at_places = select_from(placed, [*(col(placed, name) for name in [*keys, *parts]), place])
            found = self._together(self.statement.add(at_places), [*keys, "place"])
        else:
            blocks = self._together(cut_into_blocks(self.statement, placed, [*keys, *parts]), [*keys, *BLOCK])
            most = exp.select(exp.Max(this=col(blocks, "width"))).from_(blocks).subquery()
            around = blocks_around(self.statement, stretches, [*keys, "place"], "place", most)
            on = exp.and_(*self._same_keys(around, blocks), *(_same(True, around, blocks, name) for name in BLOCK))
            selected = [*(col(around, name) for name in [*keys, "place"]), *(col(blocks, name) for name in parts)]
            found = self._together(
                self.statement.add(select_from(around, selected).join(exp.to_table(blocks), on=on)), [*keys, "place"]
            )
        bounds = [col(stretches, "i"), col(stretches, "j")]
        query = select_from(found, [*(col(found, name) for name in [*keys, *parts]), *bounds])
        on = exp.and_(*self._same_keys(found, stretches), _same(True, found, stretches, "place"))
        return self.statement.add(query.join(exp.to_table(stretches), on=on))

    def _stretches(self, portions: str) -> str:
        """The stretches `[i, j)` of each group in which no portion begins or ends, numbered by `place`."""
        keys = list(self.keys.values())
        edges = [
            select_from(portions, [*(col(portions, name) for name in keys), aliased(col(portions, edge), "i")])
            for edge in ("i", "j")
        ]
        cuts = self.statement.add(exp.union(*edges, distinct=True))
        order = exp.Order(expressions=[exp.Ordered(this=col(cuts, "i"))])
        partition = [col(cuts, name) for name in keys]
        place = exp.Window(this=exp.RowNumber(), partition_by=partition, order=order)
        following = exp.Window(
            this=exp.Lead(this=col(cuts, "i"), offset=number(1)),
            partition_by=[column.copy() for column in partition],
            order=order.copy(),
        )
        columns = [*(col(cuts, name) for name in keys), col(cuts, "i")]
        return self.statement.add(
            select_from(cuts, [*columns, aliased(following, "j"), aliased(place, "place")]), materialized=True
        )

    def _placed(self, portions: str, stretches: str, parts: Sequence[str]) -> str:
        """The portions, with the numbers of the stretches in which they begin and after which they end."""
        selected = [col(portions, name) for name in [*self.keys.values(), *parts]]
        bounds = [aliased(col(alias, "place"), name) for alias, name in (("begins", "i"), ("ends", "j"))]
        query = select_from(portions, [*selected, *bounds])
        for alias, edge in (("begins", "i"), ("ends", "j")):
            is_there = exp.and_(*self._same_keys(portions, alias), col(portions, edge).eq(col(alias, "i")))
            query = query.join(exp.to_table(stretches, alias=alias), on=is_there)
        return self.statement.add(query)

    # By instants, where the engine computes a relation anew for each place that reads it, as Spark does: stretches are
    # read in several places, and so would be everything that they are made of

    def _at_instants(self, portions: str, columns: Sequence[str], *, bound: Sequence[str] = ()) -> str:
        """A row per instant and portion; with `bound`, only portions in which one of these columns is not NULL."""
        if self._are_snapshots:
            return portions
        instant = aliased(each_instant(col(portions, "i"), col(portions, "j")), "i")
        query = select_from(portions, [*(col(portions, name) for name in [*self.keys.values(), *columns]), instant])
        if bound:
            query = query.where(exp.or_(*(exp.not_(col(portions, name).is_(exp.null())) for name in bound)))
        return self.statement.add(query)

    def _with_floating_by_instants(
        self, portions: str, levels: str, is_there: exp.Expr, calculations: Sequence[_Calculation]
    ) -> exp.Query:
        floating = self._columns_of(FLOATING)
        at_instants = self._at_instants(portions, floating, bound=floating)
        instant = [*self.keys.values(), "i"]
        totals = [aliased(FLOATING.together(col(at_instants, name)), name) for name in floating]
        summed = select_from(at_instants, [*(col(at_instants, name) for name in instant), *totals])
        sums = self.statement.add(summed.group_by(*(col(at_instants, name) for name in instant)))
        pieces = self._pieces(levels, is_there)
        end = exp.Coalesce(this=col(pieces, "j"), expressions=[_behind(pieces)])
        selected: list[exp.Expr] = [col(pieces, name) for name in self.keys.values()]
        selected += self._results(calculations, pieces, **dict.fromkeys(floating, sums))
        selected += [col(pieces, "i"), aliased(end, "j")]
        on = exp.and_(*self._same_keys(pieces, sums), _same(True, pieces, sums, "i"))
        return select_from(pieces, selected).join(exp.to_table(sums), on=on, join_type="left")

    def _pieces(self, levels: str, is_there: exp.Expr) -> str:
        """The levels, cut into instants (with an open end) if they have floating numbers."""
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

    def _same_keys(self, left: str, right: str) -> list[exp.Expr]:
        return [_same(key in self.rows.certain, left, right, name) for key, name in self.keys.items()]


def _nothing(part: Part | None) -> exp.Expr:
    """NULL for a part; sizes (which are not parts) and other counts are numbers, and DuckDB needs their type."""
    is_count = part is None or isinstance(part.of_rows, (exp.Count, exp.Sub))
    return exp.cast(exp.null(), "bigint") if is_count else exp.null()


def _behind(groups: str) -> exp.Expr:
    return exp.Add(this=col(groups, "i"), expression=number(1))


def _same(is_certain: bool, left: str, right: str, name: str) -> exp.Expr:
    equality = exp.EQ if is_certain else exp.NullSafeEQ
    return equality(this=col(left, name), expression=col(right, name))
