"""Random expressions as text.

What SPARQL leaves open is left out: RAND, UUID and BNODE; division other than by powers of two, for the digits of a
decimal quotient are the engine's choice; STR of what was computed, for so is the spelling of a double.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from hypothesis import strategies as st
from tests.engines.strategies_inputs import LITERALS, NODES, NUMBERS

T = TypeVar("T")

VARIABLES = ("?a", "?b", "?c", "?n", "?l")
"""Those that patterns bind to terms of the data; an expression is assigned to a new one, `?v1`, `?v2`, …"""

EQUALITIES = ("=", "!=")
ORDERINGS = ("<", ">", "<=", ">=")
REPLACEMENTS = ('"b"', '"[$1]"', r'"\\$"', r'"\\\\"', '"$0"')


class Drawing:
    """Draws parts of a text."""

    def __init__(self, draw: st.DrawFn) -> None:
        self.draw = draw
        self._made_up = 0

    def choose(self, *options: T) -> T:
        return self.draw(st.sampled_from(options))

    def chance(self, percent: int) -> bool:
        """Shrinks to False."""
        return self.draw(st.integers(0, 99)) >= 100 - percent

    def several(self, make: Callable[[], T], least: int, most: int) -> list[T]:
        return [make() for _ in range(self.draw(st.integers(least, most)))]

    def new_variable(self) -> str:
        self._made_up += 1
        return f"?v{self._made_up}"


class Expressions(Drawing):
    """`scope` are the variables to choose from; now and then there comes another, which is mostly unbound."""

    asks_for_time = False
    """Whether timestamp() may be asked for."""
    strays = True
    """Whether variables out of scope may come; in HAVING they may not."""

    def exists(self, scope: Sequence[str], depth: int) -> str:
        raise NotImplementedError("patterns can, expressions alone cannot")

    def any_variable(self, scope: Sequence[str]) -> str:
        if self.strays and (not scope or self.chance(5)):
            return self.choose(*VARIABLES)
        return self.choose(*scope)

    def data_variable(self, scope: Sequence[str]) -> str:
        return self.any_variable([variable for variable in scope if variable in VARIABLES] or scope)

    def literal(self) -> str:
        return self.choose(*LITERALS)

    def depth(self) -> int:
        """How many levels an expression may have: seldom many, for it doubles with each."""
        return self.choose(1, 2, 2, 2, 3, 3, 4)

    def expression(self, scope: Sequence[str], depth: int | None = None) -> str:
        if depth is None and self.chance(20):
            return self._chain(scope)
        depth = self.depth() if depth is None else depth
        return self.choose(self.condition, self.number, self.string, self.term)(scope, depth)

    def _chain(self, scope: Sequence[str]) -> str:
        """Functions of one argument within each other: the argument of each has to be written once."""
        kinds = (("ABS({})", "CEIL({})", "ROUND({})", "({} + 1)", "IF(true, {}, 2)"), ("UCASE({})", 'CONCAT({}, "b")'))
        functions = self.choose(*kinds)
        text = self.number(scope, 0) if functions is kinds[0] else self.string(scope, 0)
        for function in self.several(lambda: self.choose(*functions), 3, 4):
            text = function.format(text)
        return text

    def condition(self, scope: Sequence[str], depth: int = 2) -> str:
        kinds = ["comparison", "comparison", "bound", "test", "in"]
        if depth > 0:
            kinds += ["and", "or", "not", "truth", "exists", "text", "choice"]
        inner = lambda: self.condition(scope, depth - 1)  # noqa: E731
        match self.choose(*kinds):
            case "comparison":
                return self._comparison(scope, depth)
            case "bound":
                return f"BOUND({self.any_variable(scope)})"
            case "test":
                test = self.choose("ISIRI", "ISBLANK", "ISLITERAL", "ISNUMERIC")
                return f"{test}({self.term(scope, depth - 1)})"
            case "in":
                members = ", ".join(self.several(lambda: self.term(scope, depth - 1), 0, 3))
                return f"({self.any_variable(scope)} {self.choose('IN', 'NOT IN')} ({members}))"
            case "and":
                return f"({inner()} && {inner()})"
            case "or":
                return f"({inner()} || {inner()})"
            case "not":
                return f"(!{inner()})"
            case "truth":
                return self.choose("(!{})", "(!(!{}))", "IF({}, true, false)").format(self.any_variable(scope))
            case "exists":
                return self.exists(scope, depth - 1)
            case "choice":
                return self._choice(scope, depth, self.condition)
        return self._text_test(scope, depth)

    def _comparison(self, scope: Sequence[str], depth: int) -> str:
        operator = self.choose(*EQUALITIES, *ORDERINGS)
        match self.choose("numbers", "numbers", "terms", "strings", "same"):
            case "numbers":
                return f"({self.number(scope, depth - 1)} {operator} {self.number(scope, depth - 1)})"
            case "strings":
                return f"({self.string(scope, depth - 1)} {operator} {self.string(scope, depth - 1)})"
            case "same":
                return f"SAMETERM({self.term(scope, depth - 1)}, {self.term(scope, 0)})"
        return f"({self.term(scope, depth - 1)} {operator} {self.term(scope, depth - 1)})"

    def _text_test(self, scope: Sequence[str], depth: int) -> str:
        text = self.string(scope, depth - 1)
        match self.choose("regex", "contains", "langmatches"):
            case "regex":
                pattern, flags = self.choose('"a"', '"^b$"', '"[a-b]."', '"."'), self.choose("", ', "i"')
                return f"REGEX({text}, {pattern}{flags})"
            case "contains":
                name, part = self.choose("CONTAINS", "STRSTARTS", "STRENDS"), self.choose('"a"', '"b"', '""')
                return f"{name}({text}, {part})"
        language = self.choose('"*"', '"en"')
        return f"LANGMATCHES(LANG({self.any_variable(scope)}), {language})"

    def _choice(self, scope: Sequence[str], depth: int, make: Callable[[Sequence[str], int], str]) -> str:
        if self.chance(50):
            return f"COALESCE({make(scope, depth - 1)}, {make(scope, depth - 1)})"
        return f"IF({self.condition(scope, depth - 1)}, {make(scope, depth - 1)}, {make(scope, depth - 1)})"

    def number(self, scope: Sequence[str], depth: int = 1) -> str:
        kinds = ["variable", "variable", "constant"]
        if depth > 0:
            kinds += ["arithmetic", "arithmetic", "half", "round", "length", "choice", "part", "cast"]
            if self.asks_for_time:
                kinds += ["time"]
        match self.choose(*kinds):
            case "constant":
                return self.choose(*NUMBERS)
            case "arithmetic":
                operator = self.choose("+", "-", "*")
                return f"({self.number(scope, depth - 1)} {operator} {self.number(scope, depth - 1)})"
            case "half":
                return f"({self.number(scope, depth - 1)} / {self.choose(2, 4, 0)})"
            case "round":
                return f"{self.choose('ABS', 'CEIL', 'FLOOR', 'ROUND')}({self.number(scope, depth - 1)})"
            case "length":
                return f"STRLEN({self.string(scope, depth - 1)})"
            case "choice":
                return self._choice(scope, depth, self.number)
            case "part":
                return f"{self.choose('YEAR', 'MONTH', 'DAY', 'HOURS', 'SECONDS')}({self.term(scope, depth - 1)})"
            case "cast":
                datatype = self.choose("integer", "decimal", "double", "float")
                return f"xsd:{datatype}({self.term(scope, depth - 1)})"
            case "time":
                return f"TIMESTAMP({self.data_variable(scope)})"
        return self.any_variable([variable for variable in scope if variable[1] in "nv"] or scope)

    def string(self, scope: Sequence[str], depth: int = 1) -> str:
        kinds = ["str", "str", "constant", "language"]
        if depth > 0:
            kinds += ["concat", "case", "part", "choice", "before", "replace", "language tag", "zone"]
        match self.choose(*kinds):
            case "constant":
                return self.choose('"a"', '"b"@en', '""', '"Ab"')
            case "language":
                return f"LANG({self.any_variable(scope)})"
            case "concat":
                return f"CONCAT({self.string(scope, depth - 1)}, {self.string(scope, depth - 1)})"
            case "case":
                return f"{self.choose('UCASE', 'LCASE', 'ENCODE_FOR_URI', 'MD5')}({self.string(scope, depth - 1)})"
            case "part":
                return f"SUBSTR({self.string(scope, depth - 1)}, {self.choose('1', '2', '1, 1')})"
            case "choice":
                return self._choice(scope, depth, self.string)
            case "before":
                name, mark = self.choose("STRBEFORE", "STRAFTER"), self.choose('"a"', '"/"')
                return f"{name}({self.string(scope, depth - 1)}, {mark})"
            case "replace":
                pattern, replacement = self.choose('"a"', '"(.)b"', '"[a-b]+"'), self.choose(*REPLACEMENTS)
                return f"REPLACE({self.string(scope, depth - 1)}, {pattern}, {replacement})"
            case "language tag":
                return f'STRLANG({self.string(scope, depth - 1)}, "en")'
            case "zone":
                return f"TZ({self.term(scope, depth - 1)})"
        return f"STR({self.data_variable(scope)})"

    def term(self, scope: Sequence[str], depth: int = 1) -> str:
        kinds = ["variable", "variable", "node", "literal"]
        if depth > 0:
            kinds += ["datatype", "now", "choice", "typed", "iri", "computed"]
        match self.choose(*kinds):
            case "node":
                return self.choose(*NODES)
            case "literal":
                return self.literal()
            case "datatype":
                return f"DATATYPE({self.term(scope, depth - 1)})"
            case "now":
                cast = self.choose("boolean", "dateTime", "string")
                return "NOW()" if self.chance(20) else f"xsd:{cast}({self.data_variable(scope)})"
            case "typed":
                datatype = self.choose("xsd:integer", "xsd:int", "xsd:string", ":other")
                return f"STRDT({self.string(scope, depth - 1)}, {datatype})"
            case "iri":
                return f"IRI({self.choose(self.data_variable(scope), *NODES)})"
            case "computed":
                return self.expression(scope, depth - 1)
            case "choice":
                return self._choice(scope, depth, self.term)
        return self.any_variable(scope)
