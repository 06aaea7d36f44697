"""Moves aggregates to the graph or window that their solutions are from (C-SPARQL §5.2).

An aggregate is totally distributable if one of its grouping variables names the graph or window of a solution: then
each group is from one of them, and γ over GRAPH ?g { P } by ?g and K is GRAPH ?g { γ over P by K }. K must not be
empty, because a grouping without keys has a group even without solutions.
"""

from __future__ import annotations

from dataclasses import replace

from penstock.algebra.expressions import Exists, Expression, Variable, parts_of
from penstock.algebra.model import Dataset
from penstock.algebra.operators import Group, Operator, ReadGraph, ReadWindow
from penstock.optimizer.knowledge import Knowledge
from penstock.optimizer.rewriting import from_the_leaves


def push_aggregates(operator: Operator, knowledge: Knowledge) -> Operator:
    def pushed(inner: Operator) -> Operator:
        if isinstance(inner, Group) and isinstance(inner.source, ReadGraph | ReadWindow):
            return _into_each(inner, inner.source, knowledge)
        return inner

    return operator if knowledge.asks_for_time else from_the_leaves(operator, pushed)


def _into_each(group: Group, block: ReadGraph | ReadWindow, knowledge: Knowledge) -> Operator:
    name = block.name
    others = tuple(key for key in group.keys if key != (name, name))
    if not isinstance(name, Variable) or not others or len(others) == len(group.keys):
        return group
    if name in knowledge.scope(block.source).possible or not _are_told_apart(block, knowledge.dataset):
        return group
    expressions: list[Expression] = [expression for _, expression in others]
    expressions += [aggregate.argument for _, aggregate in group.aggregates if aggregate.argument is not None]
    if any(_may_read(expression, name) for expression in expressions):
        return group
    return replace(block, source=replace(group, source=block.source, keys=others))


def _may_read(expression: Expression, variable: Variable) -> bool:
    return any(part == variable or isinstance(part, Exists) for part in parts_of(expression))


def _are_told_apart(block: ReadGraph | ReadWindow, dataset: Dataset) -> bool:
    """Whether names are unique: no name stands for several streams, or for both a window and a graph."""
    windows = [window for window in dataset.windows if window.name is not None]
    names = [window.name for window in windows]
    if any(window.stream is None for window in windows) or len(set(names)) < len(names):
        return False
    if isinstance(block, ReadWindow) or not windows:
        return True
    return dataset.has_clauses and not set(names) & set(dataset.named_graphs)
