"""Expressions that nest deeply, taken apart: their inner parts become columns, level by level.

Where SQL needs a value twice, it writes it twice, and so do the optimizers of engines. An expression of few levels can
bear that. A deeper one is evaluated in steps, each of which is a column that the next one reads.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import lru_cache

from penstock.algebra.expressions import Apply, Exists, Expression, Variable
from penstock.relational.functions.families import is_volatile

MOST_LEVELS = 4
"""So many levels are compiled as a whole."""

_MOST_OPERANDS = 6
_CHAINS = frozenset(("+", "-", "*", "/"))


def is_deep(expression: Expression) -> bool:
    """Whether the expression is evaluated in steps."""
    return _levels(in_short_chains(expression)) > MOST_LEVELS


def first_steps(expression: Expression) -> Iterator[Expression]:
    """The parts of a deep expression that become columns before anything else of it is compiled."""
    if not isinstance(expression, Apply) or _levels(expression) <= MOST_LEVELS:
        return
    for argument in expression.arguments:
        if _levels(argument) == MOST_LEVELS and not is_volatile(argument) and not _asks_exists(argument):
            yield argument
        else:
            yield from first_steps(argument)


def with_steps(expression: Expression, columns: Mapping[Expression, Variable]) -> Expression:
    """The expression with variables in place of the parts that are columns."""
    if isinstance(expression, Apply):
        arguments = tuple(with_steps(argument, columns) for argument in expression.arguments)
        expression = replace(expression, arguments=arguments)
    return columns.get(expression, expression)


def in_short_chains(expression: Expression) -> Expression:
    """The expression with long chains of one operator nested from the left, so that they have levels."""
    if not isinstance(expression, Apply):
        return expression
    arguments = tuple(map(in_short_chains, expression.arguments))
    if expression.function in _CHAINS:
        while len(arguments) > _MOST_OPERANDS:
            first = Apply(expression.function, arguments[:_MOST_OPERANDS])
            arguments = (first, *arguments[_MOST_OPERANDS:])
    return replace(expression, arguments=arguments)


@lru_cache(maxsize=1 << 14)
def _levels(expression: Expression) -> int:
    if not isinstance(expression, Apply):
        return 0
    return 1 + max(map(_levels, expression.arguments), default=0)


def _asks_exists(expression: Expression) -> bool:
    if isinstance(expression, Apply):
        return any(map(_asks_exists, expression.arguments))
    return isinstance(expression, Exists)
