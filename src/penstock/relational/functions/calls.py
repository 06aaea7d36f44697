"""Calls of macros as SQL trees."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from penstock.rdf.encoding import encode
from penstock.rdf.terms import Term


def call(macro: str, *arguments: exp.Expr) -> exp.Expr:
    return exp.Anonymous(this=macro, expressions=[argument.copy() for argument in arguments])


def applied(macro: str, *arguments: exp.Expr) -> exp.Expr:
    """A macro on its arguments, each evaluated once.

    The body of a macro replaces its call, and repeats an argument for each use. An argument that is itself an
    expression therefore gets a name first: `list_transform([argument], lambda name: macro(name))[1]`. The names need
    only differ within a call, because no argument can see the names of the calls around it.
    """
    names: list[tuple[str, exp.Expr]] = []
    plain: list[exp.Expr] = []
    for argument in arguments:
        if is_plain(argument):
            plain.append(argument)
        else:
            name = f"value_{len(names) + 1}"
            names.append((name, argument))
            plain.append(exp.column(name))
    return bound(names, call(macro, *plain))


def bound(names: list[tuple[str, exp.Expr]], body: exp.Expr) -> exp.Expr:
    """`body` with names for values.

    Several names are the fields of one value, because DuckDB plans nested lambdas slowly.
    """
    if not names:
        return body
    if len(names) == 1:
        ((parameter, value),) = names
    else:
        parameter = f"{names[0][0]}_and_others"
        value = exp.Struct(expressions=[exp.PropertyEQ(this=exp.to_identifier(n), expression=v) for n, v in names])
        fields = {name for name, _ in names}
        for column in list(body.find_all(exp.Column)):
            if not column.table and column.name in fields:
                column.set("table", exp.to_identifier(parameter))
    function = exp.Lambda(this=body, expressions=[exp.to_identifier(parameter)])
    listed = exp.Transform(this=exp.Array(expressions=[value]), expression=function)
    return exp.Bracket(this=listed, expressions=[exp.Literal.number(0)], offset=0)


def reduced(
    values: list[exp.Expr], names: tuple[exp.Column, exp.Column], body: exp.Expr, initial: exp.Expr
) -> exp.Expr:
    """Applies `body` to each value in turn, like a fold; `names` are for the result so far, and for the value.

    Engines plan the body once, for any number of values.
    """
    function = exp.Lambda(this=body, expressions=[exp.to_identifier(name.name) for name in names])
    return exp.Anonymous(this="LIST_REDUCE", expressions=[exp.Array(expressions=values), function, initial])


def is_plain(expression: exp.Expr) -> bool:
    """Whether it is free to evaluate it again; so is an item of a list that is a column, as the operands of a step."""
    if isinstance(expression, exp.Bracket):
        expression = expression.this
    return isinstance(expression, exp.Column | exp.Literal | exp.Null | exp.Boolean)


def all_of(*conditions: exp.Expr) -> exp.Expr:
    return _joined(exp.And, conditions) if conditions else exp.true()


def any_of(*conditions: exp.Expr) -> exp.Expr:
    return _joined(exp.Or, conditions) if conditions else exp.false()


def _joined(connector: type[exp.And | exp.Or], conditions: Sequence[exp.Expr]) -> exp.Expr:
    first, *others = [
        exp.Paren(this=condition.copy()) if isinstance(condition, exp.And | exp.Or) else condition.copy()
        for condition in conditions
    ]
    joined: exp.Expr = first
    for other in others:
        joined = connector(this=joined, expression=other)
    return joined


def is_null(value: exp.Expr) -> exp.Expr:
    return exp.Is(this=value.copy(), expression=exp.null())


def or_zero(value: exp.Expr) -> exp.Expr:
    return exp.Coalesce(this=value, expressions=[exp.Literal.number(0)])


def text(value: str) -> exp.Expr:
    return exp.Literal.string(value)


def term(value: Term) -> exp.Expr:
    return exp.Literal.string(encode(value))
