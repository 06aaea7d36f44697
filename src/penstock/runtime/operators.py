"""The streaming operators on whole evaluations (semantics.md §7), for results that SQL does not compare: triples,
booleans.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from typing import TypeVar

from penstock.syntax import ast

Item = TypeVar("Item", bound=Hashable)
Place = TypeVar("Place")


def streamed(operator: ast.Operator, now: Sequence[Item], before: Sequence[Item] | None) -> list[Item]:
    """The items emitted at an instant; `before` are the items at the previous one, None at the first."""
    if operator == "rstream":
        return list(now)
    if before is None:
        return list(now) if operator == "istream" else []
    here, there = (now, set(before)) if operator == "istream" else (before, set(now))
    return [item for item in here if item not in there]


def beyond(now: Sequence[Place], emitted: Counter[Item], item: Callable[[Place], Item]) -> list[Place]:
    """The items that occur more often than they were emitted before."""
    left = Counter(emitted)
    fresh: list[Place] = []
    for place in now:
        if left[item(place)] > 0:
            left[item(place)] -= 1
        else:
            fresh.append(place)
    return fresh
