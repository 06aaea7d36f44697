"""Grouping (SPARQL 1.1 §18.5): aggregates over intervals.

Rows of a group that hold at the same instants are one portion, aggregated once. COUNT, SUM and AVG are then swept: what
a portion adds where it begins is taken away where it ends, so a slide costs nothing. DISTINCT ones are, too, once the
intervals of equal values are merged. What cannot be taken away again, a least value or a sum of doubles, is put
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
    finished,
    is_swept,
    needs_distinct_rows,
    parts_of,
)
from penstock.relational.functions.calls import call
from penstock.relational.intervals import each_instant, each_instant_if, merge, running_sums
from penstock.relational.joining import as_text, side_by_side
from penstock.relational.relations import Relation, Statement, aliased, col, number, select_from


@dataclass(slots=True)
class _Portions:
    """Where the portions of some aggregates come from, how many rows each has, and their parts, by column."""

    source: str
    size: str
    parts: dict[str, Part] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Calculation:
    """An aggregate, and the columns that hold its parts and the number of its rows."""

    variable: Variable
    aggregate: Aggregate
    parts: Mapping[str, str]
    size: str


class Grouping:
    """The groups of `rows` by `keys`; without keys there is one, at every instant (`always`), even if it is empty.

    The arguments of aggregates are variables of the rows; `solution` are those that COUNT(DISTINCT *) looks at.
    """

    def __init__(
        self,
        statement: Statement,
        rows: Relation,
        keys: Sequence[Variable],
        solution: Sequence[Variable],
        always: Sequence[exp.Expr],
    ) -> None:
        self.statement = statement
        self.rows = rows
        self.solution = solution
        self.always = always
        self.keys = {key: statement.column_name(key) for key in keys}
        self._portions: dict[tuple[str, ...] | None, _Portions] = {}
        self._columns: dict[tuple[str, str, str], str] = {}

    def aggregated(self, aggregates: Sequence[tuple[Variable, Aggregate]]) -> Relation:
        all_swept = all(is_swept(aggregate) for _, aggregate in aggregates)
        if not aggregates or not all(needs_distinct_rows(aggregate) for _, aggregate in aggregates):
            self._portions_of(None)  # tells which groups there are
        calculations = [self._calculation(variable, aggregate) for variable, aggregate in aggregates]
        portions = self._united()
        query = self._swept(portions, calculations) if all_swept else self._spread(portions, calculations)
        columns = self.keys | {variable: self.statement.column_name(variable) for variable, _ in aggregates}
        certain = {key for key in self.keys if key in self.rows.certain}
        certain |= {variable for variable, aggregate in aggregates if aggregate.name == "COUNT"}
        return self.statement.relation(query, columns, certain)

    # Portions

    def _calculation(self, variable: Variable, aggregate: Aggregate) -> _Calculation:
        argument = aggregate.argument
        assert argument is None or isinstance(argument, Variable)
        values = self.solution if argument is None else [argument]
        portions = self._portions_of(
            tuple(self.rows.columns[v] for v in values if v in self.rows.columns)
            if needs_distinct_rows(aggregate)
            else None
        )
        names: dict[str, str] = {}
        if argument is not None:
            column = self.rows.columns.get(argument)
            term = as_text(exp.null()) if column is None else col(portions.source, column)
            for part_name, part in parts_of(aggregate, term).items():
                key = (portions.size, argument.name, part_name)
                names[part_name] = self._columns.setdefault(key, f"part{len(self._columns) + 1}")
                portions.parts[names[part_name]] = part
        return _Calculation(variable, aggregate, names, portions.size)

    def _portions_of(self, distinct: tuple[str, ...] | None) -> _Portions:
        """All rows, or those that are left when the intervals of equal values are merged."""
        if distinct not in self._portions:
            source = self.rows.name
            if distinct is not None:
                keys = [name for key, name in self.keys.items() if key in self.rows.columns]
                source = merge(self.statement, source, list(dict.fromkeys([*keys, *distinct])))
            self._portions[distinct] = _Portions(source, f"size{len(self._portions) + 1}")
        return self._portions[distinct]

    def _united(self) -> str:
        """The portions by key and interval, with NULL for parts that they do not have."""
        columns = [name for portions in self._portions.values() for name in (portions.size, *portions.parts)]
        queries: list[exp.Query] = []
        for portions in self._portions.values():
            own = {portions.size: exp.Count(this=exp.Star())} | {
                name: part.of_rows for name, part in portions.parts.items()
            }
            keys = self._keys_in(portions.source)
            bounds = [col(portions.source, "i"), col(portions.source, "j")]
            selected = [aliased(key, name) for key, name in zip(keys, self.keys.values(), strict=True)]
            selected += [aliased(own.get(name, exp.null()), name) for name in columns]
            grouped = [key.copy() for key in keys if isinstance(key, exp.Column)]
            query = select_from(portions.source, [*selected, *bounds])
            queries.append(query.group_by(*grouped, *(bound.copy() for bound in bounds)))
        if not self.keys:
            queries.append(exp.select(*(aliased(exp.null(), name) for name in columns), *self.always))
        return self.statement.add(side_by_side(queries))

    def _keys_in(self, source: str) -> list[exp.Expr]:
        return [
            col(source, name) if key in self.rows.columns else as_text(exp.null()) for key, name in self.keys.items()
        ]

    def _results(self, calculations: Sequence[_Calculation], found: Mapping[str, exp.Expr]) -> list[exp.Expr]:
        """The terms of the aggregates, given the values of all columns of the portions."""
        results: list[exp.Expr] = []
        for calculation in calculations:
            parts = {name: found[column] for name, column in calculation.parts.items()}
            term = finished(calculation.aggregate, parts, found[calculation.size])
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
        events = [self._edges(portions, swept, edge, sign) for edge, sign in (("i", 1), ("j", -1))]
        united = self.statement.add(side_by_side(events))
        levels = running_sums(self.statement, united, list(self.keys.values()), [*self._sizes, *swept])
        is_there: exp.Expr = exp.GT(this=col(levels, self._sizes[0]), expression=number(0))
        if not self.keys:
            is_there = exp.not_(col(levels, "j").is_(exp.null()))
        if self._columns_of(FLOATING):
            return self._with_floating(portions, levels, is_there, calculations)
        selected: list[exp.Expr] = [col(levels, name) for name in self.keys.values()]
        selected += self._results(calculations, self._found_in(levels))
        return select_from(levels, [*selected, col(levels, "i"), col(levels, "j")]).where(is_there)

    def _edges(self, portions: str, swept: Sequence[str], edge: str, sign: int) -> exp.Select:
        values: dict[str, exp.Expr] = {size: col(portions, size) for size in self._sizes}
        values |= {name: self._parts[name].manner.weight(col(portions, name)) for name in swept}
        selected: list[exp.Expr] = [col(portions, name) for name in self.keys.values()]
        selected += [aliased(v if sign > 0 else exp.Neg(this=v), name) for name, v in values.items()]
        return select_from(portions, [*selected, aliased(col(portions, edge), "i")])

    def _found_in(self, levels: str) -> dict[str, exp.Expr]:
        found: dict[str, exp.Expr] = {size: col(levels, size) for size in self._sizes}
        swept = {name: part for name, part in self._parts.items() if part.manner.is_swept}
        return found | {name: part.manner.of_weights(col(levels, name)) for name, part in swept.items()}

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
        found = self._found_in(pieces) | {name: col(sums, name) for name in floating}
        end = exp.Coalesce(this=col(pieces, "j"), expressions=[exp.Add(this=col(pieces, "i"), expression=number(1))])
        selected: list[exp.Expr] = [col(pieces, name) for name in self.keys.values()]
        selected += [*self._results(calculations, found), col(pieces, "i"), aliased(end, "j")]
        are_same = [_same(key in self.rows.certain, pieces, sums, name) for key, name in self.keys.items()]
        on = exp.and_(*are_same, _same(True, pieces, sums, "i"))
        return select_from(pieces, selected).join(exp.to_table(sums), on=on, join_type="left")

    def _pieces(self, levels: str, is_there: exp.Expr) -> str:
        """The levels, cut into instants (with an open end) where they have floating numbers."""
        kinds = [call("sparql_heaviest_kind", col(levels, name)) for name in self._columns_of(KIND)]
        has_floating = exp.or_(*(kind.isin(number(FLOAT), number(DOUBLE)) for kind in kinds))
        swept = [name for name, part in self._parts.items() if part.manner.is_swept]
        columns = [col(levels, name) for name in [*self.keys.values(), *self._sizes, *swept]]
        start, end = col(levels, "i"), col(levels, "j")
        bounds = [
            aliased(each_instant_if(has_floating, start, end), "i"),
            aliased(exp.case().when(exp.not_(has_floating.copy()), end.copy()), "j"),
        ]
        return self.statement.add(select_from(levels, [*columns, *bounds]).where(is_there))

    # By instants

    def _spread(self, portions: str, calculations: Sequence[_Calculation]) -> exp.Query:
        rows = self._at_instants(portions, [*self._sizes, *self._parts])
        found: dict[str, exp.Expr] = {size: SUM.together(col(rows, size)) for size in self._sizes}
        found |= {name: part.manner.together(col(rows, name)) for name, part in self._parts.items()}
        selected: list[exp.Expr] = [col(rows, name) for name in self.keys.values()]
        end = exp.Add(this=col(rows, "i"), expression=number(1))
        selected += [*self._results(calculations, found), col(rows, "i"), aliased(end, "j")]
        return select_from(rows, selected).group_by(*(col(rows, name) for name in [*self.keys.values(), "i"]))

    def _at_instants(self, portions: str, columns: Sequence[str], *, bound: Sequence[str] = ()) -> str:
        """A row per instant and portion; with `bound`, of those portions only in which one of these is."""
        instant = aliased(each_instant(col(portions, "i"), col(portions, "j")), "i")
        query = select_from(portions, [*(col(portions, name) for name in [*self.keys.values(), *columns]), instant])
        if bound:
            query = query.where(exp.or_(*(exp.not_(col(portions, name).is_(exp.null())) for name in bound)))
        return self.statement.add(query)


def _same(is_certain: bool, left: str, right: str, name: str) -> exp.Expr:
    equality = exp.EQ if is_certain else exp.NullSafeEQ
    return equality(this=col(left, name), expression=col(right, name))
