"""Arithmetic and the comparison of numbers (SPARQL 1.1 §17.3), each expression as a whole.

The types of an expression's leaves determine its evaluation: all integers, all integers and decimals, some floats, some
doubles. So the tags of the leaves are checked once. Each case is plain SQL arithmetic on 128-bit integers, on decimals
of the engine, or on doubles; no intermediate result becomes a term. Exact parts stay exact: if an expression contains
doubles, a part with exact leaves only is evaluated exactly.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from math import inf

from sqlglot import exp

from penstock.rdf.encoding import INTEGER_TYPES, encode
from penstock.rdf.terms import Literal
from penstock.rdf.vocabulary import XSD
from penstock.relational.functions.calls import all_of, any_of, bound, call, is_null, text

_OPERATORS: dict[str, type[exp.Binary]] = {"+": exp.Add, "-": exp.Sub, "*": exp.Mul, "/": exp.Div}
COMPARISONS: dict[str, type[exp.Binary]] = {"<": exp.LT, "<=": exp.LTE, ">": exp.GT, ">=": exp.GTE, "=": exp.EQ}
_LEFT, _RIGHT = "left_value", "right_value"
_LARGEST_DECIMAL = Decimal(10) ** 20


@dataclass(frozen=True, slots=True)
class Leaf:
    """A term. `tag` is known for a constant and for a function's result; `value` for a constant."""

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
    """The leaf of a constant number; only its term if it is ill-formed, or beyond its type."""
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
    least, greatest = INTEGER_TYPES.get(literal.datatype.removeprefix(XSD), (-inf, inf))
    if not least <= value <= greatest:
        return Leaf(text(encoded))
    if tag == "i" and (not literal.lexical.lstrip("+-").isdigit() or abs(value) >= _LARGEST_DECIMAL):
        return Leaf(text(encoded))
    if tag == "d" and ("e" in literal.lexical.lower() or exponent < -18 or abs(value) >= _LARGEST_DECIMAL):
        return Leaf(text(encoded))
    return Leaf(text(encoded), tag, format(value, "f") if tag in "id" else literal.lexical)


def as_term(number: Number, otherwise: exp.Expr | None = None) -> exp.Expr:
    """The number as a term; `otherwise` if a leaf is not a number (NULL by default)."""

    def floating(is_double: exp.Expr) -> exp.Expr:
        values = [exp.cast(_floating(number, type_name, [number]), "TEXT") for type_name in ("DOUBLE", "FLOAT")]
        tag = _chosen(is_double, text("e"), text("f"))
        return exp.DPipe(this=tag, expression=call("sparql_floating_text", _chosen(is_double, *values)))

    return _dispatched(
        [number],
        "/" not in _operators(number),
        call("sparql_integer_term", _tried(number, _integer)),
        call("sparql_decimal_term", _tried(number, _decimal)),
        floating,
        otherwise,
    )


