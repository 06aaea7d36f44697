"""Static parts of queries, as engines are asked to keep them, and as they tell what they keep."""

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

    `keys` are the variables by which the rest of the query asks for solutions, with their columns.
    """

    operator: Operator
    statement: exp.Select
    keys: Mapping[Variable, str]

    @property
    def is_pattern(self) -> bool:
        """Whether it is no more than a triple pattern."""
        return isinstance(self.operator, BasicGraphPattern) and len(self.operator.patterns) == 1


@dataclass(frozen=True, slots=True)
class KeptTable:
    """Where the solutions of a part are. With an index, rows are looked up by the values of one key or another."""

    name: str
    has_index: bool = False


Keep = Callable[[StaticPart], KeptTable | None]
"""Computes a part, once, and keeps what comes out. None where to keep it does not pay."""


@dataclass(frozen=True, slots=True)
class KeptPart:
    """A part that is kept, and by which variables; `rows` are its solutions, where they have been counted."""

    operator: Operator
    keys: tuple[Variable, ...]
    rows: int | None
