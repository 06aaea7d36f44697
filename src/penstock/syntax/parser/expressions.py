"""Expressions (SPARQL 1.1 grammar rules 69 to 71 and 110 to 128), by precedence climbing."""

from __future__ import annotations

from typing import NoReturn

from penstock.syntax import ast
from penstock.syntax.parser.cursor import MAX_OPERANDS
from penstock.syntax.parser.paths import PathRules
from penstock.syntax.suggestions import closest

_LEVELS = {
    "||": 1,
    "&&": 2,
    "=": 3, "!=": 3, "<": 3, ">": 3, "<=": 3, ">=": 3, "IN": 3, "NOT": 3,
    "+": 4, "-": 4,
    "*": 5, "/": 5,
}  # fmt: skip
_COMPARISON = 3

_OPERATOR_HABITS = {"==": "did you mean `=`?", "<>": "did you mean `!=`?"}

AGGREGATES = frozenset(("COUNT", "SUM", "MIN", "MAX", "AVG", "SAMPLE", "GROUP_CONCAT"))
BUILT_INS = frozenset(
    "STR LANG LANGMATCHES DATATYPE BOUND IRI URI BNODE RAND ABS CEIL FLOOR ROUND CONCAT STRLEN UCASE LCASE "
    "ENCODE_FOR_URI CONTAINS STRSTARTS STRENDS STRBEFORE STRAFTER YEAR MONTH DAY HOURS MINUTES SECONDS TIMEZONE TZ "
    "NOW UUID STRUUID MD5 SHA1 SHA256 SHA384 SHA512 COALESCE IF STRLANG STRDT SAMETERM ISIRI ISURI ISBLANK ISLITERAL "
    "ISNUMERIC REGEX SUBSTR REPLACE".split()
)
STREAM_BUILT_INS = BUILT_INS | {"TIMESTAMP"}


