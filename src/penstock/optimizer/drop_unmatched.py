"""Removes patterns that cannot match: FILTER (false), LIMIT 0, VALUES without rows, and patterns joined with them.

A join with a pattern without solutions has none either. A UNION, an OPTIONAL or a MINUS drops such a side. A grouping
without keys keeps its one group even if it is empty.
"""

from __future__ import annotations

from penstock.algebra.expressions import Apply, Exists, Expression
from penstock.algebra.operators import (
    Distinct,
    Extend,
    Filter,
    Group,
    Join,
    LeftJoin,
    Minus,
    Operator,
    OrderBy,
    Project,
    ReadElement,
    ReadGraph,
    ReadWindow,
    Reduced,
    Slice,
    Table,
    Union,
)
from penstock.optimizer.fold_constants import FALSE, TRUE, folded
from penstock.optimizer.knowledge import Knowledge
from penstock.optimizer.rewriting import NOTHING, UNIT, from_the_leaves, with_arguments, with_expressions


def drop_what_cannot_match(operator: Operator, knowledge: Knowledge) -> Operator:
    return from_the_leaves(operator, _dropped)


def _dropped(operator: Operator) -> Operator:
    changed = with_expressions(operator, _decided)
    if isinstance(changed, Filter | LeftJoin) and changed is not operator and changed.condition is not None:
        changed = with_expressions(changed, lambda condition: folded(condition, is_condition=True))
    match changed:
        case Filter(condition, source):
            return source if condition == TRUE else NOTHING if condition == FALSE else changed
        case Join(left, right) if _is_nothing(left) or _is_nothing(right):
            return NOTHING
        case LeftJoin(left, right, condition):
            if _is_nothing(left):
                return NOTHING
            if _is_nothing(right) or condition == FALSE:
                return left
            return LeftJoin(left, right) if condition == TRUE else changed
        case Minus(left, right):
            return NOTHING if _is_nothing(left) else left if _is_nothing(right) else changed
        case Union(left, right):
            if _is_nothing(left):
                return NOTHING if _is_nothing(right) else right
            return left if _is_nothing(right) else changed
    return changed


def _is_nothing(operator: Operator) -> bool:
    match operator:
        case Table(_, rows):
            return not rows
        case Slice(source, _, limit):
            return limit == 0 or _is_nothing(source)
        case Group(source, keys):
            return bool(keys) and _is_nothing(source)
        case Filter(_, source) | Extend(source) | Project(source) | Distinct(source) | Reduced(source):
            return _is_nothing(source)
        case OrderBy(source) | ReadGraph(_, source) | ReadWindow(_, source) | ReadElement(_, source):
            return _is_nothing(source)
    return False


def _decided(expression: Expression) -> Expression:
    """EXISTS over a pattern without solutions is false; over the empty solution it is true."""
    match expression:
        case Exists(pattern, negated) if _is_nothing(pattern):
            return TRUE if negated else FALSE
        case Exists(pattern, negated) if pattern == UNIT:
            return FALSE if negated else TRUE
        case Apply(_, arguments):
            return with_arguments(expression, map(_decided, arguments))
    return expression
