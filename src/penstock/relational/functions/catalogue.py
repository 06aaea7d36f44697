"""Which macro an operator, a built-in or a cast is, and expressions compiled to calls of them.

An expression has a term for its value, a condition a truth value. Comparisons and logic stay SQL booleans from one to
the next, and become terms (`btrue`) only where a term is asked for, so that a filter costs what it says.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from sqlglot import exp

from penstock.algebra.expressions import Apply, Constant, Exists, Expression, Variable
from penstock.rdf.terms import Literal
from penstock.rdf.vocabulary import XSD, XSD_INTEGER, XSD_STRING
from penstock.relational.functions import aggregates, patterns
from penstock.relational.functions.bases import base_parts
from penstock.relational.functions.calls import applied, bound, call, is_plain, term, text
from penstock.relational.functions.families import family_of

compile_aggregate = aggregates.compile_aggregate

TERM_FUNCTIONS: Mapping[str, str] = {
    "+": "sparql_add",
    "-": "sparql_subtract",
    "*": "sparql_multiply",
    "/": "sparql_divide",
    "STR": "sparql_str",
    "LANG": "sparql_lang",
    "DATATYPE": "sparql_datatype",
    "RAND": "sparql_rand",
    "ABS": "sparql_abs",
    "CEIL": "sparql_ceil",
    "FLOOR": "sparql_floor",
    "ROUND": "sparql_round",
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

UNARY_OPERATORS: Mapping[str, str] = {"+": "sparql_plus", "-": "sparql_minus"}
"""Operators that mean something else with one operand."""

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

COMPARISONS: Mapping[str, tuple[type[exp.Binary], str, bool]] = {
    "<": (exp.LT, "less", False),
    "<=": (exp.LTE, "at_most", False),
    ">": (exp.GT, "less", True),
    ">=": (exp.GTE, "at_most", True),
}
"""The SQL operator on plain values, the macro (`sparql_less`, `sparql_number_less`), and whether its operands change places."""

_ORDERED_FAMILIES = {"number": "number", "string": "string", "language": "string", "time": "time", "boolean": "boolean"}

Columns = Callable[[Variable], exp.Expression]
ExistsCompiler = Callable[[Exists], exp.Expression]


class UnknownFunctionError(ValueError):
    """A function that this engine does not have; the sentence names it."""


def compile_expression(
    expression: Expression,
    column: Columns,
    *,
    exists: ExistsCompiler | None = None,
    now: exp.Expression | None = None,
    base: str | None = None,
    solution: exp.Expression | None = None,
) -> exp.Expression:
    """The value of `expression`, a term; NULL where it is unbound or an error.

    `column` gives a variable's column, `exists` the truth value of an EXISTS, `now` the evaluation instant as a term;
    `base` resolves the relative references given to IRI(); `solution` tells one solution from another, for BNODE(…).
    """
    return _Compiler(column, exists, now, base, solution).term(expression)


def compile_condition(
    expression: Expression,
    column: Columns,
    *,
    exists: ExistsCompiler | None = None,
    now: exp.Expression | None = None,
    base: str | None = None,
    solution: exp.Expression | None = None,
) -> exp.Expression:
    """Whether `expression` holds: a BOOLEAN, TRUE exactly where a FILTER lets a solution pass.

    Where it does not hold it may be FALSE or NULL, whichever is cheaper.
    """
    return _Compiler(column, exists, now, base, solution).condition(expression, only_true=True)


@dataclass(frozen=True, slots=True)
class _Compiler:
    column: Columns
    exists: ExistsCompiler | None
    now: exp.Expression | None
    base: str | None
    solution: exp.Expression | None

    def term(self, expression: Expression) -> exp.Expression:
        match expression:
            case Variable():
                return self.column(expression)
            case Constant(constant):
                return term(constant)
            case Apply("COALESCE", arguments):
                return exp.Coalesce(this=exp.null(), expressions=[self.term(argument) for argument in arguments])
            case Apply("IF", (condition, then, otherwise)):
                branches = [
                    exp.If(this=exp.true(), true=self.term(then)),
                    exp.If(this=exp.false(), true=self.term(otherwise)),
                ]
                return exp.Case(this=self.condition(condition), ifs=branches)
            case Apply(("+" | "-") as operator, (operand,)):
                return applied(UNARY_OPERATORS[operator], self.term(operand))
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
                first, *others = [self.term(argument) for argument in arguments] or [None]
                if first is None:
                    return call(TERM_FUNCTIONS[function])
                if not others:
                    return applied(TERM_FUNCTIONS[function], first)
                for other in others:
                    first = applied(TERM_FUNCTIONS[function], first, other)
                return first
            case _:
                return applied("sparql_boolean_term", self.condition(expression))

    def condition(self, expression: Expression, *, only_true: bool = False) -> exp.Expression:
        """The effective boolean value; with `only_true`, FALSE may stand for an error and an error for FALSE."""
        match expression:
            case Exists():
                if self.exists is None:
                    raise ValueError("EXISTS cannot be asked here")
                return self.exists(expression)
            case Apply("&&", operands):
                return exp.and_(*(self.condition(operand, only_true=only_true) for operand in operands))
            case Apply("||", operands):
                return exp.or_(*(self.condition(operand, only_true=only_true) for operand in operands))
            case Apply("!", (operand,)):
                return exp.not_(self.condition(operand))
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
                return exp.not_(exp.Is(this=self.term(variable), expression=exp.null()))
            case Apply("REGEX", (string, pattern, *flags)):
                value = self.term(string)
                return applied("sparql_regex", value, self._pattern(value, pattern, flags))
            case Apply(function, arguments) if function in CONDITIONS:
                return applied(CONDITIONS[function], *(self.term(argument) for argument in arguments))
            case Constant(Literal("true" | "false" as lexical, datatype)) if datatype == XSD + "boolean":
                return exp.true() if lexical == "true" else exp.false()
            case Apply(function, _) if not _is_term_valued(function):
                raise UnknownFunctionError(f"there is no function {function}")
            case _:
                return applied("sparql_ebv", self.term(expression))

    def _equal(self, left: Expression, right: Expression, only_true: bool) -> exp.Expression:
        left_term, right_term = self.term(left), self.term(right)
        families = {family_of(left), family_of(right)}
        if "iri" in families or (only_true and families & {"string", "language"}):
            # An IRI equals itself alone. So does a string; but whether it equals a literal of an unknown datatype is
            # an error, which matters under a negation only.
            return exp.EQ(this=left_term, expression=right_term)
        if "number" in families:
            if only_true or families == {"number"}:
                equal = applied("sparql_number_equal", left_term, right_term)
            elif family_of(right) == "number":
                equal = applied("sparql_equal_number", left_term, right_term)
            else:
                equal = applied("sparql_equal_number", right_term, left_term)
            return self._on_integers(exp.EQ, left, right, equal)
        if "string" in families:
            terms = (left_term, right_term) if family_of(right) == "string" else (right_term, left_term)
            return applied("sparql_equal_string", *terms)
        return applied("sparql_equal", left_term, right_term)

    def _compare(self, operator: str, left: Expression, right: Expression) -> exp.Expression:
        sql_operator, name, is_turned = COMPARISONS[operator]
        family = _ORDERED_FAMILIES.get(family_of(left) or family_of(right) or "")
        terms = (self.term(right), self.term(left)) if is_turned else (self.term(left), self.term(right))
        general = applied(f"sparql_{family}_{name}" if family else f"sparql_{name}", *terms)
        return self._on_integers(sql_operator, left, right, general)

    def _on_integers(
        self, operator: type[exp.Binary], left: Expression, right: Expression, general: exp.Expression
    ) -> exp.Expression:
        """A variable with a constant integer: where its term is an integer too, the plain comparison; else `general`."""
        if _is_integer(right) and is_plain(variable := self.term(left)):
            plain = operator(this=_integer_of(variable), expression=_number(right))
        elif _is_integer(left) and is_plain(variable := self.term(right)):
            plain = operator(this=_number(left), expression=_integer_of(variable))
        else:
            return general
        is_integer = exp.Anonymous(this="regexp_full_match", expressions=[variable.copy(), text("i[+-]?[0-9]+")])
        return exp.Case(ifs=[exp.If(this=is_integer, true=plain)], default=general)

    def _in(self, member: Expression, others: list[Expression], only_true: bool) -> exp.Expression:
        if not others:
            return exp.false()
        plain = {"iri", "string", "language"} if only_true else {"iri"}
        if all(family_of(other) in plain for other in others):
            return exp.In(this=self.term(member), expressions=[self.term(other) for other in others])
        value = self.term(member)
        if is_plain(value):
            return exp.or_(*(self._equal(member, other, only_true) for other in others))
        name = "member"
        tests = [applied("sparql_equal", exp.column(name), self.term(other)) for other in others]
        return bound([(name, value)], exp.or_(*tests))

    def _pattern(self, string: exp.Expression, pattern: Expression, flags: list[Expression]) -> exp.Expression:
        """The pattern with its flags, as RE2 takes it: at once where both are constants."""
        match pattern, flags:
            case (Constant(Literal(given, datatype)), []) if datatype == XSD_STRING:
                translated = patterns.to_re2(given, "")
            case (Constant(Literal(given, datatype)), [Constant(Literal(letters))]) if datatype == XSD_STRING:
                translated = patterns.to_re2(given, letters)
            case _:
                return applied("sparql_pattern", self.term(pattern), self.term(flags[0]) if flags else text("S"))
        if translated is None or patterns.is_sound(translated):
            return _optional(translated)
        # A constant that RE2 may refuse would stop the whole query; a value that it refuses is an error of one row.
        nothing = exp.Left(this=string, expression=exp.Literal.number(0))
        return exp.DPipe(this=text(translated), expression=nothing)

    def _replace(
        self, string: Expression, pattern: Expression, replacement: Expression, flags: list[Expression]
    ) -> exp.Expression:
        rewrite: exp.Expression
        match pattern, replacement, flags:
            case Constant(Literal(_, _, None)), Constant(Literal(given)), [Constant(Literal(letters))] if "q" in letters:
                rewrite = text(given.replace("\\", "\\\\"))
            case Constant(Literal(searched, _, None)), Constant(Literal(given)), _:
                rewrite = _optional(patterns.to_rewrite(given, searched))
            case _:
                rewrite = applied("sparql_replacement", self.term(replacement))
        value = self.term(string)
        return applied("sparql_replace", value, self._pattern(value, pattern, flags), rewrite)


def _is_term_valued(function: str) -> bool:
    return function in TERM_FUNCTIONS or function in {
        "COALESCE", "IF", "CONCAT", "SUBSTR", "REPLACE", "IRI", "URI", "BNODE", "NOW",
    }  # fmt: skip


def _is_integer(expression: Expression) -> bool:
    match expression:
        case Constant(Literal(lexical, datatype)) if datatype == XSD_INTEGER:
            digits = lexical.lstrip("+-")
            return digits.isascii() and digits.isdigit() and len(lexical) - len(digits) <= 1 and len(digits) <= 18
    return False


def _number(constant: Expression) -> exp.Expression:
    assert isinstance(constant, Constant) and isinstance(constant.term, Literal)
    return exp.cast(exp.Literal.number(int(constant.term.lexical)), "INT128")


def _integer_of(column: exp.Expression) -> exp.Expression:
    lexical = exp.Substring(this=column.copy(), start=exp.Literal.number(2))
    return exp.TryCast(this=lexical, to=exp.DataType.build("INT128"))


def _optional(value: str | None) -> exp.Expression:
    return exp.null() if value is None else text(value)
