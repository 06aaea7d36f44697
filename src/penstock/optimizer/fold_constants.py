"""Computes constant parts of expressions in advance (SPARQL 1.1 §17.2 and §17.3).

Errors are kept: `false && error` is false, `true || error` is true, and any other expression that may be an error is
left unchanged. The rule folds booleans, comparisons of exact numbers, IRIs and plain strings, sums and products of
small integers, and BOUND of a variable that every solution binds.
"""

from __future__ import annotations

import operator as python
import re
from collections.abc import Callable, Mapping
from decimal import Decimal

from penstock.algebra.expressions import Apply, Constant, Expression, Variable
from penstock.algebra.operators import Extend, Filter, LeftJoin, Operator
from penstock.optimizer.knowledge import Knowledge
from penstock.optimizer.rewriting import from_the_leaves, with_arguments, with_expressions
from penstock.rdf.terms import IRI, Literal
from penstock.rdf.vocabulary import XSD_BOOLEAN, XSD_DECIMAL, XSD_INTEGER, XSD_STRING

TRUE, FALSE = (Constant(Literal(text, XSD_BOOLEAN)) for text in ("true", "false"))

_Value = bool | Decimal | str | IRI

_EXACT = {XSD_INTEGER: re.compile(r"[+-]?[0-9]+"), XSD_DECIMAL: re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)")}
_BOOLEANS = {"true": True, "1": True, "false": False, "0": False}

_EQUALITIES: Mapping[str, Callable[[object, object], bool]] = {"=": python.eq, "!=": python.ne}
_COMPARISONS: Mapping[str, Callable[[Decimal, Decimal], bool]] = {
    "<": python.lt,
    "<=": python.le,
    ">": python.gt,
    ">=": python.ge,
}
_ARITHMETIC: Mapping[str, Callable[[int, int], int]] = {"+": python.add, "-": python.sub, "*": python.mul}

_SMALL = 10**15
"""Products of numbers below this limit fit on every engine."""


def fold_constants(operator: Operator, knowledge: Knowledge) -> Operator:
    def fold(inner: Operator) -> Operator:
        is_condition = isinstance(inner, Filter | LeftJoin)
        certain: frozenset[Variable] = frozenset()
        if isinstance(inner, Filter | Extend):
            certain = knowledge.scope(inner.source).certain
        elif isinstance(inner, LeftJoin):
            certain = knowledge.scope(inner.left).certain | knowledge.scope(inner.right).certain
        return with_expressions(inner, lambda expression: folded(expression, certain, is_condition=is_condition))

    return from_the_leaves(operator, fold)


def folded(
    expression: Expression, certain: frozenset[Variable] = frozenset(), *, is_condition: bool = False
) -> Expression:
    """Folds the constant parts of the expression; `is_condition`: only whether it is true matters."""
    if not isinstance(expression, Apply):
        return expression
    asks = expression.function in ("&&", "||", "!")
    arguments = [
        folded(argument, certain, is_condition=asks or (expression.function == "IF" and place == 0))
        for place, argument in enumerate(expression.arguments)
    ]
    call = with_arguments(expression, arguments)
    match call:
        case Apply("&&" | "||" as junction):
            return _junction(call, junction == "||", is_condition)
        case Apply("!", (Constant() as operand,)):
            return _truth(operand, call, negated=True)
        case Apply("IF", (Constant() as condition, chosen, other)):
            truth = _value(condition)
            return call if not isinstance(truth, bool) else chosen if truth else other
        case Apply("COALESCE", (Constant() as first, *_)):
            return first
        case Apply("BOUND", (Variable() as variable,)) if variable in certain:
            return TRUE
        case Apply(function, (Constant() as left, Constant() as right)):
            return _compared(function, _value(left), _value(right)) or _computed(call, left, right)
    return call


def _junction(call: Apply, decisive: bool, is_condition: bool) -> Expression:
    """False decides a conjunction, true decides a disjunction; the other value is dropped."""
    truths = [_value(operand) if isinstance(operand, Constant) else None for operand in call.arguments]
    if any(truth is decisive for truth in truths):
        return TRUE if decisive else FALSE
    left = [operand for operand, truth in zip(call.arguments, truths, strict=True) if truth is not (not decisive)]
    if not left:
        return FALSE if decisive else TRUE
    if len(left) == 1:
        return left[0] if is_condition else call
    return call if len(left) == len(call.arguments) else Apply(call.function, tuple(left))


def _truth(operand: Constant, call: Apply, *, negated: bool) -> Expression:
    value = _value(operand)
    return call if not isinstance(value, bool) else TRUE if value is not negated else FALSE


def _compared(function: str, left: _Value | None, right: _Value | None) -> Expression | None:
    if left is None or right is None or type(left) is not type(right):
        return None
    holds: bool | None = None
    if function in _EQUALITIES:
        holds = _EQUALITIES[function](left, right)
    elif function in _COMPARISONS and isinstance(left, Decimal) and isinstance(right, Decimal):
        holds = _COMPARISONS[function](left, right)
    return None if holds is None else TRUE if holds else FALSE


def _computed(call: Apply, left: Constant, right: Constant) -> Expression:
    numbers = [_small_integer(left), _small_integer(right)]
    if call.function not in _ARITHMETIC or numbers[0] is None or numbers[1] is None:
        return call
    return Constant(Literal(str(_ARITHMETIC[call.function](numbers[0], numbers[1])), XSD_INTEGER))


def _small_integer(constant: Constant) -> int | None:
    value = _value(constant)
    is_integer = isinstance(constant.term, Literal) and constant.term.datatype == XSD_INTEGER
    return int(value) if is_integer and isinstance(value, Decimal) and abs(value) < _SMALL else None


def _value(constant: Constant) -> _Value | None:
    """The value of the term; None if it is not certain."""
    term = constant.term
    if isinstance(term, IRI):
        return term
    if term.datatype == XSD_BOOLEAN:
        return _BOOLEANS.get(term.lexical)
    if term.datatype in _EXACT:
        return Decimal(term.lexical) if _EXACT[term.datatype].fullmatch(term.lexical) else None
    return term.lexical if term.datatype == XSD_STRING and term.language is None else None
