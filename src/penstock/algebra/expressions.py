"""Expressions of the algebra: operators, built-ins and casts are all functions by name."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from penstock.rdf.terms import IRI, Literal

if TYPE_CHECKING:
    from penstock.algebra.operators import Operator


@dataclass(frozen=True, slots=True)
class Variable:
    """A variable. Blank nodes of a pattern are variables named `_:label`; internal variables begin with a dot."""

    name: str

    @property
    def is_visible(self) -> bool:
        return not self.name.startswith(("_:", "."))

    def __str__(self) -> str:
        return f"?{self.name}" if self.is_visible else self.name


@dataclass(frozen=True, slots=True)
class Constant:
    term: IRI | Literal

    def __str__(self) -> str:
        return str(self.term)


@dataclass(frozen=True, slots=True)
class Apply:
    """A function call: an operator (`&&`, `+`, `IN`), a built-in (`STRLEN`), or a function named by its IRI (`<…>`)."""

    function: str
    arguments: tuple[Expression, ...]

    def __str__(self) -> str:
        shown = [str(argument) for argument in self.arguments]
        if self.function.isalpha() or self.function.startswith("<") or len(shown) == 1 or "_" in self.function:
            return f"{self.function}({', '.join(shown)})"
        return f"({f' {self.function} '.join(shown)})"


@dataclass(frozen=True, slots=True)
class Exists:
    pattern: Operator
    negated: bool = False

    def __str__(self) -> str:
        return "NOT EXISTS {…}" if self.negated else "EXISTS {…}"


Expression = Variable | Constant | Apply | Exists


PARTIAL_SUM, SUM_OF_PARTIAL, AVG_OF_PARTIAL = "PARTIAL SUM", "SUM OF", "AVG OF"
"""Internal aggregates: partial sums, and the aggregates that combine them."""


@dataclass(frozen=True, slots=True)
class Aggregate:
    """An aggregate over a group; `COUNT(*)` has no argument."""

    name: str
    argument: Expression | None
    distinct: bool = False
    separator: str | None = None

    def __str__(self) -> str:
        distinct = "DISTINCT " if self.distinct else ""
        return f"{self.name}({distinct}{'*' if self.argument is None else self.argument})"


def parts_of(expression: Expression) -> Iterator[Expression]:
    """Yields the expression and all its subexpressions, but not the pattern of an EXISTS."""
    yield expression
    if isinstance(expression, Apply):
        for argument in expression.arguments:
            yield from parts_of(argument)


def conjuncts(condition: Expression) -> Iterator[Expression]:
    """The conditions that `&&` joins."""
    if isinstance(condition, Apply) and condition.function == "&&":
        for operand in condition.arguments:
            yield from conjuncts(operand)
    else:
        yield condition


def variables_of(expression: Expression) -> list[Variable]:
    """The variables of an expression, without duplicates, in order; those inside an EXISTS pattern are not included."""
    return list(dict.fromkeys(part for part in parts_of(expression) if isinstance(part, Variable)))
