"""Equal solutions of a static part, kept once with their number.

A part often finds the same values many times, as of the papers that two people have written together, because it has
variables that nothing else reads. Then its rows are joined once, with a column that counts them, and repeated at the
very end.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce

from sqlglot import exp

from penstock.algebra.expressions import Variable, parts_of
from penstock.algebra.operators import Filter, Operator, Project
from penstock.relational.edges import is_join
from penstock.relational.intervals import each_instant
from penstock.relational.matching import nodes_of
from penstock.relational.relations import Relation, col, number, select_from

_COPIES = "copies"


def unread(whole: Operator, columns: Mapping[Variable, str], shared: frozenset[Variable]) -> frozenset[Variable]:
    """The variables of a part that nothing else reads; `shared` are those that other patterns have, too.

    None are known unless the whole is a join of patterns and a projection, so that rows are only put together.
    """
    if not isinstance(whole, Project) or not is_join(whole.source):
        return frozenset()
    conditions = [node.condition for node in nodes_of(whole) if isinstance(node, Filter)]
    compared = {part for condition in conditions for part in parts_of(condition)}
    found = frozenset(columns) - shared - frozenset(whole.variables) - compared
    return found if len(found) < len(columns) else frozenset()


def copies_of(relation: Relation) -> list[exp.Expr]:
    """The numbers of rows that its rows stand for, whose product counts."""
    return [col(relation.name, name) for name in relation.extra if name.startswith(_COPIES)]


def copies_column(relation: str) -> str:
    """The column of a kept relation with the number of its rows."""
    return f"{_COPIES}_{relation}"


def repeated(name: str, columns: Sequence[str], copies: Sequence[exp.Expr], condition: exp.Expr | None) -> exp.Select:
    """Each row as often as it is there."""
    product = reduce(lambda one, other: exp.Mul(this=one, expression=other), copies)
    kept = [col(name, column) for column in (*columns, "i", "j")]
    again = exp.alias_(each_instant(number(0), product), "copy")
    query = select_from(name, [*kept, again])
    return query if condition is None else query.where(condition)
