"""Aggregates (SPARQL 1.1 §18.5.1) inside a GROUP BY.

SUM and AVG are sums of parts (`sum_parts`), each a plain SQL sum, and a last step (`sum_of_parts`, `mean_of_parts`):
so they can be added up, and taken away again, along a sweep. Integers and decimals are exact. One value that is an
error, or no number, makes the aggregate an error; COUNT and SAMPLE pass over errors.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from sqlglot import exp

from penstock.algebra.expressions import Aggregate
from penstock.relational.functions.calls import all_of, applied, bound, call, is_null, or_zero, text

SUM_PARTS = ("low", "high", "fraction", "floating", "faults", "decimals", "floats", "doubles", "rows")
"""What a sum is made of; `rows` is how many numbers there are, for the mean."""


def compile_aggregate(
    aggregate: Aggregate,
    argument: exp.Expr | None,
    columns: Sequence[exp.Expr] = (),
    *,
    present: exp.Expr | None = None,
) -> exp.Expr:
    """The aggregate of `argument`, a term: NULL where it is an error.

    `columns` are those of a solution, for COUNT(DISTINCT *). Where a group may hold a row that stands for no solution
    (a group of nothing, by a left join), `present` is NULL in that row and in no other.
    """
    rows = exp.Count(this=exp.Star()) if present is None else exp.Count(this=present)
    if argument is None:
        return _term_of_count(rows if not aggregate.distinct else _distinct_solutions(columns, present))
    return _AGGREGATES[aggregate.name](aggregate, argument, rows)


def sum_parts(term: exp.Expr) -> dict[str, exp.Expr]:
    """What each term adds to the parts of a sum (SUM_PARTS); all are numbers, and none is NULL."""
    exact = applied("sparql_sum_low", term)
    floating = applied("sparql_sum_floating", term)

    def having(*tags: str) -> exp.Expr:
        tag = exp.Left(this=term.copy(), expression=exp.Literal.number(1))
        return _number_if(exp.In(this=tag, expressions=[text(tag) for tag in tags]))

    return {
        "low": or_zero(exact),
        "high": or_zero(applied("sparql_sum_high", term)),
        "fraction": or_zero(applied("sparql_sum_fraction", term)),
        "floating": or_zero(floating),
        "faults": _number_if(all_of(is_null(exact), is_null(floating))),
        "decimals": having("d"),
        "floats": having("f"),
        "doubles": having("e"),
        "rows": exp.Literal.number(1),
    }


def sum_of_parts(parts: Mapping[str, exp.Expr]) -> exp.Expr:
    """SUM, given the sum of each part."""
    return call("sparql_sum_term", call("sparql_sums", *(parts[name] for name in SUM_PARTS)))


def mean_of_parts(parts: Mapping[str, exp.Expr]) -> exp.Expr:
    """AVG, given the sum of each part."""
    return call("sparql_mean_term", call("sparql_sums", *(parts[name] for name in SUM_PARTS)))


def _count(aggregate: Aggregate, argument: exp.Expr, rows: exp.Expr) -> exp.Expr:
    counted = exp.Distinct(expressions=[argument]) if aggregate.distinct else argument
    return _term_of_count(exp.Count(this=counted))


def _sum(aggregate: Aggregate, argument: exp.Expr, rows: exp.Expr) -> exp.Expr:
    return _from_sums(aggregate, argument, rows, sum_of_parts)


def _mean(aggregate: Aggregate, argument: exp.Expr, rows: exp.Expr) -> exp.Expr:
    return _from_sums(aggregate, argument, rows, mean_of_parts)


def _from_sums(
    aggregate: Aggregate,
    argument: exp.Expr,
    rows: exp.Expr,
    finish: Callable[[Mapping[str, exp.Expr]], exp.Expr],
) -> exp.Expr:
    if aggregate.distinct:
        errors = exp.Sub(this=rows, expression=exp.Count(this=argument.copy()))
        terms = exp.column("terms")
        sums = {name: _sum_of_list(terms, name) for name in SUM_PARTS}
        sums["faults"] = exp.Add(this=exp.column("errors"), expression=or_zero(sums["faults"]))
        sums["rows"] = or_zero(sums["rows"])
        return bound([("errors", errors), ("terms", _terms(argument, True))], finish(sums))
    parts = sum_parts(argument)
    sums = {name: exp.Sum(this=part) for name, part in parts.items()}
    # A row that stands for no solution adds nothing, and is no fault.
    sound = exp.Sub(this=parts["rows"].copy(), expression=parts["faults"].copy())
    sums["faults"] = exp.Sub(this=rows.copy(), expression=or_zero(exp.Sum(this=sound)))
    sums["rows"] = rows
    return finish(sums)


def _least(aggregate: Aggregate, argument: exp.Expr, rows: exp.Expr) -> exp.Expr:
    return _extreme(exp.Min, "sparql_least", argument, rows)


def _greatest(aggregate: Aggregate, argument: exp.Expr, rows: exp.Expr) -> exp.Expr:
    return _extreme(exp.Max, "sparql_greatest", argument, rows)


def _extreme(function: type[exp.Min | exp.Max], macro: str, argument: exp.Expr, rows: exp.Expr) -> exp.Expr:
    integer = function(this=applied("sparql_plain_integer", argument))
    other = function(this=applied("sparql_otherwise_ranked", argument))
    is_sound = exp.EQ(this=rows, expression=exp.Count(this=argument.copy()))
    return exp.Case(ifs=[exp.If(this=is_sound, true=call(macro, integer, other))])


def _sample(aggregate: Aggregate, argument: exp.Expr, rows: exp.Expr) -> exp.Expr:
    # Any value will do. The least is the same one however the rows arrive.
    return exp.Min(this=argument)


def _group_concat(aggregate: Aggregate, argument: exp.Expr, rows: exp.Expr) -> exp.Expr:
    separator = " " if aggregate.separator is None else aggregate.separator
    errors = exp.Sub(this=rows, expression=exp.Count(this=argument.copy()))
    return call("sparql_group_concat", _terms(argument, aggregate.distinct), text(separator), errors)


_AGGREGATES: Mapping[str, Callable[[Aggregate, exp.Expr, exp.Expr], exp.Expr]] = {
    "COUNT": _count,
    "SUM": _sum,
    "AVG": _mean,
    "MIN": _least,
    "MAX": _greatest,
    "SAMPLE": _sample,
    "GROUP_CONCAT": _group_concat,
}


def _term_of_count(count: exp.Expr) -> exp.Expr:
    return exp.DPipe(this=text("i"), expression=exp.cast(count, "TEXT"))


def _distinct_solutions(columns: Sequence[exp.Expr], present: exp.Expr | None) -> exp.Expr:
    row = exp.Anonymous(this="row", expressions=[*columns, text("")])
    counted = exp.Count(this=exp.Distinct(expressions=[row]))
    if present is None:
        return counted
    return exp.Filter(this=counted, expression=exp.Where(this=exp.not_(is_null(present))))


def _terms(argument: exp.Expr, distinct: bool) -> exp.Expr:
    """The terms of a group as a list, in an order that no arrival of rows changes; NULL if there are none."""
    given = exp.Distinct(expressions=[argument.copy()]) if distinct else argument.copy()
    order = exp.Ordered(this=argument.copy(), nulls_first=False)
    listed = exp.ArrayAgg(this=exp.Order(this=given, expressions=[order]))
    return exp.Filter(this=listed, expression=exp.Where(this=exp.not_(is_null(argument))))


def _sum_of_list(terms: exp.Expr, part: str) -> exp.Expr:
    function = exp.Lambda(this=sum_parts(exp.column("item"))[part], expressions=[exp.to_identifier("item")])
    return exp.Anonymous(this="list_sum", expressions=[exp.Transform(this=terms, expression=function)])


def _number_if(condition: exp.Expr) -> exp.Expr:
    return exp.Case(ifs=[exp.If(this=condition, true=exp.Literal.number(1))], default=exp.Literal.number(0))