def compared(operator: str, left: Number, right: Number, otherwise: exp.Expr | None = None) -> exp.Expr:
    """Whether `left` is less than, equal to … `right`; `otherwise` if a leaf is not a number."""
    sql_operator = COMPARISONS[operator]

    def compare(of: Callable[[Number], exp.Expr]) -> exp.Expr:
        return exp.Paren(this=sql_operator(this=of(left), expression=of(right)))

    def compare_floating(type_name: str) -> exp.Expr:
        # NaN is neither less than a number nor equal to one; in DuckDB it is greater than all, and equal to itself.
        values = {name: _floating(side, type_name, [left, right]) for name, side in ((_LEFT, left), (_RIGHT, right))}
        greater, lesser = (_LEFT, _RIGHT) if operator in (">", ">=") else (_RIGHT, _LEFT)
        side = left if greater == _LEFT else right
        if isinstance(side, Leaf) and side.value is not None:
            return exp.Paren(this=sql_operator(this=values[_LEFT], expression=values[_RIGHT]))
        not_held = exp.Nullif(this=exp.Paren(this=is_null(exp.column(lesser))), expression=exp.true())
        is_nan = exp.If(this=call("isnan", exp.column(greater)), true=not_held)
        held = sql_operator(this=exp.column(_LEFT), expression=exp.column(_RIGHT))
        return bound(list(values.items()), exp.Case(ifs=[is_nan], default=held))

    def floating(is_double: exp.Expr) -> exp.Expr:
        return _chosen(is_double, compare_floating("DOUBLE"), compare_floating("FLOAT"))

    exact = compare(lambda number: _tried(number, _decimal))
    if isinstance(left, Leaf) and isinstance(right, Leaf):
        # Numbers beyond a DECIMAL(38, 18) can still differ from another double.
        x, y = exp.column(_LEFT), exp.column(_RIGHT)
        are_apart = exp.If(this=exp.NEQ(this=x, expression=y), true=sql_operator(this=x.copy(), expression=y.copy()))
        values = [(name, _floating(side, "DOUBLE", [left, right])) for name, side in ((_LEFT, left), (_RIGHT, right))]
        exact = exp.Coalesce(this=exact, expressions=[bound(values, exp.Case(ifs=[are_apart]))])
    held = _dispatched(
        [left, right],
        not {"/"} & (_operators(left) | _operators(right)),
        compare(lambda number: _tried(number, _integer)),
        exact,
        floating,
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
    of_floating: Callable[[exp.Expr], exp.Expr],
    otherwise: exp.Expr | None,
) -> exp.Expr:
    """The case for the types of the leaves; cases that a constant rules out are dropped.

    Whether all leaves are numbers is checked first and once, because engines take longest to plan this check.
    """
    leaves = [leaf for number in numbers for leaf in _leaves(number)]
    known = {leaf.tag for leaf in leaves if leaf.tag is not None}
    unknown = _unknown(leaves)
    cases: list[tuple[str, exp.Expr]] = []
    if has_integers and known <= {"i"}:
        cases.append(("in", of_integers))
    if known <= {"i", "d"}:
        cases.append(("ind", of_decimals))
    if unknown or known & {"e", "f"}:
        is_double = exp.true() if "e" in known else any_of(*(_has(leaf, "e") for leaf in unknown))
        cases.append(("indef", of_floating(is_double)))
    if not unknown:
        return cases[0][1]
    *others, (_, last) = cases
    ifs: list[exp.If] = []
    before = ""
    for tags, value in others:
        # A single leaf has none of the tags that were checked before.
        asked = tags.removeprefix(before) if len(unknown) == 1 else tags
        ifs.append(exp.If(this=_all_have(unknown, *asked), true=value))
        before = tags
    are_numbers = all_of(*(call("sparql_has_number_type", leaf.term) for leaf in unknown))
    held = exp.Case(ifs=ifs, default=last) if ifs else last
    return exp.Case(ifs=[exp.If(this=are_numbers, true=held)], default=otherwise)


def _chosen(condition: exp.Expr, then: exp.Expr, otherwise: exp.Expr) -> exp.Expr:
    if isinstance(condition, exp.Boolean):
        return then if condition.this else otherwise
    return exp.Case(ifs=[exp.If(this=condition.copy(), true=then)], default=otherwise)


def _unknown(leaves: list[Leaf]) -> list[Leaf]:
    """The leaves of unknown type, without duplicates."""
    return list({leaf.term.sql(): leaf for leaf in leaves if leaf.tag is None}.values())


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
    """Whether the leaf's tag is one of these. (DuckDB expands an IN into a comparison for each value.)"""
    tag = exp.Left(this=leaf.term.copy(), expression=exp.Literal.number(1))
    return exp.EQ(this=tag, expression=text(tags[0])) if len(tags) == 1 else call("contains", text("".join(tags)), tag)


def _integer(number: Number) -> exp.Expr:
    match number:
        case Leaf(term, tag, value):
            if value is not None:
                return exp.cast(text(value), "INT128") if tag == "i" else exp.null()
            return _read(term, "INT128") if tag == "i" else call("sparql_integer_value", term)
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
                return call("sparql_decimal_of", text(value)) if tag in ("i", "d") else exp.null()
            return (
                call("sparql_decimal_of", _lexical(term)) if tag in ("i", "d") else call("sparql_decimal_value", term)
            )
        case Operation("/", (left, right)):
            return _macro("sparql_quotient", (left, right), _decimal)
        case Operation("*", (left, right)):
            return _macro("sparql_product", (left, right), _decimal)
        case Operation("ABS", (operand,)):
            return call("abs", _decimal(operand))
        case Operation("CEIL" | "FLOOR" | "ROUND" as function, (operand,)):
            return _macro(f"sparql_decimal_{function.lower()}", (operand,), _decimal)
        case Operation(operator, operands):
            return _applied(operator, [_decimal(operand) for operand in operands])


