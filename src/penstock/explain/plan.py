"""What the optimizer makes of a query: the operators after each rule that had something to do."""

from __future__ import annotations

from dataclasses import dataclass

from penstock.algebra import ContinuousQuery
from penstock.algebra.operators import Operator
from penstock.explain.names import Names
from penstock.explain.sources import ActiveGraphs
from penstock.explain.tree import OperatorNode, operator_tree
from penstock.optimizer import Knowledge, Sizes, optimize
from penstock.optimizer.order_joins import patterns_in_order


@dataclass(frozen=True, slots=True)
class PlanStep:
    """A rule, by its name, and the operators after it."""

    rule: str
    operators: OperatorNode


@dataclass(frozen=True, slots=True)
class PlanAccount:
    """The operators that are run, and how they came about.

    `sizes` are the triple patterns in the order in which they are joined, with how many triples each was seen to find
    lately; None where nobody has counted.
    """

    operators: OperatorNode
    steps: tuple[PlanStep, ...]
    sizes: tuple[tuple[str, int | None], ...] = ()

    @property
    def rules(self) -> tuple[str, ...]:
        return tuple(step.rule for step in self.steps)


def plan_account(
    query: ContinuousQuery, active_graphs: ActiveGraphs, names: Names, sizes: Sizes
) -> PlanAccount | None:  # fmt: skip
    """None where no rule has anything to do, and no size is known."""
    knowledge = Knowledge.of(query, sizes)
    optimized = optimize(query.expression, knowledge)

    def shown(expression: Operator) -> OperatorNode:
        return operator_tree(query, expression, active_graphs, names)

    if not optimized.steps and not sizes.are_known:
        return None
    seen = patterns_in_order(optimized.expression, knowledge) if sizes.are_known else ()
    return PlanAccount(
        shown(optimized.expression),
        tuple(PlanStep(step.rule, shown(step.expression)) for step in optimized.steps),
        tuple((names.triple(pattern), size) for pattern, size in seen),
    )
