"""Partially distributable aggregates (C-SPARQL §5.2): windows are aggregated before the join with static graphs.

Let S read windows, T be static, and J be the variables that they share. COUNT over S ⋈ T by K is SUM over S′ ⋈ T by K,
where S′ contains the counts of S by J and the keys K of S. MIN and MAX are the least and greatest of partial results.
If a solution of S has several partners in T, it counts with each of them: so does its partial count.

For SUM and AVG, S′ has partial sums: the number of values, the exact sums of integers and of decimals, and each
floating number separately. They are added at the end in the usual order. DISTINCT is not distributable. The rule needs
a tumbling window: in a sliding window almost every element begins a partial count of its own, so nothing is gained. It
also needs a static part with many triples for each of few join values. Engines that count triples report this
(`Sizes.spread`); an engine that aggregates before joins by itself does not.
"""

from __future__ import annotations

from dataclasses import replace

from penstock.algebra.expressions import (
    AVG_OF_PARTIAL,
    PARTIAL_SUM,
    SUM_OF_PARTIAL,
    Aggregate,
    Constant,
    Variable,
)
from penstock.algebra.model import Dataset
from penstock.algebra.operators import BasicGraphPattern, Group, Join, Operator, ReadGraph, ReadWindow
from penstock.algebra.windows import RangeWindow
from penstock.optimizer.knowledge import Knowledge
from penstock.optimizer.rewriting import from_the_leaves, joined, operands
from penstock.rdf.terms import IRI

_PARTNERS, _PARTNERS_OF_COUNTS, _VALUES = 20, 200, 1000
"""The rule applies from this many triples for each solution (more for COUNT, which is cheap anyway), and up to this
many join values.

Measured on Spark (benchmarks/split_aggregates.py), 100,000 elements in a window, two cores. With 500 values and 20, 50,
100 and 200 triples for each, SUM and AVG take 0.8, 0.4, 0.3 and 0.2 times as long, MIN 0.7, 0.4, 0.3 and 0.2 times,
COUNT 1.2 to 1.5, 1.3, 0.9 to 1.1 and 0.9 times; with one triple SUM takes 1.2 and COUNT 1.6 times as long, with 20,000
values and 8 triples 1.0 and 1.3 times.
"""

_SPLIT = {
    "COUNT": ("COUNT", "SUM"),
    "MIN": ("MIN", "MIN"),
    "MAX": ("MAX", "MAX"),
    "SUM": (PARTIAL_SUM, SUM_OF_PARTIAL),
    "AVG": (PARTIAL_SUM, AVG_OF_PARTIAL),
}
"""The aggregate for partial results, and the one that combines them."""


def split_aggregates(operator: Operator, knowledge: Knowledge) -> Operator:
    def split(inner: Operator) -> Operator:
        if isinstance(inner, Group) and isinstance(inner.source, Join):
            return _split(inner, knowledge)
        return inner

    return operator if knowledge.asks_for_time else from_the_leaves(operator, split)


def _split(group: Group, knowledge: Knowledge) -> Operator:
    parts = operands(group.source)
    streaming = [part for part in parts if _is_tumbling(part, knowledge.dataset)]
    static = [part for part in parts if _is_static(part, knowledge.dataset)]
    if not streaming or not static or len(streaming) + len(static) < len(parts):
        return group
    ours, theirs = knowledge.scope(joined(streaming)), knowledge.scope(joined(static))
    if ours.possible != ours.certain or theirs.possible != theirs.certain:
        return group
    keys = [variable for variable, expression in group.keys if expression == variable]
    shared = ours.certain & theirs.certain
    if not keys or len(keys) < len(group.keys) or not set(keys) <= ours.certain | theirs.certain:
        return group
    if not all(_is_distributable(aggregate, ours.certain) for _, aggregate in group.aggregates):
        return group
    counts_alone = all(aggregate.name == "COUNT" for _, aggregate in group.aggregates)
    enough = _PARTNERS_OF_COUNTS if counts_alone else _PARTNERS
    if max((_partners(part, shared, knowledge) for part in static), default=0.0) < enough:
        return group
    within = sorted(shared | (ours.certain & set(keys)), key=str)
    partial = {variable: Variable(f".partial{place}") for place, (variable, _) in enumerate(group.aggregates)}
    inner = Group(
        joined(streaming),
        tuple((variable, variable) for variable in within),
        tuple((partial[v], replace(a, name=_SPLIT[a.name][0])) for v, a in group.aggregates),
    )
    together = tuple((v, Aggregate(_SPLIT[a.name][1], partial[v])) for v, a in group.aggregates)
    return replace(group, source=joined([inner, *static]), aggregates=together)


def _is_distributable(aggregate: Aggregate, variables: frozenset[Variable]) -> bool:
    if aggregate.name not in _SPLIT or aggregate.distinct:
        return False
    return aggregate.argument in variables or (aggregate.argument is None and aggregate.name == "COUNT")


def _is_tumbling(operator: Operator, dataset: Dataset) -> bool:
    """Whether the operator reads one window, whose contents do not overlap."""
    if not isinstance(operator, ReadWindow) or not isinstance(operator.name, Constant):
        return False
    among = [window for window in dataset.windows if operator.name.term == IRI(window.name or "")]
    return len(among) == 1 and all(
        isinstance(kind := window.window, RangeWindow) and kind.step >= kind.width and window.stream_variable is None
        for window in among
    )


def _is_static(operator: Operator, dataset: Dataset) -> bool:
    """Whether the operator consists of triple patterns over graphs only."""
    match operator:
        case BasicGraphPattern():
            return all(window.is_named for window in dataset.windows)
        case ReadGraph(Constant(IRI(name)), BasicGraphPattern()):
            return all(window.name != name for window in dataset.windows)
    return False


def _partners(operator: Operator, shared: frozenset[Variable], knowledge: Knowledge) -> float:
    """The maximum number of triples of a pattern for each value of a shared variable."""
    match operator:
        case ReadGraph(Constant(IRI(name)), BasicGraphPattern(patterns)):
            names: tuple[str | None, ...] = (name,)
        case BasicGraphPattern(patterns):
            names = (None, *knowledge.dataset.default_graphs)
        case _:
            return 0.0
    return max((knowledge.sizes.partners(p, shared, names, _VALUES) for p in patterns), default=0.0)
