"""One normal form: joins and unions nest to the left, and filters are combined in one place.

Join and union are associative, `{}` is the neutral element of joins, and σ_a(σ_b(P)) = σ_{a ∧ b}(P).
"""

from __future__ import annotations

from penstock.algebra.expressions import conjuncts
from penstock.algebra.operators import Filter, Join, LeftJoin, Minus, Operator, Union
from penstock.optimizer.knowledge import Knowledge
from penstock.optimizer.rewriting import UNIT, conjunction, from_the_leaves, joined, operands, sides, united


def normalise(operator: Operator, knowledge: Knowledge) -> Operator:
    return from_the_leaves(operator, _normal)


def _normal(operator: Operator) -> Operator:
    match operator:
        case Join():
            return joined(operands(operator))
        case Union():
            return united(sides(operator))
        case Filter(outer, Filter(inner, source)):
            return Filter(conjunction([*conjuncts(inner), *conjuncts(outer)]), source)
        case Filter(condition, source):
            return Filter(conjunction(conjuncts(condition)), source)
        case LeftJoin(left, right, None) if right == UNIT:
            return left
        case LeftJoin(left, right, condition) if condition is not None:
            return LeftJoin(left, right, conjunction(conjuncts(condition)))
        case Minus(left, right) if right == UNIT:
            return left
    return operator
