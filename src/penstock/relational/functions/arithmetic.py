"""Arithmetic and the comparison of numbers (SPARQL 1.1 §17.3), each expression as a whole.

An expression of operators has leaves, and their types say how to evaluate it: all integers, all integers and
decimals, some floats, some doubles. So the tags of the leaves are looked at once, and each case is plain SQL arithmetic
on HUGEINTs, DECIMAL(38, 18)s or doubles; nothing is written as a term and read again on the way. What is exact stays
exact: a part of an expression with doubles whose own leaves are exact is evaluated exactly.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation

from sqlglot import exp

from penstock.rdf.encoding import encode
from penstock.rdf.terms import Literal
from penstock.relational.functions.calls import all_of, any_of, call, is_null, text

_OPERATORS: dict[str, type[exp.Binary]] = {"+": exp.Add, "-": exp.Sub, "*": exp.Mul, "/": exp.Div}
COMPARISONS: dict[str, type[exp.Binary]] = {"<": exp.LT, "<=": exp.LTE, ">": exp.GT, ">=": exp.GTE, "=": exp.EQ}
ROUNDINGS = ("ABS", "CEIL", "FLOOR", "ROUND")
_DECIMAL = "DECIMAL(38, 18)"
_LARGEST_DECIMAL = Decimal(10) ** 20


@dataclass(frozen=True, slots=True)
class Leaf:
    """A term. `tag` is known of a constant and of a function's result; `value` is a constant's."""

    term: exp.Expr
    tag: str | None = None
    value: str | None = None


@dataclass(frozen=True, slots=True)
class Operation:
    """`+ - * /` on two numbers; `-`, `+`, ABS, CEIL, FLOOR, ROUND on one."""

    operator: str
    operands: tuple[Number, ...]


Number = Leaf | Operation


def constant(literal: Literal) -> Leaf:
    """The leaf of a constant that is a number; its term is enough where it is ill-formed."""
    encoded = encode(literal)
    tag = "i" if encoded[0] == "n" else encoded[0]
    try:
        value = Decimal(literal.lexical)
    except InvalidOperation:
        return Leaf(text(encoded))
    is_plain = literal.lexical.isascii() and "_" not in literal.lexical and literal.lexical == literal.lexical.strip()
    exponent = value.as_tuple().exponent
    if not is_plain or not isinstance(exponent, int):
        return Leaf(text(encoded))
    if tag == "i" and (not literal.lexical.lstrip("+-").isdigit() or abs(value) >= _LARGEST_DECIMAL):
        return Leaf(text(encoded))
    if tag == "d" and ("e" in literal.lexical.lower() or exponent < -18 or abs(value) >= _LARGEST_DECIMAL):
        return Leaf(text(encoded))
    return Leaf(text(encoded), tag, format(value, "f") if tag in "id" else literal.lexical)


def as_term(number: Number, otherwise: exp.Expr | None = None) -> exp.Expr:
    """The number as a term; `otherwise` where a leaf is no number (NULL if there is none)."""
    return _dispatched(
        [number],
        "/" not in _operators(number),
        call("sparql_integer_term", _tried(number, _integer)),
        call("sparql_decimal_term", _tried(number, _decimal)),
        call("sparql_double_term", _double(number)),
        call("sparql_float_term", _float(number)),
        otherwise,
    )


def compared(operator: str, left: Number, right: Number, otherwise: exp.Expr | None = None) -> exp.Expr:
    """Whether `left` is less than, equal to … `right`; `otherwise` where a leaf is no number."""
    sql_operator = COMPARISONS[operator]

    def compare(of: Callable[[Number], exp.Expr]) -> exp.Expr:
        return exp.Paren(this=sql_operator(this=of(left), expression=of(right)))

    def compare_floating(of: Callable[[Number], exp.Expr]) -> exp.Expr:
        # NaN is neither less than a number nor equal to one; in DuckDB it is greater than all, and equal to itself.
        greater, lesser = (left, right) if operator in (">", ">=") else (right, left)
        if isinstance(greater, Leaf) and greater.value is not None:
            return compare(of)
        not_held = exp.Nullif(this=exp.Paren(this=is_null(of(lesser))), expression=exp.true())
        return exp.Case(ifs=[exp.If(this=call("isnan", of(greater)), true=not_held)], default=compare(of))

    exact = compare(lambda number: _tried(number, _decimal))
    if isinstance(left, Leaf) and isinstance(right, Leaf):
        # What has more digits than a DECIMAL(38, 18) can still be told from what is another double.
        are_apart = exp.NEQ(this=_double(left), expression=_double(right))
        exact = exp.Coalesce(this=exact, expressions=[exp.Case(ifs=[exp.If(this=are_apart, true=compare(_double))])])
    held = _dispatched(
        [left, right],
        not {"/"} & (_operators(left) | _operators(right)),
        compare(lambda number: _tried(number, _integer)),
        exact,
        compare_floating(_double),
        compare_floating(_float),
        otherwise,
    )
    match operator, left, right:
        case "=", Leaf(left_term, None), Leaf(right_term, None):
            # An ill-formed number has no value, but it is the same term as itself.
            same = exp.EQ(this=left_term.copy(), expression=right_term.copy())
            return exp.Coalesce(this=held, expressions=[exp.Nullif(this=same, expression=exp.false())])
    return held


def _dispatched(
    numbers: list[Number],
    has_integers: bool,
    of_integers: exp.Expr,
    of_decimals: exp.Expr,
    of_doubles: exp.Expr,
    of_floats: exp.Expr,
    otherwise: exp.Expr | None,
) -> exp.Expr:
    """The case for the types of the leaves; cases that a constant rules out are left out."""
    leaves = [leaf for number in numbers for leaf in _leaves(number)]
    known = {leaf.tag for leaf in leaves if leaf.tag is not None}
    unknown = [leaf for leaf in leaves if leaf.tag is None]
    cases: list[tuple[exp.Expr, exp.Expr]] = []
    if has_integers and known <= {"i"}:
        cases.append((_all_have(unknown, "i", "n"), of_integers))
    if known <= {"i", "d"}:
        cases.append((_all_have(unknown, "i", "n", "d"), of_decimals))
    are_numbers = _all_have(unknown, "i", "n", "d", "e", "f")
    has_double = [_has(leaf, "e") for leaf in unknown]
    if "e" in known:
        cases.append((are_numbers, of_doubles))
    else:
        if has_double:
            cases.append((all_of(are_numbers, any_of(*has_double)), of_doubles))
        if "f" in known or unknown:
            cases.append((are_numbers.copy(), of_floats))
    ifs = [exp.If(this=condition, true=value) for condition, value in cases]
    if not unknown and otherwise is None:
        return ifs[0].args["true"]  # type: ignore[no-any-return]
    return exp.Case(ifs=ifs, default=otherwise)


def _leaves(number: Number) -> list[Leaf]:
    if isinstance(number, Leaf):
        return [number]
    return [leaf for operand in number.operands for leaf in _leaves(operand)]


def _operators(number: Number) -> set[str]:
    if isinstance(number, Leaf):
        return set()
    return {number.operator}.union(*(_operators(operand) for operand in number.operands))


def _all_have(leaves: list[Leaf], *tags: str) -> exp.Expr:
    return all_of(*(_has(leaf, *tags) for leaf in leaves))


def _has(leaf: Leaf, *tags: str) -> exp.Expr:
    tag = exp.Left(this=leaf.term.copy(), expression=exp.Literal.number(1))
    return exp.In(this=tag, expressions=[text(tag) for tag in tags])


def _integer(number: Number) -> exp.Expr:
    match number:
        case Leaf(term, tag, value):
            if value is not None:
                return _number(value, "INT128") if tag == "i" else exp.null()
            return _read(term, "INT128") if tag == "i" else call("sparql_as_integer", term.copy())
        case Operation("ABS", (operand,)):
            return call("abs", _integer(operand))
        case Operation("CEIL" | "FLOOR" | "ROUND", (operand,)):
            return _integer(operand)
        case Operation(operator, operands):
            return _applied(operator, [_integer(operand) for operand in operands])


def _decimal(number: Number) -> exp.Expr:
    match number:
        case Leaf(term, tag, value):
            if value is not None:
                return _number(value, _DECIMAL) if tag in ("i", "d") else exp.null()
            return _read(term, _DECIMAL) if tag in ("i", "d") else call("sparql_as_decimal", term.copy())
        case Operation("/", (left, right)):
            return call("sparql_quotient", _decimal(left), _decimal(right))
        case Operation("*", (left, right)):
            return call("sparql_product", _decimal(left), _decimal(right))
        case Operation("ROUND", (operand,)):
            return _as_decimal(call("sparql_decimal_round", _decimal(operand)))
        case Operation("ABS" | "CEIL" | "FLOOR" as function, (operand,)):
            return _as_decimal(call(function.lower(), _decimal(operand)))
        case Operation(operator, operands):
            return _applied(operator, [_decimal(operand) for operand in operands])


def _double(number: Number) -> exp.Expr:
    match number:
        case Leaf(term, tag, value):
            if value is not None:
                return exp.cast(text(value), "FLOAT" if tag == "f" else "DOUBLE")
            return _read(term, "DOUBLE") if tag in ("i", "d", "e") else call("sparql_as_double", term.copy())
        case Operation():
            return _mixed(number, _double, "DOUBLE")


def _float(number: Number) -> exp.Expr:
    match number:
        case Leaf(term, tag, value):
            if value is not None:
                return exp.cast(text(value), "FLOAT")
            return _read(term, "FLOAT") if tag in ("i", "d", "f") else call("sparql_as_float", term.copy())
        case Operation():
            return _mixed(number, _float, "FLOAT")


def _mixed(number: Operation, of: Callable[[Number], exp.Expr], type_name: str) -> exp.Expr:
    """An operation among doubles, or floats: exact where all its own leaves are, on floats where none is a double."""
    match number:
        case Operation("ROUND", (operand,)):
            value = call("sparql_double_round", of(operand))
        case Operation("ABS" | "CEIL" | "FLOOR" as function, (operand,)):
            value = call(function.lower(), of(operand))
        case Operation(operator, operands):
            value = _applied(operator, [of(operand) for operand in operands])
    leaves = _leaves(number)
    known = {leaf.tag for leaf in leaves if leaf.tag is not None}
    unknown = [leaf for leaf in leaves if leaf.tag is None]
    ifs: list[exp.If] = []
    if known <= {"i", "d"}:
        exactly = exp.cast(_tried(number, _decimal), type_name)
        ifs.append(exp.If(this=_all_have(unknown, "i", "n", "d"), true=exactly))
    if type_name == "DOUBLE" and "e" not in known:
        on_floats = exp.cast(_float(number), type_name)
        ifs.append(exp.If(this=_all_have(unknown, "i", "n", "d", "f"), true=on_floats))
    return exp.Case(ifs=ifs, default=value) if ifs else value


def _applied(operator: str, operands: list[exp.Expr]) -> exp.Expr:
    if len(operands) == 1:
        return exp.Paren(this=exp.Neg(this=operands[0])) if operator == "-" else operands[0]
    left, right = operands
    return exp.Paren(this=_OPERATORS[operator](this=left, expression=right))


def _tried(number: Number, of: Callable[[Number], exp.Expr]) -> exp.Expr:
    """NULL where the value is too large for its type; a leaf's value needs no such care."""
    return of(number) if isinstance(number, Leaf) else call("TRY", of(number))


def _number(value: str, type_name: str) -> exp.Expr:
    return exp.cast(text(value), type_name)


def _read(term: exp.Expr, type_name: str) -> exp.Expr:
    """The value of a function's result, which is well-formed."""
    lexical = exp.Substring(this=term.copy(), start=exp.Literal.number(2))
    return exp.TryCast(this=lexical, to=exp.DataType.build(type_name))


def _as_decimal(value: exp.Expr) -> exp.Expr:
    return exp.cast(value, _DECIMAL)
