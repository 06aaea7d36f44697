"""What the optimizer makes of a query: the operators after each rule that had something to do."""

from __future__ import annotations

from dataclasses import dataclass

from penstock.algebra import ContinuousQuery
from penstock.explain.names import Names
from penstock.explain.sources import ActiveGraphs
from penstock.explain.tree import OperatorNode, operator_tree
from penstock.optimizer import Knowledge, optimize


@dataclass(frozen=True, slots=True)
class PlanStep:
    """A rule, by its name, and the operators after it."""

    rule: str
    operators: OperatorNode


@dataclass(frozen=True, slots=True)
class PlanAccount:
    """At least one step."""

    steps: tuple[PlanStep, ...]

    @property
    def operators(self) -> OperatorNode:
        """The operators that are run."""
        return self.steps[-1].operators

    @property
    def rules(self) -> tuple[str, ...]:
        return tuple(step.rule for step in self.steps)


def plan_account(query: ContinuousQuery, active_graphs: ActiveGraphs, names: Names) -> PlanAccount | None:
    """None where no rule has anything to do."""
    optimized = optimize(query.expression, Knowledge.of(query))
    steps = [
        PlanStep(step.rule, operator_tree(query, step.expression, active_graphs, names)) for step in optimized.steps
    ]
    return PlanAccount(tuple(steps)) if steps else None
