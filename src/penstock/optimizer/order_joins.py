"""The order of joins (Groppe §4.1): the pattern with most shared variables first, then the smaller one.

Join is commutative and associative, so any order is correct. The smallest pattern is first. Next is always the pattern
that shares the most variables with the patterns before it; among equals, the smallest. A pattern that shares no
variable waits, because it would be a cross product. Engines may choose another order, but they know less about the
streams and mostly keep this one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

from penstock.algebra.expressions import Variable
from penstock.algebra.model import Dataset
from penstock.algebra.operators import (
    BasicGraphPattern,
    Filter,
    Group,
    Join,
    LeftJoin,
    Minus,
    Operator,
    PathPattern,
    ReadGraph,
    ReadWindow,
    Service,
    Table,
    TriplePattern,
    Union,
)
from penstock.optimizer.knowledge import Knowledge
from penstock.optimizer.merge_patterns import is_one_content, together
from penstock.optimizer.rewriting import joined, operands, with_inner
from penstock.optimizer.sizes import Counts

_LEFT_BY_A_FILTER = 0.3
_OF_AN_ENDPOINT = 1000.0


class _Part(NamedTuple):
    """An operand, and the estimated number of its solutions."""

    operator: Operator
    variables: frozenset[Variable]
    size: float


def order_joins(operator: Operator, knowledge: Knowledge) -> Operator:
    return _Ordering(knowledge).inside(operator, knowledge.sizes.default(knowledge.dataset))


class _Ordering:
    def __init__(self, knowledge: Knowledge) -> None:
        self._knowledge = knowledge

    def inside(self, operator: Operator, active: tuple[Counts, ...]) -> Operator:
        match operator:
            case Service():
                return operator
            case ReadGraph() | ReadWindow():
                return with_inner(operator, lambda inner: self.inside(inner, self._read(operator)))
            case Join() | BasicGraphPattern():
                parts = [self._part(part, active) for part in self._split(operator)]
                return joined(_in_blocks(_ordered(parts), self._knowledge.dataset))
        return with_inner(operator, lambda inner: self.inside(inner, active))

    def _split(self, operator: Operator) -> Iterator[Operator]:
        """Single triple patterns, also those of a graph or a window with a constant name."""
        for part in operands(operator):
            match part:
                case BasicGraphPattern(patterns) if len(patterns) > 1:
                    yield from (BasicGraphPattern((pattern,)) for pattern in patterns)
                case ReadGraph(_, source) | ReadWindow(_, source) if is_one_content(part, self._knowledge.dataset):
                    yield from (replace(part, source=inner) for inner in self._split(source))
                case _:
                    yield part

    def _part(self, operator: Operator, active: tuple[Counts, ...]) -> _Part:
        inner = operator if isinstance(operator, BasicGraphPattern) else self.inside(operator, active)
        return _Part(inner, self._knowledge.scope(inner).possible, self._size(inner, active))

    def _read(self, operator: ReadGraph | ReadWindow) -> tuple[Counts, ...]:
        sizes, dataset = self._knowledge.sizes, self._knowledge.dataset
        if isinstance(operator, ReadGraph):
            return sizes.graph(operator.name, dataset)
        return sizes.window(operator.name, dataset)

    def _size(self, operator: Operator, active: tuple[Counts, ...]) -> float:
        match operator:
            case BasicGraphPattern(patterns):
                return min((self._knowledge.sizes.of(pattern, active) for pattern in patterns), default=1.0)
            case PathPattern():
                return self._knowledge.sizes.of_all(active)
            case Table(_, rows):
                return float(len(rows))
            case Filter(_, source):
                return _LEFT_BY_A_FILTER * self._size(source, active)
            case Join(left, right):
                return min(self._size(left, active), self._size(right, active))
            case Union(left, right):
                return self._size(left, active) + self._size(right, active)
            case LeftJoin(left) | Minus(left):
                return self._size(left, active)
            case Group(source, keys):
                return self._size(source, active) if keys else 1.0
            case ReadGraph(_, source) | ReadWindow(_, source):
                return self._size(source, self._read(operator))
            case Service():
                return _OF_AN_ENDPOINT
        (source,) = operator.children
        return self._size(source, active)


def _ordered(parts: list[_Part]) -> list[_Part]:
    """Ties keep the order of the text."""
    left = list(parts)
    first = max(left, key=lambda part: (-part.size, _partners(part, left)))
    order = [first]
    left.remove(first)
    known = first.variables
    while left:
        following = max(left, key=lambda part: (len(part.variables & known), -part.size, _partners(part, parts)))
        order.append(following)
        left.remove(following)
        known |= following.variables
    return order


def _partners(part: _Part, parts: list[_Part]) -> int:
    return sum(len(part.variables & other.variables) for other in parts if other is not part)


def _in_blocks(parts: list[_Part], dataset: Dataset) -> Iterator[Operator]:
    """Adjacent patterns of one graph become one pattern again."""
    block: Operator | None = None
    for part in parts:
        whole = None
        if block is not None and _has_patterns_alone(block) and _has_patterns_alone(part.operator):
            whole = together(block, part.operator, dataset)
        if whole is None and block is not None:
            yield block
        block = part.operator if whole is None else whole
    if block is not None:
        yield block


def _has_patterns_alone(operator: Operator) -> bool:
    match operator:
        case BasicGraphPattern() | ReadGraph(_, BasicGraphPattern()) | ReadWindow(_, BasicGraphPattern()):
            return True
    return False


def patterns_in_order(operator: Operator, knowledge: Knowledge) -> Iterator[tuple[TriplePattern, int | None]]:
    """The triple patterns in join order, each with the number of triples that it matched, if counted."""
    return _patterns(operator, knowledge, knowledge.sizes.default(knowledge.dataset))


def _patterns(
    operator: Operator, knowledge: Knowledge, active: tuple[Counts, ...]
) -> Iterator[tuple[TriplePattern, int | None]]:
    match operator:
        case BasicGraphPattern(patterns):
            for pattern in patterns:
                yield pattern, round(knowledge.sizes.of(pattern, active)) if active else None
            return
        case ReadGraph(name):
            active = knowledge.sizes.graph(name, knowledge.dataset)
        case ReadWindow(name):
            active = knowledge.sizes.window(name, knowledge.dataset)
        case Service():
            return
    for inner in operator.children:
        yield from _patterns(inner, knowledge, active)
