"""Solution modifiers (SPARQL 1.1 §18.2.5) over intervals.

Projection and DISTINCT keep intervals. The first solutions of an order differ at each instant, so LIMIT and OFFSET take
a snapshot. The names of columns to order by include the direction: `ascending1`, `descending2`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from penstock.algebra.expressions import Exists, Expression, Variable, parts_of
from penstock.algebra.operators import Distinct, Operator, OrderBy, Project, Reduced, Slice
from penstock.relational.expressions import Rows
from penstock.relational.intervals import once, spread
from penstock.relational.joining import aligned
from penstock.relational.relations import Relation, Statement, aliased, col, number, select_from

_DIRECTIONS = ("ascending", "descending")


@dataclass(frozen=True, slots=True)
class Modifiers:
    """The modifiers of a pattern, outermost first: Slice, Distinct, Project, OrderBy, as far as there are any."""

    source: Operator
    order: tuple[tuple[Expression, bool], ...] = ()
    projected: tuple[Variable, ...] | None = None
    is_distinct: bool = False
    slice: Slice | None = None

    @staticmethod
    def of(operator: Operator) -> Modifiers:
        sliced = operator if isinstance(operator, Slice) else None
        node = operator.source if isinstance(operator, Slice) else operator
        is_distinct = isinstance(node, Distinct)
        if isinstance(node, (Distinct, Reduced)):
            node = node.source
        projected = node.variables if isinstance(node, Project) else None
        if isinstance(node, Project):
            node = node.source
        order = node.conditions if isinstance(node, OrderBy) else ()
        if isinstance(node, OrderBy):
            node = node.source
        return Modifiers(node, order, projected, is_distinct, sliced)

    @property
    def is_ordered_by_projection(self) -> bool:
        """Whether the order only uses projected variables: then equal rows are equal in the order."""
        read = {part for expression, _ in self.order for part in parts_of(expression)}
        names = {part for part in read if isinstance(part, Variable)}
        return not any(isinstance(part, Exists) for part in read) and names <= set(self.projected or names)


def with_order(
    statement: Statement, relation: Relation, rows: Rows, conditions: Sequence[tuple[Expression, bool]]
) -> Relation:
    """The rows with columns to order by; `rows` are those of the relation, with values for the conditions."""
    keys = [(key, is_down) for value, is_down in conditions for key in rows.order_key(value)]
    names = tuple(f"{_DIRECTIONS[is_down]}{place}" for place, (_, is_down) in enumerate(keys, start=1))
    source = rows.relation
    kept = [col(source.name, name) for name in relation.all_columns]
    added = [aliased(key, name) for (key, _), name in zip(keys, names, strict=True)]
    query = select_from(source.name, [*kept, *added, source.start, source.end])
    return statement.relation(query, relation.columns, relation.certain, (*relation.extra, *names))


def ordered(relation: Relation) -> list[exp.Ordered]:
    """The order of the relation's columns; unbound is first, or last for descending order."""
    return [
        exp.Ordered(this=col(relation.name, name), desc=is_down, nulls_first=not is_down)
        for name in _order_columns(relation)
        for is_down in [name.startswith("descending")]
    ]


def _order_columns(relation: Relation) -> list[str]:
    return [name for name in relation.extra if name.startswith(_DIRECTIONS)]


def projected(statement: Statement, relation: Relation, variables: Sequence[Variable]) -> Relation:
    columns = {variable: statement.column_name(variable) for variable in dict.fromkeys(variables)}
    query = aligned(relation, columns, relation.extra)
    certain = frozenset(variable for variable in columns if variable in relation.certain)
    return replace(relation, name=statement.add(query), columns=columns, certain=certain)


def distinct(statement: Statement, relation: Relation, *, by_order: bool) -> Relation:
    """Drops duplicates; `by_order`: they may differ in the columns to order by, and the first one stays."""
    columns = list(relation.columns.values())
    if by_order:
        return _first(statement, relation, columns, ordered(relation), 0, 1)
    rows = once(statement, relation.name, relation.all_columns)
    return Relation(rows, relation.columns, relation.certain, relation.extra)


def sliced(statement: Statement, relation: Relation, limits: Slice, within: Sequence[Variable] = ()) -> Relation:
    """The first rows of each instant, among those with equal variables `within`.

    If the order does not decide which ones these are, their terms decide.
    """
    columns = [relation.columns[variable] for variable in within]
    last = None if limits.limit is None else limits.offset + limits.limit
    terms = [exp.Ordered(this=col(relation.name, name), nulls_first=True) for name in relation.columns.values()]
    return _first(statement, relation, columns, [*ordered(relation), *terms], limits.offset, last)


def _first(
    statement: Statement,
    relation: Relation,
    columns: Sequence[str],
    order: Sequence[exp.Ordered],
    offset: int,
    last: int | None,
) -> Relation:
    """At each instant, the rows number offset + 1 to last among those with equal columns."""
    snapshot = spread(statement, relation.name, relation.all_columns)
    partition = [col(snapshot, name) for name in [*columns, "i"]]
    in_snapshot = [
        exp.Ordered(this=col(snapshot, key.this.name), desc=key.args.get("desc"), nulls_first=key.args["nulls_first"])
        for key in order
    ]
    placed = exp.Window(
        this=exp.RowNumber(),
        partition_by=partition,
        order=exp.Order(expressions=in_snapshot) if in_snapshot else None,
    )
    kept = [col(snapshot, name) for name in [*relation.all_columns, "i", "j"]]
    ranked = statement.add(select_from(snapshot, [*kept, aliased(placed, "place")]))
    conditions: list[exp.Expr] = [exp.GT(this=col(ranked, "place"), expression=number(offset))]
    if last is not None:
        conditions.append(exp.LTE(this=col(ranked, "place"), expression=number(last)))
    query = select_from(ranked, [col(ranked, name) for name in [*relation.all_columns, "i", "j"]])
    return statement.relation(query.where(*conditions), relation.columns, relation.certain, relation.extra)
