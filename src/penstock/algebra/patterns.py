"""Groups of the syntax tree as algebra (SPARQL 1.1 §18.2.2.5 and .6)."""

from __future__ import annotations

from collections.abc import Callable

from penstock.algebra.expressions import Apply, Exists, Expression, Variable
from penstock.algebra.operators import (
    BasicGraphPattern,
    Extend,
    Filter,
    Join,
    LeftJoin,
    Minus,
    Operator,
    ReadElement,
    ReadGraph,
    ReadWindow,
    Service,
    Table,
    Union,
)
from penstock.algebra.services import service_call
from penstock.algebra.triples import TripleBuilder, term
from penstock.syntax import ast

EMPTY = BasicGraphPattern(())
"""Z, the pattern that matches once and binds nothing."""


class PatternBuilder:
    """Translates patterns; `sub_select` translates a sub-select."""

    def __init__(self, sub_select: Callable[[ast.SubSelect], Operator]) -> None:
        self.sub_select = sub_select
        self.triples = TripleBuilder()
        self._is_in_window = False

    def group(self, group: ast.Group) -> Operator:
        """§18.2.2.6: joins the elements in order, and applies all filters on top."""
        assert group.window is None, "the explicit form has no windows inside groups"
        pattern: Operator = EMPTY
        filters: list[Expression] = []
        triples: list[ast.Triples] = []
        for element in group.elements:
            if isinstance(element, ast.Triples):
                triples.append(element)
            elif isinstance(element, ast.Filter):
                filters.append(self.expression(element.condition))
            else:
                pattern = self._with_triples(pattern, triples)
                pattern = self._with_element(pattern, element)
        pattern = self._with_triples(pattern, triples)
        return Filter(conjunction(filters), pattern) if filters else pattern

    def _with_triples(self, pattern: Operator, triples: list[ast.Triples]) -> Operator:
        """Triples with only FILTERs between them form one basic graph pattern."""
        if not triples:
            return pattern
        joined = join(pattern, self.triples.pattern(triples))
        triples.clear()
        return joined

    def _with_element(self, pattern: Operator, element: ast.Element) -> Operator:
        match element:
            case ast.Optional(inner):
                right = self.group(inner)
                if isinstance(right, Filter) and any(isinstance(part, ast.Filter) for part in inner.elements):
                    return LeftJoin(pattern, right.source, right.condition)
                return LeftJoin(pattern, right)
            case ast.Minus(inner):
                return Minus(pattern, self.group(inner))
            case ast.Bind(expression, variable):
                return Extend(pattern, Variable(variable.name), self.expression(expression))
            case _:
                return join(pattern, self._element(element))

    def _element(self, element: ast.Element) -> Operator:
        match element:
            case ast.Group():
                return self.group(element)
            case ast.SubSelect():
                return self.sub_select(element)
            case ast.Union(patterns):
                return Union.of([self.group(pattern) for pattern in patterns])
            case ast.InlineData():
                return table(element)
            case ast.Graph(name, pattern):
                read = ReadElement if self._is_in_window else ReadGraph
                return read(term(name), self.group(pattern))
            case ast.WindowBlock(name, pattern):
                return ReadWindow(term(name), self._group_in_window(pattern))
            case ast.Service(name, pattern, silent):
                return Service(term(name), self.group(pattern), silent, service_call(element))
            case _:
                raise TypeError(f"not an element of the explicit form: {element}")

    def _group_in_window(self, group: ast.Group) -> Operator:
        """Everything inside a WINDOW block reads that window, including GRAPH."""
        was_in_window, self._is_in_window = self._is_in_window, True
        try:
            return self.group(group)
        finally:
            self._is_in_window = was_in_window

    def expression(self, expression: ast.Expression) -> Expression:
        match expression:
            case ast.Variable() | ast.Constant():
                return term(expression)
            case ast.Operation(operator, operands):
                return Apply(operator, tuple(self.expression(operand) for operand in operands))
            case ast.Call(name, arguments):
                return Apply(name, tuple(self.expression(argument) for argument in arguments))
            case ast.FunctionCall(function, arguments):
                return Apply(f"<{function.text}>", tuple(self.expression(argument) for argument in arguments))
            case ast.Exists(pattern, negated):
                return Exists(self.group(pattern), negated)
            case ast.Aggregate():
                raise TypeError("the modifiers take aggregates out of expressions first")


def join(left: Operator, right: Operator) -> Operator:
    """Join; Z, its neutral element, is dropped."""
    if left == EMPTY:
        return right
    return left if right == EMPTY else Join(left, right)


def conjunction(conditions: list[Expression]) -> Expression:
    return conditions[0] if len(conditions) == 1 else Apply("&&", tuple(conditions))


def table(data: ast.InlineData) -> Table:
    rows = tuple(tuple(None if value is None else value.term for value in row) for row in data.rows)
    return Table(tuple(Variable(variable.name) for variable in data.variables), rows)
