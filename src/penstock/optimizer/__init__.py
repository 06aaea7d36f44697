"""Rewrites an expression of the algebra into one with the same solutions and lower cost.

The optimizer is `RULES`, applied in this order. Each rule is a pure function of an expression and of the known facts
(`Knowledge`), and each can be switched off.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from penstock.algebra.operators import Operator
from penstock.optimizer.bind_paths import bind_paths
from penstock.optimizer.drop_unmatched import drop_what_cannot_match
from penstock.optimizer.fold_constants import fold_constants
from penstock.optimizer.knowledge import Knowledge
from penstock.optimizer.merge_patterns import merge_patterns
from penstock.optimizer.normalise import normalise
from penstock.optimizer.order_joins import order_joins
from penstock.optimizer.push_aggregates import push_aggregates
from penstock.optimizer.push_filters import push_filters
from penstock.optimizer.push_projections import push_projections
from penstock.optimizer.sizes import Sizes
from penstock.optimizer.split_aggregates import split_aggregates

__all__ = ["RULES", "Knowledge", "Optimized", "Rule", "Sizes", "Step", "name_of", "optimize"]

Rule = Callable[[Operator, Knowledge], Operator]

RULES: tuple[Rule, ...] = (
    normalise,
    fold_constants,
    drop_what_cannot_match,
    merge_patterns,
    push_filters,
    bind_paths,
    push_aggregates,
    split_aggregates,
    push_projections,
    order_joins,
)


@dataclass(frozen=True, slots=True)
class Step:
    """A rule that changed the expression, and the new expression."""

    rule: str
    expression: Operator


@dataclass(frozen=True, slots=True)
class Optimized:
    expression: Operator
    steps: tuple[Step, ...]


def optimize(expression: Operator, knowledge: Knowledge, rules: Sequence[Rule] = RULES) -> Optimized:
    """Applies all rules; also returns the effect of each."""
    steps: list[Step] = []
    for rule in rules:
        changed = rule(expression, knowledge)
        if changed != expression:
            expression = changed
            steps.append(Step(name_of(rule), expression))
    return Optimized(expression, tuple(steps))


def name_of(rule: Rule) -> str:
    """The name of the rule for users: `push filters`."""
    return rule.__name__.replace("_", " ")
