"""Static parts of queries: how engines keep them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from sqlglot import exp

from penstock.algebra.expressions import Variable
from penstock.algebra.operators import BasicGraphPattern, Operator


@dataclass(frozen=True, slots=True)
class StaticPart:
    """A part of a query whose solutions are the same at every instant, and the statement, without parameters, that
    selects them.

    `keys` are the variables by which the rest of the query is joined, with their columns.
    """

    operator: Operator
    statement: exp.Select
    keys: Mapping[Variable, str]

    @property
    def is_pattern(self) -> bool:
        """Whether it is only a triple pattern."""
        return isinstance(self.operator, BasicGraphPattern) and len(self.operator.patterns) == 1


@dataclass(frozen=True, slots=True)
class KeptTable:
    """The table of a part's solutions. With an index, rows are looked up by the values of one of the keys.

    `narrow` are the keys whose values have few rows each, in a table with few rows.
    """

    name: str
    has_index: bool = False
    narrow: frozenset[Variable] = frozenset()


Keep = Callable[[StaticPart], KeptTable | None]
"""Computes a part once, and keeps its solutions. None if keeping it is not worth it."""


@dataclass(frozen=True, slots=True)
class KeptPart:
    """A kept part, and its keys; `rows` is the number of its solutions, if it has been counted."""

    operator: Operator
    keys: tuple[Variable, ...]
    rows: int | None
