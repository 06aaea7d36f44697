"""The optimized plan of a query: the operators after each rule that changed them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from penstock.algebra import ContinuousQuery
from penstock.algebra.operators import Operator, PathPattern, TriplePattern
from penstock.explain.names import Names
from penstock.explain.sources import ActiveGraphs
from penstock.explain.tree import OperatorNode, operator_tree
from penstock.optimizer import Knowledge, Sizes, optimize
from penstock.optimizer.order_joins import patterns_in_order
from penstock.rdf.plurals import counted
from penstock.relational.matching import nodes_of
from penstock.relational.static_parts import KeptPart


@dataclass(frozen=True, slots=True)
class PlanStep:
    """The name of a rule, and the operators after it."""

    rule: str
    operators: OperatorNode


@dataclass(frozen=True, slots=True)
class KeptPartDescription:
    """A static part that a run computes once and keeps: its patterns, the variables that join it with the rest, and
    its number of solutions, if known."""

    patterns: tuple[str, ...]
    keys: tuple[str, ...]
    rows: int | None

    @property
    def sentence(self) -> str:
        size = "" if self.rows is None else f", {counted(self.rows, 'solution')}"
        return f"{' . '.join(self.patterns)}, by {', '.join(self.keys) or 'nothing'}{size}"


@dataclass(frozen=True, slots=True)
class PlanDescription:
    """The operators that run, and the steps that led to them.

    `sizes` are the triple patterns in join order, each with the number of triples it matched recently, or None if
    unknown. `kept` are the parts that are computed once.
    """

    operators: OperatorNode
    steps: tuple[PlanStep, ...]
    sizes: tuple[tuple[str, int | None], ...] = ()
    kept: tuple[KeptPartDescription, ...] = ()

    @property
    def rules(self) -> tuple[str, ...]:
        return tuple(step.rule for step in self.steps)


def describe_plan(
    query: ContinuousQuery, active_graphs: ActiveGraphs, names: Names, sizes: Sizes, kept: Sequence[KeptPart]
) -> PlanDescription | None:
    """None if no rule changed anything, no size is known, and nothing is kept."""
    knowledge = Knowledge.of(query, sizes)
    optimized = optimize(query.expression, knowledge)

    def shown(expression: Operator) -> OperatorNode:
        return operator_tree(query, expression, active_graphs, names)

    if not optimized.steps and not sizes.are_known and not kept:
        return None
    seen = patterns_in_order(optimized.expression, knowledge) if sizes.are_known else ()
    return PlanDescription(
        shown(optimized.expression),
        tuple(PlanStep(step.rule, shown(step.expression)) for step in optimized.steps),
        tuple((names.triple(pattern), size) for pattern, size in seen),
        tuple(_kept(part, names) for part in kept if _patterns(part.operator) <= _patterns(query.expression)),
    )


def _kept(part: KeptPart, names: Names) -> KeptPartDescription:
    texts = []
    for node in _in_order(part.operator):
        if isinstance(node, TriplePattern):
            texts.append(names.triple(node))
        else:
            texts.append(f"{names.term(node.subject)} {names.path(node.path)} {names.term(node.object)}")
    return KeptPartDescription(tuple(texts), tuple(names.variable(key) for key in part.keys), part.rows)


def _in_order(operator: Operator) -> list[TriplePattern | PathPattern]:
    return [node for node in nodes_of(operator) if isinstance(node, TriplePattern | PathPattern)]


def _patterns(operator: Operator) -> frozenset[TriplePattern | PathPattern]:
    return frozenset(_in_order(operator))
