"""How rules traverse an expression: its operators, and the patterns of EXISTS inside its conditions.

The query inside a SERVICE is sent unchanged, so no rule enters it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import fields, replace

from penstock.algebra.expressions import Apply, Exists, Expression
from penstock.algebra.operators import (
    BasicGraphPattern,
    Extend,
    Filter,
    Group,
    Join,
    LeftJoin,
    Operator,
    OrderBy,
    Service,
    Table,
    Union,
)

Change = Callable[[Operator], Operator]

UNIT = BasicGraphPattern(())
"""Z, the pattern that matches once and binds nothing: the neutral element of joins."""

NOTHING = Table((), ())
"""The pattern without solutions."""


def from_the_leaves(operator: Operator, change: Change) -> Operator:
    """Applies a function to every operator, children first."""

    def inside(inner: Operator) -> Operator:
        return from_the_leaves(inner, change)

    return change(with_inner(operator, inside))


def with_inner(operator: Operator, change: Change) -> Operator:
    """Applies a function to the children of an operator and to the patterns of its EXISTS."""
    if isinstance(operator, Service):
        return operator
    return with_expressions(with_children(operator, change), lambda expression: with_patterns(expression, change))


def with_children(operator: Operator, change: Change) -> Operator:
    changes: dict[str, Operator] = {}
    for field in fields(operator):
        value = getattr(operator, field.name)
        if isinstance(value, Operator):
            new = change(value)
            if new is not value:
                changes[field.name] = new
    return replace(operator, **changes) if changes else operator


def with_patterns(expression: Expression, change: Change) -> Expression:
    """Applies a function to the patterns of EXISTS in the expression."""
    match expression:
        case Exists(pattern):
            new = change(pattern)
            return expression if new is pattern else replace(expression, pattern=new)
        case Apply(_, arguments):
            return with_arguments(expression, [with_patterns(argument, change) for argument in arguments])
    return expression


def with_arguments(call: Apply, arguments: Iterable[Expression]) -> Apply:
    new = tuple(arguments)
    is_same = all(one is other for one, other in zip(new, call.arguments, strict=True))
    return call if is_same else replace(call, arguments=new)


def with_expressions(operator: Operator, change: Callable[[Expression], Expression]) -> Operator:
    """Applies a function to the expressions of an operator."""
    match operator:
        case LeftJoin(_, _, condition) if condition is not None:
            new = change(condition)
            return operator if new is condition else replace(operator, condition=new)
        case Filter(condition):
            new = change(condition)
            return operator if new is condition else replace(operator, condition=new)
        case Extend(_, _, expression):
            new = change(expression)
            return operator if new is expression else replace(operator, expression=new)
        case Group(_, keys, aggregates):
            changed = replace(
                operator,
                keys=tuple((variable, change(expression)) for variable, expression in keys),
                aggregates=tuple(
                    (v, a if a.argument is None else replace(a, argument=change(a.argument))) for v, a in aggregates
                ),
            )
            return operator if changed == operator else changed
        case OrderBy(_, conditions):
            changed_order = tuple((change(expression), descends) for expression, descends in conditions)
            return operator if changed_order == conditions else replace(operator, conditions=changed_order)
    return operator


def operands(operator: Operator) -> list[Operator]:
    """The operands of nested joins."""
    if isinstance(operator, Join):
        return [*operands(operator.left), *operands(operator.right)]
    return [operator]


def joined(operators: Iterable[Operator]) -> Operator:
    """Joins the operators from the left; UNIT if the list is empty."""
    whole: Operator | None = None
    for operator in operators:
        if operator != UNIT:
            whole = operator if whole is None else Join(whole, operator)
    return UNIT if whole is None else whole


def sides(operator: Operator) -> list[Operator]:
    """The operands of nested unions."""
    if isinstance(operator, Union):
        return [*sides(operator.left), *sides(operator.right)]
    return [operator]


def united(operators: Iterable[Operator]) -> Operator:
    every = list(operators)
    return Union.of(every) if every else NOTHING


def conjunction(conditions: Iterable[Expression]) -> Expression:
    """A conjunction of at least one condition."""
    every = tuple(conditions)
    return every[0] if len(every) == 1 else Apply("&&", every)


def filtered(operator: Operator, conditions: Iterable[Expression]) -> Operator:
    every = tuple(conditions)
    return Filter(conjunction(every), operator) if every else operator