def _floating(number: Number, type_name: str, peers: list[Number]) -> exp.Expr:
    """As a DOUBLE, or as a FLOAT if a leaf of the peers is one (and none is a double)."""
    match number:
        case Leaf(term, tag, value):
            return _floating_leaf(term, tag, value, type_name)
        case Operation("ABS", (operand,)):
            applied = call("abs", _floating(operand, type_name, peers))
        case Operation("CEIL" | "FLOOR" | "ROUND" as function, (operand,)):
            whole = _macro(
                f"sparql_double_{function.lower()}", (operand,), lambda inner: _floating(inner, type_name, peers)
            )
            applied = exp.cast(whole, type_name)
        case Operation("/", (left, right)):
            quotient = _macro("sparql_floating_quotient", (left, right), lambda side: _floating(side, type_name, peers))
            applied = exp.cast(quotient, type_name)
        case Operation(operator, operands):
            applied = _applied(operator, [_floating(operand, type_name, peers) for operand in operands])
    return applied if _is_settled(number, peers) else _mixed(number, applied, type_name)


def _floating_leaf(term: exp.Expr, tag: str | None, value: str | None, type_name: str) -> exp.Expr:
    if value is not None:
        return exp.cast(text(value), "FLOAT" if tag == "f" else type_name)
    if type_name == "DOUBLE":
        return _read(term, "DOUBLE") if tag in ("i", "d", "e") else call("sparql_double_value", term)
    return _read(term, "FLOAT") if tag in ("i", "d", "f") else call("sparql_float_value", term)


def _is_settled(number: Operation, peers: list[Number]) -> bool:
    """Whether the leaf that makes the peers floating belongs to the number itself."""
    own = _leaves(number)
    others = [leaf for peer in peers for leaf in _leaves(peer) if leaf not in own]
    return not _unknown(others) and not {leaf.tag for leaf in others} & {"e", "f"}


def _mixed(number: Operation, applied: exp.Expr, type_name: str) -> exp.Expr:
    """An operation among doubles or floats: exact if all its own leaves are, on floats if none is a double."""
    leaves = _leaves(number)
    known = {leaf.tag for leaf in leaves if leaf.tag is not None}
    unknown = _unknown(leaves)
    ifs: list[exp.If] = []
    if known <= {"i", "d"}:
        exactly = call(f"sparql_decimal_as_{type_name.lower()}", _tried(number, _decimal))
        ifs.append(exp.If(this=_all_have(unknown, "i", "n", "d"), true=exactly))
    if type_name == "DOUBLE" and "e" not in known:
        on_floats = exp.cast(_floating(number, "FLOAT", [number]), type_name)
        ifs.append(exp.If(this=_all_have(unknown, "i", "n", "d", "f"), true=on_floats))
    return exp.Case(ifs=ifs, default=applied) if ifs else applied


def _applied(operator: str, operands: list[exp.Expr]) -> exp.Expr:
    if len(operands) == 1:
        return exp.Paren(this=exp.Neg(this=operands[0])) if operator == "-" else operands[0]
    left, right = operands
    return exp.Paren(this=_OPERATORS[operator](this=left, expression=right))


def _macro(name: str, operands: Sequence[Number], of: Callable[[Number], exp.Expr]) -> exp.Expr:
    """A macro on numbers. It may use its operands more than once, so an operand that is an operation gets a name."""
    names: list[tuple[str, exp.Expr]] = []
    values: list[exp.Expr] = []
    for place, operand in enumerate(operands, start=1):
        if isinstance(operand, Leaf):
            values.append(of(operand))
        else:
            names.append((f"number_{place}", of(operand)))
            values.append(exp.column(f"number_{place}"))
    return bound(names, call(name, *values))


def _tried(number: Number, of: Callable[[Number], exp.Expr]) -> exp.Expr:
    """NULL if the value is too large for its type; a leaf's value needs no such check."""
    return of(number) if isinstance(number, Leaf) else call("TRY", of(number))


def _read(term: exp.Expr, type_name: str) -> exp.Expr:
    """The value of a function's result, which is well-formed."""
    return exp.TryCast(this=_lexical(term), to=exp.DataType.build(type_name))


def _lexical(term: exp.Expr) -> exp.Expr:
    return exp.Substring(this=term.copy(), start=exp.Literal.number(2))
