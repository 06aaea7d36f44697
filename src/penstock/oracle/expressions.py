"""Expressions over the oracle's store, which keeps some terms in another form (`penstock.oracle.stored_terms`).

An expression is rewritten for one of two uses. BIND, projections, GROUP BY, sameTerm and DISTINCT use its stored
term. All other functions use its value. Results of functions are stored unchanged.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from penstock.oracle.aggregates import Aggregates
from penstock.oracle.functions import FAILED, call
from penstock.oracle.stored_terms import stored_constant
from penstock.oracle.timestamps import TimedPattern, timestamp_expression
from penstock.rdf.terms import Literal
from penstock.rdf.vocabulary import XSD
from penstock.syntax import ast

_ORDERINGS = {"<": "less", ">": "less", "<=": "less-or-equal", ">=": "less-or-equal"}

# If the optional argument of SUBSTR, REGEX or REPLACE is missing, the parser of the store reads the others twice, and
# the terms inside them four times.
_NO_FLAGS = ast.Constant(Literal(""))
_ALL = ast.Constant(Literal("2147483647", XSD + "integer"))


class ExpressionRewriting:
    """Rewrites the expressions of one graph pattern. `pattern` rewrites the pattern inside EXISTS."""

    def __init__(
        self, aggregates: Aggregates, timed: list[TimedPattern], pattern: Callable[[ast.Group], ast.Group]
    ) -> None:
        self.aggregates = aggregates
        self.timed = timed
        self.pattern = pattern

    def term(self, expression: ast.Expression) -> ast.Expression:
        match expression:
            case ast.Variable():
                return expression
            case ast.Constant():
                return stored_constant(expression)
            case ast.Call("IF", (condition, *branches)):
                return ast.Call("IF", (self.condition(condition), *map(self.term, branches)))
            case ast.Call("COALESCE", arguments):
                return ast.Call("COALESCE", tuple(map(self.term, arguments)))
            case ast.Call("STRDT", (lexical, datatype)):
                return call("typed", self.value(lexical), self.value(datatype))
            case ast.Aggregate("MIN" | "MAX" | "SAMPLE", argument) if argument is not None:
                return self.aggregates.call(expression, self.term(argument))
        return self._computed(expression)

    def value(self, expression: ast.Expression) -> ast.Expression:
        match expression:
            case ast.Constant():
                return call("value", stored_constant(expression)) if _is_kept(expression) else expression
            case ast.Variable() | ast.Call("STRDT") | ast.Aggregate("MIN" | "MAX" | "SAMPLE"):
                return call("value", self.term(expression))
            case ast.Call("IF", (condition, *branches)):
                return ast.Call("IF", (self.condition(condition), *map(self.value, branches)))
            case ast.Call("COALESCE", arguments):
                return ast.Call("COALESCE", tuple(map(self.value, arguments)))
        return self._computed(expression)

    def condition(self, expression: ast.Expression) -> ast.Expression:
        """The effective boolean value. The store's engine lacks it for ill-typed terms and strings with a language."""
        value = self.value(expression)
        return value if _is_boolean(expression) else call("effective-boolean", value)

    def _computed(self, expression: ast.Expression) -> ast.Expression:
        """Rewrites functions whose result is a new term."""
        match expression:
            case ast.Exists(pattern):
                return replace(expression, pattern=self.pattern(pattern))
            case ast.Call("TIMESTAMP", arguments):
                return timestamp_expression(arguments, self.timed)
            case ast.Call("BOUND"):
                return expression
            case ast.Call("SAMETERM", arguments):
                return ast.Call("SAMETERM", tuple(map(self.term, arguments)))
            case ast.Call("STR", (argument,)):
                return call("string", self.term(argument))
            case ast.Call("DATATYPE", (argument,)):
                return call("datatype", self.term(argument))
            case ast.Call("REPLACE", (text, pattern, replacement, *flags)):
                is_plain = isinstance(pattern, ast.Variable | ast.Constant)
                pattern, replacement = self.value(pattern), self.value(replacement)
                if not is_plain:  # it is written once
                    return call("replace", self.value(text), pattern, replacement, *map(self.value, flags))
                replaced = call("replacement", pattern, replacement)
                return ast.Call(
                    "REPLACE", (self.value(text), pattern, replaced, *map(self.value, flags or [_NO_FLAGS]))
                )
            case ast.Call("REGEX", (text, pattern)):
                return ast.Call("REGEX", (self.value(text), self.value(pattern), _NO_FLAGS))
            case ast.Call("SUBSTR", (text, start)):
                return ast.Call("SUBSTR", (self.value(text), self.value(start), _ALL))
            case ast.Call(name, arguments):
                return ast.Call(name, tuple(map(self.value, arguments)))
            case ast.FunctionCall(_, arguments):
                return replace(expression, arguments=tuple(map(self.value, arguments)))
            case ast.Operation("<" | ">" | "<=" | ">=" as operator, (left, right)):
                sides = (left, right) if operator in ("<", "<=") else (right, left)
                return call(_ORDERINGS[operator], *map(self.value, sides))
            case ast.Operation("IN" | "NOT IN" as operator, (sought,)):
                found = call("in-nothing", self.term(sought))
                return found if operator == "IN" else ast.Operation("!", (found,))
            case ast.Operation("=" | "!=" as operator, operands):
                found = call("equal", *map(self.value, operands))
                return found if operator == "=" else ast.Operation("!", (found,))
            case ast.Operation("IN" | "NOT IN" as operator, (sought, *others)):
                values = [ast.Call("COALESCE", (self.value(other), FAILED)) for other in others]
                found = call("in", self.value(sought), *values)
                return found if operator == "IN" else ast.Operation("!", (found,))
            case ast.Operation("!" | "&&" | "||", operands):
                return replace(expression, operands=tuple(map(self.condition, operands)))
            case ast.Operation(_, operands):
                return replace(expression, operands=tuple(map(self.value, operands)))
            case ast.Aggregate():
                return self._aggregate(expression)
        raise TypeError(f"{type(expression).__name__} is no expression that computes something")

    def _aggregate(self, aggregate: ast.Aggregate) -> ast.Expression:
        """Uses the store's aggregate if it agrees with SPARQL 1.1: COUNT(*), and SUM and AVG without DISTINCT."""
        if aggregate.argument is None:
            return aggregate
        if aggregate.name in ("SUM", "AVG") and not aggregate.distinct:
            return replace(aggregate, argument=self.value(aggregate.argument))
        return self.aggregates.call(aggregate, self.term(aggregate.argument))


def _is_boolean(expression: ast.Expression) -> bool:
    """Whether it is known to compute a boolean."""
    return isinstance(expression, ast.Exists) or (
        isinstance(expression, ast.Operation) and expression.operator not in ("+", "-", "*", "/")
    )


def _is_kept(constant: ast.Constant) -> bool:
    return stored_constant(constant) is not constant
