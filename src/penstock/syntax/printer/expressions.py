"""Expressions with minimal parentheses (SPARQL 1.1 §17, productions Expression to Aggregate).

Parentheses follow from the parser: it makes one flat node of `a + b + c` and nests to the left if the operator changes.
So a node of the same operator nested on the left, and any node nested on the right, was written in parentheses.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from enum import IntEnum
from typing import ClassVar

from penstock.rdf.terms import Literal
from penstock.syntax import ast
from penstock.syntax.printer.terms import TermPrinter, string


class Precedence(IntEnum):
    """The precedence of expressions, lowest first (the order of the productions)."""

    OR = 1
    AND = 2
    COMPARISON = 3
    ADDITIVE = 4
    MULTIPLICATIVE = 5
    UNARY = 6
    PRIMARY = 7


_BINARY = {
    "||": Precedence.OR,
    "&&": Precedence.AND,
    "+": Precedence.ADDITIVE,
    "-": Precedence.ADDITIVE,
    "*": Precedence.MULTIPLICATIVE,
    "/": Precedence.MULTIPLICATIVE,
}

# Names that the SPARQL grammar, or C-SPARQL, does not write in capitals.
_CUSTOMARY_NAMES = {
    "ISBLANK": "isBlank",
    "ISIRI": "isIRI",
    "ISLITERAL": "isLiteral",
    "ISNUMERIC": "isNumeric",
    "SAMETERM": "sameTerm",
    "TIMESTAMP": "timestamp",
}


class ExpressionPrinter(TermPrinter, ABC):
    has_timestamps: ClassVar[bool] = False

    @abstractmethod
    def group(self, opening: str, group: ast.Group) -> str:
        """GroupGraphPattern, which EXISTS needs"""

    def expression(self, expression: ast.Expression, loosest: Precedence = Precedence.OR) -> str:
        """Expression, in parentheses if its precedence is lower than `loosest`"""
        text = self._bare_expression(expression)
        return text if _precedence(expression) >= loosest else f"({text})"

    def constraint(self, expression: ast.Expression) -> str:
        """Constraint: what may follow FILTER and HAVING"""
        match expression:
            case ast.Call() | ast.FunctionCall() | ast.Exists():
                return self.expression(expression)
            case _:
                return f"({self.expression(expression)})"

    def named_expression(self, expression: ast.Expression, variable: ast.Variable) -> str:
        """`(expression AS ?variable)`, as in SelectClause, GroupCondition and Bind"""
        return f"({self.expression(expression)} AS {self.variable(variable)})"

    def _bare_expression(self, expression: ast.Expression) -> str:
        match expression:
            case ast.Variable():
                return self.variable(expression)
            case ast.Constant():
                return self.constant(expression)
            case ast.Operation():
                return self._operation(expression)
            case ast.Call():
                return self._built_in_call(expression)
            case ast.FunctionCall():
                return self._function_call(expression)
            case ast.Aggregate():
                return self.aggregate(expression)
            case ast.Exists(pattern, negated):
                return self.group("NOT EXISTS" if negated else "EXISTS", pattern)

    def _operation(self, operation: ast.Operation) -> str:
        operator, operands = operation.operator, operation.operands
        if operator in ("IN", "NOT IN"):
            return f"{self.expression(operands[0], Precedence.ADDITIVE)} {operator} ({self._expressions(operands[1:])})"
        if len(operands) == 1:
            return f"{operator}{self._operand_of_sign(operator, operands[0])}"
        if operator in _BINARY:
            return self._chain(operator, operands)
        left, right = (self.expression(operand, Precedence.ADDITIVE) for operand in operands)
        return f"{left} {operator} {right}"

    def _chain(self, operator: str, operands: Sequence[ast.Expression]) -> str:
        """ConditionalOrExpression, ConditionalAndExpression, AdditiveExpression, MultiplicativeExpression"""
        precedence = _BINARY[operator]
        tighter = Precedence(precedence + 1)
        first, *others = operands
        repeats_operator = isinstance(first, ast.Operation) and first.operator == operator and len(first.operands) > 1
        texts = [self.expression(first, tighter if repeats_operator else precedence)]
        texts += (self.expression(operand, tighter) for operand in others)
        return f" {operator} ".join(texts)

    def _operand_of_sign(self, operator: str, operand: ast.Expression) -> str:
        """UnaryExpression; `-1` would be a literal, so the minus of 1 is `-(1)`"""
        text = self.expression(operand, Precedence.PRIMARY)
        makes_number = operator in "+-" and isinstance(operand, ast.Constant) and isinstance(operand.term, Literal)
        return f"({text})" if makes_number else text

    def _built_in_call(self, call: ast.Call) -> str:
        """BuiltInCall"""
        if call.name == "TIMESTAMP" and not self.has_timestamps:
            raise self.cannot("timestamp(…)")
        return f"{_CUSTOMARY_NAMES.get(call.name, call.name)}({self._expressions(call.arguments)})"

    def _function_call(self, call: ast.FunctionCall) -> str:
        """FunctionCall, iriOrFunction, ArgList"""
        if call.distinct and not call.arguments:
            raise self.cannot("a function call with DISTINCT but no arguments")
        distinct = "DISTINCT " if call.distinct else ""
        return f"{self.constant(call.function)}({distinct}{self._expressions(call.arguments)})"

    def aggregate(self, aggregate: ast.Aggregate) -> str:
        """Aggregate"""
        distinct = "DISTINCT " if aggregate.distinct else ""
        argument = "*" if aggregate.argument is None else self.expression(aggregate.argument)
        separator = "" if aggregate.separator is None else f" ; SEPARATOR = {string(aggregate.separator)}"
        return f"{aggregate.name}({distinct}{argument}{separator})"

    def _expressions(self, expressions: Sequence[ast.Expression]) -> str:
        """ExpressionList without its parentheses"""
        return ", ".join(map(self.expression, expressions))


def _precedence(expression: ast.Expression) -> Precedence:
    if not isinstance(expression, ast.Operation):
        return Precedence.PRIMARY
    if expression.operator in ("IN", "NOT IN"):
        return Precedence.COMPARISON
    if len(expression.operands) == 1:
        return Precedence.UNARY
    return _BINARY.get(expression.operator, Precedence.COMPARISON)
