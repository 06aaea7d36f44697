"""Products: relations that are joined without a common variable; only a FILTER compares them.

The join compares all pairs of rows, so each pair must be cheap. If a condition compares two numbers, one from each
side, each number is read once for each row, as a DOUBLE. A plain comparison then drops the pairs that cannot satisfy
the condition, before the condition itself is evaluated. If a value is not a number, or is a float, which compares less
exactly, only the condition decides.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from sqlglot import exp

from penstock.algebra.expressions import Apply, Constant, Expression, Variable, parts_of, variables_of
from penstock.relational.functions.calls import call, text
from penstock.relational.functions.nesting import MOST_WEIGHT_DISTRIBUTED, is_deep
from penstock.relational.joining import join
from penstock.relational.relations import Relation, Statement, aliased, col, conjunction, select_from

_NECESSARY: dict[str, type[exp.Binary]] = {"<": exp.LTE, "<=": exp.LTE, ">": exp.GTE, ">=": exp.GTE, "=": exp.EQ}
"""The comparison of two numbers, rounded to DOUBLEs, that holds whenever the exact comparison holds."""

_ARITHMETIC = {"+", "-", "*", "/"}
_TAGS = ("i", "n", "d", "e")
"""The tags of integers, decimals and doubles."""

Term = Callable[[Relation, Expression], exp.Expr]
"""The value of an expression for the rows of a relation."""


def compared_product(
    statement: Statement, relations: list[Relation], conditions: Sequence[Expression], term: Term
) -> Relation:
    """The join of the relations, without pairs of rows that cannot satisfy one of the conditions.

    Some such pairs remain, so the conditions have to be evaluated on the result.
    """
    sides = list(_sides(relations))
    compared = list(_compared(sides, conditions)) if len(sides) > 1 else []
    if not compared:
        return join(statement, relations)
    values: dict[int, list[Expression]] = {}
    for _, ends in compared:
        for place, value in ends:
            values.setdefault(place, []).append(value)
    read = [
        _with_numbers(statement, join(statement, side), values.get(place, ()), term) for place, side in enumerate(sides)
    ]
    necessary: list[exp.Expr] = []
    for comparison, ends in compared:
        left, right = (col(read[place].name, _number(values[place].index(value))) for place, value in ends)
        necessary.append(exp.Coalesce(this=comparison(this=left, expression=right), expressions=[exp.true()]))
    return join(statement, read, conjunction(necessary))


def _sides(relations: Sequence[Relation]) -> Iterator[list[Relation]]:
    """The relations in groups that have no variable in common."""
    left = list(relations)
    while left:
        side = [left.pop(0)]
        variables = set(side[0].columns)
        while more := [relation for relation in left if not variables.isdisjoint(relation.columns)]:
            side += more
            left = [relation for relation in left if not any(relation is other for other in more)]
            variables = variables.union(*(relation.columns for relation in more))
        yield side


def _compared(
    sides: Sequence[Sequence[Relation]], conditions: Sequence[Expression]
) -> Iterator[tuple[type[exp.Binary], list[tuple[int, Expression]]]]:
    """The comparisons of values of different sides, each with the positions of its sides and the values."""
    for condition in conditions:
        if isinstance(condition, Apply) and condition.function in _NECESSARY and len(condition.arguments) == 2:
            places = [_place(sides, value) for value in condition.arguments]
            ends = [(p, value) for p, value in zip(places, condition.arguments, strict=True) if p is not None]
            if len(ends) == 2 and places[0] != places[1]:
                yield _NECESSARY[condition.function], ends


def _place(sides: Sequence[Sequence[Relation]], value: Expression) -> int | None:
    """The side that has all variables of a value, if it has any and is computed from them by arithmetic."""
    is_plain = all(
        isinstance(part, Variable | Constant) or (isinstance(part, Apply) and part.function in _ARITHMETIC)
        for part in parts_of(value)
    )
    variables = set(variables_of(value))
    if not is_plain or not variables or is_deep(value, MOST_WEIGHT_DISTRIBUTED):
        return None
    for place, side in enumerate(sides):
        if variables <= {variable for relation in side for variable in relation.columns}:
            return place
    return None


def _with_numbers(statement: Statement, side: Relation, values: Sequence[Expression], term: Term) -> Relation:
    if not values:
        return side
    kept = [col(side.name, name) for name in side.all_columns]
    terms = [aliased(term(side, value), _term(place)) for place, value in enumerate(values)]
    told = statement.add(select_from(side.name, [*kept, *terms, side.start, side.end]))
    numbers: list[exp.Expr] = []
    for place, _ in enumerate(values):
        value = col(told, _term(place))
        is_number = exp.Left(this=value, expression=exp.Literal.number(1)).isin(*map(text, _TAGS))
        numbers.append(aliased(exp.case().when(is_number, call("sparql_as_double", value.copy())), _number(place)))
    kept = [col(told, name) for name in [*side.all_columns, "i", "j"]]
    return replace(side, name=statement.add(select_from(told, [*kept, *numbers]), materialized=True))


def _term(place: int) -> str:
    return f"compared_term{place}"


def _number(place: int) -> str:
    return f"compared{place}"
