"""Expressions that nest deeply, as programs for a stack.

An engine takes milliseconds to plan each call of a SPARQL function, and even longer for each call if calls nest deeply.
So a deep expression is split into steps. A step applies a template, an expression of few levels, to operands: values of
the row, and values that earlier steps left on a stack. Equal steps share a template, and the engine plans each template
once.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache

from penstock.algebra.expressions import Apply, Constant, Expression, Variable
from penstock.relational.functions.families import Kind, Kinds, kind_of

MOST_WEIGHT = 16
MOST_WEIGHT_DISTRIBUTED = 4
"""Expressions up to this weight are compiled as a whole: engines evaluate them faster than steps. Spark, which runs
distributed statements, takes far longer to plan them, and gives up after 100 passes over a plan.
"""

_WEIGHTS = {"=": 2, "!=": 2, "SHA384": 6, "SHA512": 6}
"""The functions that take longer to plan than others, and their relative weights."""
_OPERANDS_PER_LEVEL = 6
"""This many operands of `&&` or `||` count as a level."""
_MOST_COMPARISONS = 4
"""This many comparisons of an IN count as a level."""

_MOST_OPERANDS = 6
_CHAINS = frozenset(("+", "-", "*", "/"))
_LOGIC = frozenset(("&&", "||"))
_WITH_PATTERNS = frozenset(("REGEX", "REPLACE"))

STACK, GIVEN = "stack", "given"
"""The place where a template finds an operand."""


@dataclass(frozen=True, slots=True)
class Template:
    """The template of a step. Its variables stand for operands; `known` are the kinds of these."""

    expression: Apply
    known: tuple[tuple[Variable, Kind], ...]
    taken: int
    """The number of operands that it takes from the stack."""

    @property
    def kinds(self) -> Kinds:
        return dict(self.known)


@dataclass(frozen=True, slots=True)
class Step:
    """A template, and the operands that are not on the stack."""

    template: Template
    given: tuple[Expression, ...]


def is_deep(expression: Expression, most_weight: int) -> bool:
    """Whether the expression is evaluated in steps, which must be more than one."""
    return isinstance(expression, Apply) and _weight(expression) > most_weight and _has_steps(expression)


def is_long(expression: Apply, most_weight: int) -> bool:
    """Whether it has too many operands to be evaluated in one step."""
    return len(expression.arguments) > 2 and _own_weight(expression) > most_weight


def steps_of(expression: Apply, kinds: Kinds) -> list[Step]:
    """The program of an expression. Each step leaves a value on the stack; the last one is that of the expression."""
    program = _Program(kinds)
    program.add(expression)
    return program.steps


def operand(variable: Variable) -> tuple[str, int]:
    """The place where a template finds the operand of a variable, and its position; the top of the stack has position
    0.
    """
    _, where, place = variable.name.split(".")
    return where, int(place)


def in_short_chains(expression: Expression) -> Expression:
    """A long chain of one operator as a short one: its beginning becomes one operand, a chain of its own."""
    match expression:
        case Apply(operator, operands) if operator in _CHAINS and len(operands) > _MOST_OPERANDS:
            first = len(operands) - _MOST_OPERANDS + 1
            return Apply(operator, (Apply(operator, operands[:first]), *operands[first:]))
    return expression


def with_columns(expression: Expression, columns: Mapping[Expression, Variable]) -> Expression:
    """The expression with variables in place of the parts that are columns."""
    if isinstance(expression, Apply):
        arguments = tuple(with_columns(argument, columns) for argument in expression.arguments)
        expression = replace(expression, arguments=arguments)
    return columns.get(expression, expression)


@dataclass(frozen=True, slots=True)
class _Program:
    kinds: Kinds
    steps: list[Step] = field(default_factory=list)

    def add(self, expression: Apply) -> Kind:
        """Add the steps of an expression; returns the kind of the value that they leave on the stack."""
        first, rest = expression.arguments, expression.arguments[:0]
        if expression.function in _CHAINS | _LOGIC:
            first, rest = first[:2], first[2:]
        kind = self._add(replace(expression, arguments=first), [self._computed(argument) for argument in first])
        for argument in rest:
            chain = Apply(expression.function, (expression, argument))
            kind = self._add(chain, [kind, self._computed(argument)])
        return kind

    def _computed(self, argument: Expression) -> Kind | None:
        """The kind of an operand on the stack; nothing for an operand of the row."""
        return self.add(argument) if isinstance(argument, Apply) and argument.arguments else None

    def _add(self, expression: Apply, computed: list[Kind | None]) -> Kind:
        taken = sum(kind is not None for kind in computed)
        known: dict[Variable, Kind] = {}
        given: list[Expression] = []
        operands: list[Expression] = []
        left = taken
        for place, (argument, kind) in enumerate(zip(expression.arguments, computed, strict=True)):
            if _is_pattern(expression, place):
                operands.append(argument)
                continue
            if kind is None:
                operand = Variable(f".{GIVEN}.{len(given)}")
                known[operand] = kind_of(argument, self.kinds)
                given.append(argument)
            else:
                left -= 1
                operand = Variable(f".{STACK}.{left}")
                known[operand] = kind
            operands.append(operand)
        applied = replace(expression, arguments=tuple(operands))
        self.steps.append(Step(Template(applied, tuple(known.items()), taken), tuple(given)))
        return kind_of(applied, known)


def _is_pattern(expression: Apply, place: int) -> bool:
    """Whether an argument stays in the template: a constant pattern, with its flags, is translated beforehand."""
    is_constant = isinstance(expression.arguments[place], Constant)
    return is_constant and place > 0 and expression.function in _WITH_PATTERNS


def _has_steps(expression: Apply) -> bool:
    is_chain = expression.function in _CHAINS | _LOGIC and len(expression.arguments) > 2
    return is_chain or any(isinstance(argument, Apply) and argument.arguments for argument in expression.arguments)


@lru_cache(maxsize=1 << 14)
def _weight(expression: Expression) -> int:
    """The weight of the heaviest path from the expression to a leaf."""
    if not isinstance(expression, Apply):
        return 0
    return _own_weight(expression) + max(map(_weight, expression.arguments), default=0)


def _own_weight(expression: Apply) -> int:
    others = max(1, len(expression.arguments) - 1)
    if expression.function in _CHAINS:
        return others
    if expression.function in _LOGIC:
        return 1 + others // _OPERANDS_PER_LEVEL
    if expression.function in ("IN", "NOT IN"):
        return _WEIGHTS["="] * min(others, _MOST_COMPARISONS)
    return _WEIGHTS.get(expression.function, 1)
