"""The streaming operators on whole evaluations (semantics.md §7), where SQL does not compare: triples, booleans."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from typing import TypeVar

from penstock.syntax import ast

Item = TypeVar("Item", bound=Hashable)


def streamed(operator: ast.Operator, now: Sequence[Item], before: Sequence[Item] | None) -> list[Item]:
    """What comes out at an instant; `before` is what there was at the previous one, None at the first."""
    if operator == "rstream":
        return list(now)
    if before is None:
        return list(now) if operator == "istream" else []
    here, there = (now, set(before)) if operator == "istream" else (before, set(now))
    return [item for item in here if item not in there]


def beyond(now: Sequence[Item], given: Counter[Item]) -> list[Item]:
    """What is there more often than it was given before."""
    left = Counter(given)
    fresh: list[Item] = []
    for item in now:
        if left[item] > 0:
            left[item] -= 1
        else:
            fresh.append(item)
    return fresh