class ExpressionRules(PathRules):
    built_ins: frozenset[str] = BUILT_INS

    def group(self) -> ast.Group:
        raise NotImplementedError("PatternRules says what a group is; EXISTS needs it here")

    def expression(self) -> ast.Expression:
        """Rule 110. A chain of one operator becomes one n-ary operation, so that long chains do not nest."""
        return self._operation(1)

    def _operation(self, level: int) -> ast.Expression:
        """Rules 111 to 117: all binary operators that bind at least as tightly as `level`."""
        kinds = self.kinds
        left = self._unary()
        if _LEVELS.get(kinds[self.position], 0) < level:
            return left
        start = left.span.start
        previous = ""
        chain = [left]
        outer = self.nesting
        while (binding := _LEVELS.get(operator := kinds[self.position], 0)) >= level:
            if binding == _COMPARISON:
                if previous and _LEVELS[previous] == _COMPARISON:
                    self._reject_chained_comparison()
                chain = [self._comparison(self._chained(previous, chain, start), operator)]
            else:
                if previous and operator != previous:  # the left operand is one level deeper
                    self.enter()
                    chain = [self._chained(previous, chain, start)]
                self.position += 1
                self.limit(len(chain) + 1, MAX_OPERANDS, f"operands of {operator}")
                chain.append(self._operation(binding + 1))
            previous = operator
        self.nesting = outer
        return self._chained(previous, chain, start)

    def _chained(self, operator: str, operands: list[ast.Expression], start: int) -> ast.Expression:
        if len(operands) == 1:
            return operands[0]
        return ast.Operation(operator, tuple(operands), span=self.span_since(start))

    def _comparison(self, left: ast.Expression, operator: str) -> ast.Expression:
        """Rule 114: RelationalExpression."""
        self.position += 1
        if operator in ("IN", "NOT"):
            if operator == "NOT":
                self.expect("IN", "after NOT")
                operator = "NOT IN"
            operands = (left, *self._expression_list())
        else:
            operands = (left, self._operation(_COMPARISON + 1))
        return ast.Operation(operator, operands, span=self.span_since(left.span.start))

    def _reject_chained_comparison(self) -> NoReturn:
        self.reject(
            "comparisons cannot be chained",
            self.tokens.span(self.position),
            "join them with &&: ?a < ?b && ?b < ?c",
        )

    def _unary(self) -> ast.Expression:
        """Rule 118."""
        kind = self.kinds[self.position]
        if kind in ("!", "-", "+") and not self.at_signed_number():
            start = self.position
            self.position += 1
            operand = self._primary()
            return ast.Operation(kind, (operand,), span=self.span_from(start))
        return self._primary()

    def _primary(self) -> ast.Expression:
        """Rule 119: PrimaryExpression."""
        kind = self.kinds[self.position]
        if kind == "var":
            return self.variable()
        if kind == "(":
            return self.bracketed()
        if kind in ("pname", "iri"):
            return self.iri_or_function()
        if kind == "str":
            return self.literal()
        if self.at_number():
            return self.number()
        if kind in ("TRUE", "FALSE"):
            return self.boolean()
        if kind in self.built_ins or kind in AGGREGATES or kind in ("EXISTS", "NOT"):
            return self.built_in_call()
        self._fail_primary()

    def _fail_primary(self) -> NoReturn:
        word = self.texts[self.position]
        if self.kind.isupper() and self.kinds[self.position + 1] == "(":
            near = closest(word, self.built_ins | AGGREGATES)
            self.reject(
                f"there is no function {word}",
                self.tokens.span(self.position),
                f"did you mean {near}?" if near else "call other functions by their IRI: <http://…>(…)",
            )
        hint = _OPERATOR_HABITS.get(self.texts[self.position - 1] + self.texts[self.position])
        if hint is not None:
            self.fail("an expression", hint)
        self.fail_term("an expression: a variable, a value, a function call or (…)")

    def bracketed(self) -> ast.Expression:
        """Rule 120: BrackettedExpression."""
        self.enter()
        self.expect("(", "before the expression")
        inner = self.expression()
        self.expect(")", "to close the expression")
        self.leave()
        return inner

    def iri_or_function(self) -> ast.Expression:
        """Rule 128; also a function call alone (rule 70)."""
        start = self.position
        name = self.iri()
        if self.kind != "(":
            return name
        distinct = self.kinds[self.position + 1] == "DISTINCT"
        arguments = self._arguments(distinct)
        return self.function_call(name, arguments, distinct, start)

    def function_call(
        self, name: ast.Constant, arguments: tuple[ast.Expression, ...], distinct: bool, start: int
    ) -> ast.Expression:
        return ast.FunctionCall(name, arguments, distinct, span=self.span_from(start))

    def _arguments(self, distinct: bool = False) -> tuple[ast.Expression, ...]:
        """Rule 71: ArgList, possibly empty."""
        self.enter()
        self.expect("(", "before the arguments")
        if distinct:
            self.position += 1
        arguments: list[ast.Expression] = []
        if distinct or self.kind != ")":
            arguments.append(self.expression())
            while self.accept(","):
                arguments.append(self.expression())
        if not self.accept(")"):
            self.fail("`,` or `)` after the argument")
        self.leave()
        return tuple(arguments)

    def _asked_group(self) -> ast.Group:
        """The pattern of an EXISTS; it is inside an expression inside a pattern, which makes two levels."""
        self.enter()
        group = self.group()
        self.leave()
        return group

    def _expression_list(self) -> tuple[ast.Expression, ...]:
        """Rule 72."""
        if self.kind != "(":
            self.fail("`(` before the list of IN")
        return self._arguments()

    def built_in_call(self) -> ast.Expression:
        """Rule 121: BuiltInCall; the number of arguments is checked after parsing."""
        start = self.position
        name = self.kinds[start]
        if name == "NOT":
            self.position += 1
            self.expect("EXISTS", "after NOT")
            return ast.Exists(self._asked_group(), negated=True, span=self.span_from(start))
        if name == "EXISTS":
            self.position += 1
            return ast.Exists(self._asked_group(), span=self.span_from(start))
        if name in AGGREGATES:
            return self.aggregate()
        self.position += 1
        if self.kind != "(":
            self.fail(f"`(` after the function {name}")
        return ast.Call(_CANONICAL.get(name, name), self._arguments(), span=self.span_from(start))

    def aggregate(self) -> ast.Aggregate:
        """Rule 127."""
        start = self.position
        name = self.kinds[start]
        self.position += 1
        self.enter()
        self.expect("(", f"after {name}")
        distinct = self.accept("DISTINCT")
        argument = None
        separator = None
        if not (name == "COUNT" and self.accept("*")):
            argument = self.expression()
        if name == "GROUP_CONCAT" and self.accept(";"):
            self.expect("SEPARATOR", "in GROUP_CONCAT")
            self.expect("=", "after SEPARATOR")
            separator = self.string()
        self.expect(")", f"to close {name}")
        self.leave()
        return ast.Aggregate(name, argument, distinct, separator, span=self.span_from(start))

    def constraint(self) -> ast.Expression:
        """Rule 69: the conditions of FILTER and HAVING."""
        kind = self.kinds[self.position]
        if kind == "(":
            return self.bracketed()
        if kind in ("pname", "iri"):
            call = self.iri_or_function()
            if isinstance(call, ast.Constant):
                self.reject("an IRI is not a condition", call.span, "write (…) around a condition")
            return call
        if kind in self.built_ins or kind in AGGREGATES or kind in ("EXISTS", "NOT"):
            return self.built_in_call()
        if self.kind.isupper() and self.kinds[self.position + 1] == "(":
            self._fail_primary()
        self.fail("a condition: (…), a function call, EXISTS {…} or NOT EXISTS {…}", "write (…) around the condition")


_CANONICAL = {"URI": "IRI", "ISURI": "ISIRI"}
"""Synonyms of the grammar that mean one function."""
