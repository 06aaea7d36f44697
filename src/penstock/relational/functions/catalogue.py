"""The macro of each operator, built-in and cast, and the compilation of expressions to calls of macros.

An expression has a term as its value, a condition has a truth value. Comparisons and logic stay SQL booleans, and
become terms (`btrue`) only where a term is needed, so that filters are cheap.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal as OneOf

from sqlglot import exp

from penstock.algebra.expressions import Apply, Constant, Exists, Expression, Variable, parts_of
from penstock.rdf.terms import Literal
from penstock.rdf.vocabulary import XSD, XSD_STRING
from penstock.relational.functions import arithmetic, patterns
from penstock.relational.functions.bases import base_parts
from penstock.relational.functions.calls import (
    all_of,
    any_of,
    applied,
    bound,
    call,
    is_null,
    is_plain,
    reduced,
    term,
    text,
)
from penstock.relational.functions.families import Kind, Kinds, is_volatile, kind_of
from penstock.relational.functions.nesting import (
    MOST_WEIGHT,
    STACK,
    Template,
    in_short_chains,
    is_deep,
    is_long,
    operand,
    steps_of,
)

TERM_FUNCTIONS: Mapping[str, str] = {
    "STR": "sparql_str",
    "LANG": "sparql_lang",
    "DATATYPE": "sparql_datatype",
    "RAND": "sparql_rand",
    "STRLEN": "sparql_strlen",
    "UCASE": "sparql_ucase",
    "LCASE": "sparql_lcase",
    "ENCODE_FOR_URI": "sparql_encode_for_uri",
    "STRBEFORE": "sparql_strbefore",
    "STRAFTER": "sparql_strafter",
    "YEAR": "sparql_year",
    "MONTH": "sparql_month",
    "DAY": "sparql_day",
    "HOURS": "sparql_hours",
    "MINUTES": "sparql_minutes",
    "SECONDS": "sparql_seconds",
    "TIMEZONE": "sparql_timezone",
    "TZ": "sparql_tz",
    "UUID": "sparql_uuid",
    "STRUUID": "sparql_struuid",
    "MD5": "sparql_md5",
    "SHA1": "sparql_sha1",
    "SHA256": "sparql_sha256",
    "SHA384": "sparql_sha384",
    "SHA512": "sparql_sha512",
    "STRLANG": "sparql_strlang",
    "STRDT": "sparql_strdt",
    f"<{XSD}string>": "sparql_to_string",
    f"<{XSD}boolean>": "sparql_to_boolean",
    f"<{XSD}integer>": "sparql_to_integer",
    f"<{XSD}decimal>": "sparql_to_decimal",
    f"<{XSD}double>": "sparql_to_double",
    f"<{XSD}float>": "sparql_to_float_term",
    f"<{XSD}dateTime>": "sparql_to_date_time",
    f"<{XSD}date>": "sparql_to_date",
    f"<{XSD}dayTimeDuration>": "sparql_to_day_time",
}
"""Functions from terms to a term."""

CONDITIONS: Mapping[str, str] = {
    "LANGMATCHES": "sparql_langmatches",
    "CONTAINS": "sparql_contains",
    "STRSTARTS": "sparql_strstarts",
    "STRENDS": "sparql_strends",
    "SAMETERM": "sparql_same_term",
    "ISIRI": "sparql_is_iri",
    "ISURI": "sparql_is_iri",
    "ISBLANK": "sparql_is_blank",
    "ISLITERAL": "sparql_is_literal",
    "ISNUMERIC": "sparql_is_numeric",
}
"""Functions from terms to a truth value."""

COMPARISONS: Mapping[str, tuple[str, bool]] = {
    "<": ("less", False),
    "<=": ("at_most", False),
    ">": ("less", True),
    ">=": ("at_most", True),
}
"""The macro of a comparison (`sparql_less`, `sparql_string_less`), and whether its operands are swapped."""

_ORDERED_FAMILIES = {"string": "string", "language": "string", "time": "time", "boolean": "boolean"}

NOTHING_KNOWN: Kinds = {}

Columns = Callable[[Variable], exp.Expr]
ExistsCompiler = Callable[[Exists], exp.Expr]


class UnknownFunctionError(ValueError):
    """A function that this engine does not have; the message names it."""


def compile_expression(
    expression: Expression,
    column: Columns,
    *,
    exists: ExistsCompiler | None = None,
    now: exp.Expr | None = None,
    base: str | None = None,
    solution: exp.Expr | None = None,
    kinds: Kinds = NOTHING_KNOWN,
    most_weight: int = MOST_WEIGHT,
) -> exp.Expr:
    """The value of `expression`, a term; NULL if it is unbound or an error.

    `column` returns a variable's column, `exists` the truth value of an EXISTS, `now` the evaluation instant as a term;
    `base` resolves the relative references in IRI(); `solution` identifies the solution, for BNODE(…); `kinds` are the
    known kinds of the variables; an expression of more than `most_weight` is evaluated in steps.
    """
    return _ExpressionCompiler(column, exists, now, base, solution, kinds, most_weight).term(expression)


def compile_condition(
    expression: Expression,
    column: Columns,
    *,
    exists: ExistsCompiler | None = None,
    now: exp.Expr | None = None,
    base: str | None = None,
    solution: exp.Expr | None = None,
    kinds: Kinds = NOTHING_KNOWN,
    most_weight: int = MOST_WEIGHT,
) -> exp.Expr:
    """Whether `expression` holds: a BOOLEAN, TRUE exactly if a FILTER passes the solution.

    Otherwise it may be FALSE or NULL, whichever is cheaper.
    """
    return _ExpressionCompiler(column, exists, now, base, solution, kinds, most_weight).condition(
        expression, only_true=True
    )


@dataclass(slots=True)
class _Names:
    """Names for the values of expressions that are used more than once; each is compiled once."""

    values: list[tuple[str, exp.Expr]] = field(default_factory=list)
    of: dict[Expression, exp.Expr] = field(default_factory=dict)

    def name(self, expression: Expression, compile_term: Callable[[Expression], exp.Expr]) -> exp.Expr:
        if expression not in self.of:
            value = compile_term(expression)
            if not is_plain(value):
                name = f"operand_{len(self.values) + 1}"
                self.values.append((name, value))
                value = exp.column(name)
            self.of[expression] = value
        return self.of[expression].copy()


_ARITHMETIC = frozenset({"+", "-", "*", "/", "ABS", "CEIL", "FLOOR", "ROUND"})
_LARGEST_ARITHMETIC = 6
"""The maximum number of operators on numbers that are evaluated as a whole."""

_MOST_COMPARISONS = 32
"""A longer list after IN is folded: engines plan the comparison once, but evaluate it more slowly."""

_STACK, _STEP = exp.column("stack"), exp.column("step")
"""The parameters of the function that reduces the steps of a deep expression."""


@dataclass(frozen=True, slots=True)
class _ExpressionCompiler:
    column: Columns
    exists: ExistsCompiler | None
    now: exp.Expr | None
    base: str | None
    solution: exp.Expr | None
    kinds: Kinds
    most_weight: int

    def term(self, expression: Expression) -> exp.Expr:
        match expression:
            case Variable():
                return self.column(expression)
            case Constant(constant):
                return term(constant)
            case Apply() if is_deep(expression, self.most_weight):
                return self._in_steps(expression)
            case Apply("COALESCE", arguments):
                return exp.Coalesce(this=exp.null(), expressions=[self.term(argument) for argument in arguments])
            case Apply("IF", (condition, then, otherwise)):
                return self._if(condition, then, otherwise)
            case Apply(function) if function in _ARITHMETIC:
                return self._arithmetic(expression)
            case Apply("CONCAT", arguments):
                values = exp.Array(expressions=[self.term(argument) for argument in arguments])
                return applied("sparql_concat", values if arguments else exp.cast(values, "TEXT[]"))
            case Apply("SUBSTR", (string, start, size)):
                return applied("sparql_substr_of", self.term(string), self.term(start), self.term(size))
            case Apply("SUBSTR", (string, start)):
                return applied("sparql_substr", self.term(string), self.term(start))
            case Apply("REPLACE", (string, pattern, replacement, *flags)):
                return self._replace(string, pattern, replacement, flags)
            case Apply("IRI" | "URI", (argument,)):
                if self.base is None:
                    return applied("sparql_iri", self.term(argument))
                return applied("sparql_iri_in", self.term(argument), *map(text, base_parts(self.base)))
            case Apply("BNODE", ()):
                return call("sparql_new_blank")
            case Apply("BNODE", (argument,)):
                return applied("sparql_blank_of", self.term(argument), self.solution or text(""))
            case Apply("NOW", ()):
                if self.now is None:
                    raise ValueError("NOW() stands for the evaluation instant, and there is none here")
                return self.now.copy()
            case Apply(function, arguments) if function in TERM_FUNCTIONS:
                return applied(TERM_FUNCTIONS[function], *(self.term(argument) for argument in arguments))
            case _:
                return applied("sparql_boolean_term", self.condition(expression))

    def condition(self, expression: Expression, *, only_true: bool = False) -> exp.Expr:
        """The effective boolean value; with `only_true`, FALSE may stand for an error and an error for FALSE."""
        match expression:
            case Exists():
                if self.exists is None:
                    raise ValueError("EXISTS cannot be asked here")
                return self.exists(expression)
            case Apply("&&" | "||") if is_long(expression, self.most_weight):
                return self._holds(expression)
            case Apply("&&", operands):
                return all_of(*(self.condition(operand, only_true=only_true) for operand in operands))
            case Apply("||", operands):
                return any_of(*(self.condition(operand, only_true=only_true) for operand in operands))
            case Apply("!", (operand,)):
                return exp.not_(self.condition(operand))
            case Apply() if is_deep(expression, self.most_weight):
                return self._holds(expression)
            case Apply("=", (left, right)):
                return self._equal(left, right, only_true)
            case Apply("!=", (left, right)):
                return exp.not_(self._equal(left, right, False))
            case Apply("IN", (member, *others)):
                return self._in(member, others, only_true)
            case Apply("NOT IN", (member, *others)):
                return exp.not_(self._in(member, others, False))
            case Apply(operator, (left, right)) if operator in COMPARISONS:
                return self._compare(operator, left, right)
            case Apply("BOUND", (variable,)):
                return exp.not_(is_null(self.term(variable)))
            case Apply("REGEX", (string, pattern, *flags)):
                value = self.term(string)
                return _matched("sparql_regex", value, *self._pattern(pattern, flags))
            case Apply(function, arguments) if function in CONDITIONS:
                return applied(CONDITIONS[function], *(self.term(argument) for argument in arguments))
            case Constant(Literal("true" | "false" as lexical, datatype)) if datatype == XSD + "boolean":
                return exp.true() if lexical == "true" else exp.false()
            case Apply(function, _) if not _is_term_valued(function):
                raise UnknownFunctionError(f"there is no function {function}")
            case _:
                return self._holds(expression)

    def _holds(self, expression: Expression) -> exp.Expr:
        """The effective boolean value of a term."""
        if self._family(expression) == "boolean":
            return exp.In(this=self.term(expression), expressions=[text("btrue"), text("b1")])
        return applied("sparql_ebv", self.term(expression))

    def _in_steps(self, expression: Apply) -> exp.Expr:
        """The value of a deep expression: a list of steps, reduced to a stack that ends with its value."""
        steps = steps_of(expression, self.kinds)
        numbers = {
            template: text(str(place)) for place, template in enumerate(dict.fromkeys(s.template for s in steps))
        }
        program: list[exp.Expr] = [
            exp.Array(expressions=[numbers[step.template].copy(), *map(self.term, step.given)]) for step in steps
        ]
        done = [
            exp.If(
                this=number,
                true=call("sparql_pushed", _STACK, exp.Literal.number(template.taken), self._value(template)),
            )
            for template, number in numbers.items()
        ]
        empty = exp.cast(exp.Array(expressions=[]), "TEXT[]")
        return _item(reduced(program, (_STACK, _STEP), exp.Case(this=_item(_STEP, 0), ifs=done), empty), 0)

    def _value(self, template: Template) -> exp.Expr:
        """The stack after a step."""

        def column(variable: Variable) -> exp.Expr:
            where, place = operand(variable)
            return _item(_STACK, place) if where == STACK else _item(_STEP, place + 1)

        return replace(self, column=column, kinds=template.kinds).term(template.expression)

    def _family(self, expression: Expression) -> str | None:
        return kind_of(expression, self.kinds).family

    def _if(self, condition: Expression, then: Expression, otherwise: Expression) -> exp.Expr:
        """Engines copy the operand of `CASE … WHEN` for each WHEN; an IF in it therefore gets a name first."""
        asked = self.condition(condition)
        has_if = any(isinstance(part, Apply) and part.function == "IF" for part in parts_of(condition))
        name = "condition"
        branches = [
            exp.If(this=exp.true(), true=self.term(then)),
            exp.If(this=exp.false(), true=self.term(otherwise)),
        ]
        if not has_if:
            return exp.Case(this=asked, ifs=branches)
        return bound([(name, asked)], exp.Case(this=exp.column(name), ifs=branches))

    def _arithmetic(self, expression: Apply) -> exp.Expr:
        names = _Names()
        number = self._number(expression, names)
        otherwise = None if self._family(expression) == "number" else self._on_times(expression, names)
        return bound(names.values, arithmetic.as_term(number, otherwise))

    def _number(self, expression: Expression, names: _Names) -> arithmetic.Number:
        """An expression of operators on numbers; any other part is a leaf, with a name if it is not plain."""
        match in_short_chains(expression):
            case Apply(operator, operands) if operator in _ARITHMETIC and expression not in names.of:
                numbers = [
                    self._leaf(operand, names) if _size(operand) > _LARGEST_ARITHMETIC else self._number(operand, names)
                    for operand in operands
                ]
                if len(numbers) == 1:
                    return arithmetic.Operation(operator, (numbers[0],))
                left, *others = numbers
                for other in others:
                    left = arithmetic.Operation(operator, (left, other))
                return left
            case Constant(Literal() as literal) if self._family(expression) == "number":
                return arithmetic.constant(literal)
        return self._leaf(expression, names)

    def _leaf(self, expression: Expression, names: _Names) -> arithmetic.Leaf:
        tag = kind_of(expression, self.kinds).tag
        # A value of unknown type is read more than once; one that is new each time must not be.
        is_named = tag is None or is_volatile(expression) or expression in names.of
        return arithmetic.Leaf(names.name(expression, self.term) if is_named else self.term(expression), tag)

    def _on_times(self, expression: Expression, names: _Names) -> exp.Expr:
        """The results of `+` and `-` for times and durations, which do not combine with numbers: NULL if there surely
        are any.
        """
        if self._family(expression) == "number":
            return exp.null()
        match in_short_chains(expression):
            case _ if expression in names.of:
                return names.name(expression, self.term)
            case Apply("-", (operand,)):
                return applied("sparql_time_negated", self._on_times(operand, names))
            case Apply("+", (left, right, *others)):
                return self._summed("sparql_time_sum", [left, right, *others], names, exp.Literal.number(1))
            case Apply("-", (left, right, *others)):
                return self._summed("sparql_time_difference", [left, right, *others], names)
        return names.name(expression, self.term)

    def _summed(self, macro: str, operands: list[Expression], names: _Names, *direction: exp.Expr) -> exp.Expr:
        left, right, *others = [self._on_times(operand, names) for operand in operands]
        if not others:
            return applied(macro, left, right, *direction)
        sum_, other = exp.column("sum"), exp.column("other")
        return reduced([right, *others], (sum_, other), call(macro, sum_, other, *direction), left)

    def _equal(self, left: Expression, right: Expression, only_true: bool) -> exp.Expr:
        families = {self._family(left), self._family(right)}
        if "resource" in families or (only_true and families & {"string", "language"}):
            # A resource equals itself alone. So does a string; but whether it equals a literal of an unknown datatype
            # is an error, which matters under a negation only.
            return exp.EQ(this=self.term(left), expression=self.term(right))
        if "string" in families and "number" not in families:
            turned = (left, right) if self._family(right) == "string" else (right, left)
            return applied("sparql_equal_string", *map(self.term, turned))
        if families <= {"time", "boolean", "language"}:
            return applied("sparql_equal", self.term(left), self.term(right))
        names = _Names()
        otherwise = None
        if families != {"number"} and not (only_true and "number" in families):
            otherwise = call("sparql_equal", *(names.name(operand, self.term) for operand in (left, right)))
        equal = arithmetic.compared("=", self._number(left, names), self._number(right, names), otherwise)
        return bound(names.values, equal)

    def _compare(self, operator: str, left: Expression, right: Expression) -> exp.Expr:
        name, is_turned = COMPARISONS[operator]
        families = {self._family(left), self._family(right)}
        if "resource" in families:
            return exp.cast(exp.null(), "boolean")
        turned = (right, left) if is_turned else (left, right)
        ordered = {_ORDERED_FAMILIES[family] for family in families if family in _ORDERED_FAMILIES}
        if ordered and "number" not in families:
            return applied(f"sparql_{ordered.pop()}_{name}", *map(self.term, turned))
        names = _Names()
        otherwise = None
        if "number" not in families:
            otherwise = call(f"sparql_{name}", *(names.name(operand, self.term) for operand in turned))
        held = arithmetic.compared(operator, self._number(left, names), self._number(right, names), otherwise)
        return bound(names.values, held)

    def _in(self, member: Expression, others: list[Expression], only_true: bool) -> exp.Expr:
        if not others:
            # An unbound member is an error even here (SPARQL 1.1 §17.2).
            return exp.false() if only_true else exp.Nullif(this=is_null(self.term(member)), expression=exp.true())
        plain = {"resource", "string", "language"} if only_true else {"resource"}
        if self._family(member) in plain or all(self._family(other) in plain for other in others):
            return exp.In(this=self.term(member), expressions=[self.term(other) for other in others])
        value = self.term(member)
        if not is_plain(value):
            name = Variable(".member")
            compiler = self._knowing(name, exp.column("member"), kind_of(member, self.kinds))
            return bound([("member", value)], compiler._in(name, others, only_true))
        by_kind: dict[Kind, list[Expression]] = {}
        for other in others:
            by_kind.setdefault(kind_of(other, self.kinds), []).append(other)
        return any_of(*(self._in_alike(member, kind, alike, only_true) for kind, alike in by_kind.items()))

    def _in_alike(self, member: Expression, kind: Kind, others: list[Expression], only_true: bool) -> exp.Expr:
        """Whether the member is in a list of one kind."""
        if len(others) <= _MOST_COMPARISONS:
            return any_of(*(self._equal(member, other, only_true) for other in others))
        found, other = exp.column("found"), exp.column("other")
        equal = self._knowing(Variable(".other"), other, kind)._equal(member, Variable(".other"), only_true)
        is_found = call("sparql_boolean_term", any_of(exp.EQ(this=found, expression=text("btrue")), equal))
        folded = reduced([self.term(one) for one in others], (found, other), is_found, text("bfalse"))
        return applied("sparql_as_boolean", folded)

    def _knowing(self, variable: Variable, column: exp.Expr, kind: Kind) -> _ExpressionCompiler:
        """With a variable for a value that the SQL has already."""
        return replace(
            self,
            column=lambda asked: column.copy() if asked == variable else self.column(asked),
            kinds={**self.kinds, variable: kind},
        )

    def _pattern(self, pattern: Expression, flags: list[Expression]) -> tuple[exp.Expr, _Matching]:
        """The pattern with its flags in the syntax of engines, translated now if both are constants; and how to match
        it.
        """
        translated, how = _translated(pattern, flags)
        if how == "tried":
            letters = self.term(flags[0]) if flags else text("S")
            return applied("sparql_pattern", self.term(pattern), letters), how
        return _optional(translated), how

    def _replace(
        self, string: Expression, pattern: Expression, replacement: Expression, flags: list[Expression]
    ) -> exp.Expr:
        rewrite: exp.Expr
        match pattern, replacement, flags:
            case Constant(Literal()), Constant(Literal(given)), [Constant(Literal(letters))] if "q" in letters:
                rewrite = text(given.replace("\\", "\\\\"))
            case Constant(Literal(searched, _, None)), Constant(Literal(given)), _:
                rewrite = _optional(patterns.to_rewrite(given, searched))
            case _:
                rewrite = applied("sparql_replacement", self.term(replacement))
        value = self.term(string)
        return _matched("sparql_replace", value, *self._pattern(pattern, flags), rewrite)


_Matching = OneOf["directly", "linearly", "tried"]
"""How an engine matches a pattern: with its own regular expressions; with others if those backtrack; or with a check
that the pattern is valid.
"""


def needs_python(expression: Expression) -> bool:
    """Whether Spark matches a pattern of the expression itself, not of its parts, with a UDF."""
    match expression:
        case Apply("REGEX", (_, pattern, *flags)) | Apply("REPLACE", (_, pattern, _, *flags)):
            return _translated(pattern, flags)[1] != "directly"
    return False


def _translated(pattern: Expression, flags: list[Expression]) -> tuple[str | None, _Matching]:
    """A constant pattern for engines, and how to match it; None for other patterns."""
    match pattern, flags:
        case (Constant(Literal(given, datatype)), []) if datatype == XSD_STRING:
            translated = patterns.translated(given, "")
        case (Constant(Literal(given, datatype)), [Constant(Literal(letters))]) if datatype == XSD_STRING:
            translated = patterns.translated(given, letters)
        case _:
            return None, "tried"
    if translated is None or not patterns.is_taken(translated):
        return None, "directly"  # an invalid pattern: an error of each row, not of the query
    is_for_all = patterns.is_sound(translated) and patterns.is_linear(translated)
    return translated, "directly" if is_for_all else "linearly"


def _matched(macro: str, value: exp.Expr, pattern: exp.Expr, how: _Matching, *others: exp.Expr) -> exp.Expr:
    if how == "directly":
        return applied(macro, value, pattern, *others)
    # No name is bound here: Spark takes no UDF in the body of a lambda.
    is_short = how == "linearly" and all(map(is_plain, (value, *others)))
    return call(f"{macro}_linear" if is_short else f"{macro}_tried", value, pattern, *others)


def _is_term_valued(function: str) -> bool:
    others = "COALESCE IF CONCAT SUBSTR REPLACE IRI URI BNODE NOW".split()
    return function in TERM_FUNCTIONS or function in _ARITHMETIC or function in others


def _size(expression: Expression) -> int:
    """The number of operators on numbers before other expressions."""
    if not isinstance(expression, Apply) or expression.function not in _ARITHMETIC:
        return 0
    return max(len(expression.arguments) - 1, 1) + sum(map(_size, expression.arguments))


def _item(listed: exp.Expr, place: int) -> exp.Expr:
    return exp.Bracket(this=listed.copy(), expressions=[exp.Literal.number(place)], offset=0)


def _optional(value: str | None) -> exp.Expr:
    return exp.null() if value is None else text(value)
