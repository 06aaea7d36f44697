"""Aggregates (SPARQL 1.1 §18.5.1) inside a GROUP BY.

SUM and AVG are sums of parts (`sum_parts`), each a plain SQL sum, and a last step (`sum_of_parts`, `mean_of_parts`): so
they can be added up, and taken away again, along a sweep. Integers and decimals are exact. One value that is an error, or
no number, makes the aggregate an error; COUNT and SAMPLE pass over errors.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from sqlglot import exp

from penstock.algebra.expressions import Aggregate
from penstock.relational.functions.calls import applied, bound, call, text

SUM_PARTS = ("low", "high", "fraction", "floating", "faults", "decimals", "floats", "doubles", "rows")
"""What a sum is made of; `rows` is how many numbers there are, for the mean."""


def compile_aggregate(
    aggregate: Aggregate,
    argument: exp.Expression | None,
    columns: Sequence[exp.Expression] = (),
    *,
    present: exp.Expression | None = None,
) -> exp.Expression:
    """The aggregate of `argument`, a term: NULL where it is an error.

    `columns` are those of a solution, for COUNT(DISTINCT *). Where a group may hold a row that stands for no solution (a
    group of nothing, by a left join), `present` is NULL in that row and in no other.
    """
    rows = exp.Count(this=exp.Star()) if present is None else exp.Count(this=present)
    if argument is None:
        return _term_of_count(rows if not aggregate.distinct else _distinct_solutions(columns, present))
    return _AGGREGATES[aggregate.name](aggregate, argument, rows)


def sum_parts(term: exp.Expression) -> dict[str, exp.Expression]:
    """What each term adds to the parts of a sum (SUM_PARTS); all are numbers, and none is NULL."""
    exact = applied("sparql_sum_low", term)
    floating = applied("sparql_sum_floating", term)

    def having(*tags: str) -> exp.Expression:
        tag = exp.Left(this=term, expression=exp.Literal.number(1))
        return _number_if(exp.In(this=tag, expressions=[text(tag) for tag in tags]))

    fault = exp.and_(exp.Is(this=exact, expression=exp.null()), exp.Is(this=floating, expression=exp.null()))
    return {
        "low": exp.Coalesce(this=exact, expressions=[exp.Literal.number(0)]),
        "high": exp.Coalesce(this=applied("sparql_sum_high", term), expressions=[exp.Literal.number(0)]),
        "fraction": exp.Coalesce(this=applied("sparql_sum_fraction", term), expressions=[exp.Literal.number(0)]),
        "floating": exp.Coalesce(this=floating, expressions=[exp.Literal.number(0)]),
        "faults": _number_if(fault),
        "decimals": having("d"),
        "floats": having("f"),
        "doubles": having("e"),
        "rows": exp.Literal.number(1),
    }


def sum_of_parts(parts: Mapping[str, exp.Expression]) -> exp.Expression:
    """SUM, given the sum of each part."""
    return call("sparql_sum_term", call("sparql_sums", *(parts[name] for name in SUM_PARTS)))


def mean_of_parts(parts: Mapping[str, exp.Expression]) -> exp.Expression:
    """AVG, given the sum of each part."""
    return call("sparql_mean_term", call("sparql_sums", *(parts[name] for name in SUM_PARTS)))


def _count(aggregate: Aggregate, argument: exp.Expression, rows: exp.Expression) -> exp.Expression:
    counted = exp.Distinct(expressions=[argument]) if aggregate.distinct else argument
    return _term_of_count(exp.Count(this=counted))


def _sum(aggregate: Aggregate, argument: exp.Expression, rows: exp.Expression) -> exp.Expression:
    return _from_sums(aggregate, argument, rows, sum_of_parts)


def _mean(aggregate: Aggregate, argument: exp.Expression, rows: exp.Expression) -> exp.Expression:
    return _from_sums(aggregate, argument, rows, mean_of_parts)


def _from_sums(
    aggregate: Aggregate,
    argument: exp.Expression,
    rows: exp.Expression,
    finish: Callable[[Mapping[str, exp.Expression]], exp.Expression],
) -> exp.Expression:
    if aggregate.distinct:
        errors = exp.Sub(this=rows, expression=exp.Count(this=argument))
        terms = exp.column("terms")
        sums = {name: _sum_of_list(terms, name) for name in SUM_PARTS}
        sums["faults"] = exp.Add(this=exp.column("errors"), expression=_or_zero(sums["faults"]))
        sums["rows"] = _or_zero(sums["rows"])
        return bound([("errors", errors), ("terms", _distinct_terms(argument))], finish(sums))
    parts = sum_parts(argument)
    sums = {name: exp.Sum(this=part) for name, part in parts.items()}
    # A row that stands for no solution adds nothing, and is no fault.
    sums["faults"] = exp.Sub(this=rows, expression=_or_zero(exp.Sum(this=exp.Sub(this=parts["rows"], expression=parts["faults"]))))
    sums["rows"] = rows
    return finish(sums)


def _least(aggregate: Aggregate, argument: exp.Expression, rows: exp.Expression) -> exp.Expression:
    return _extreme(exp.Min, "sparql_least", argument, rows)


def _greatest(aggregate: Aggregate, argument: exp.Expression, rows: exp.Expression) -> exp.Expression:
    return _extreme(exp.Max, "sparql_greatest", argument, rows)


def _extreme(
    function: type[exp.Min | exp.Max], macro: str, argument: exp.Expression, rows: exp.Expression
) -> exp.Expression:
    integer = function(this=applied("sparql_plain_integer", argument))
    other = function(this=applied("sparql_otherwise_ranked", argument))
    is_sound = exp.EQ(this=rows, expression=exp.Count(this=argument))
    return exp.Case(ifs=[exp.If(this=is_sound, true=call(macro, integer, other))])


def _sample(aggregate: Aggregate, argument: exp.Expression, rows: exp.Expression) -> exp.Expression:
    # Any value will do. The least is the same one however the rows arrive.
    return exp.Min(this=argument)


def _group_concat(aggregate: Aggregate, argument: exp.Expression, rows: exp.Expression) -> exp.Expression:
    separator = " " if aggregate.separator is None else aggregate.separator
    return call("sparql_group_concat", _terms(argument, aggregate.distinct), text(separator), exp.Sub(this=rows, expression=exp.Count(this=argument)))


_AGGREGATES: Mapping[str, Callable[[Aggregate, exp.Expression, exp.Expression], exp.Expression]] = {
    "COUNT": _count,
    "SUM": _sum,
    "AVG": _mean,
    "MIN": _least,
    "MAX": _greatest,
    "SAMPLE": _sample,
    "GROUP_CONCAT": _group_concat,
}


def _term_of_count(count: exp.Expression) -> exp.Expression:
    return exp.DPipe(this=text("i"), expression=exp.cast(count, "TEXT"))


def _distinct_solutions(columns: Sequence[exp.Expression], present: exp.Expression | None) -> exp.Expression:
    row = exp.Anonymous(this="row", expressions=[*columns, text("")])
    counted = exp.Count(this=exp.Distinct(expressions=[row]))
    if present is None:
        return counted
    there = exp.not_(exp.Is(this=present, expression=exp.null()))
    return exp.Filter(this=counted, expression=exp.Where(this=there))


def _terms(argument: exp.Expression, distinct: bool) -> exp.Expression:
    """The terms of a group as a list, in an order that does not depend on how the rows arrive; NULL if there are none."""
    given = exp.Distinct(expressions=[argument]) if distinct else argument
    listed = exp.ArrayAgg(this=exp.Order(this=given, expressions=[exp.Ordered(this=argument, nulls_first=False)]))
    there = exp.not_(exp.Is(this=argument, expression=exp.null()))
    return exp.Filter(this=listed, expression=exp.Where(this=there))


def _distinct_terms(argument: exp.Expression) -> exp.Expression:
    return _terms(argument, True)


def _sum_of_list(terms: exp.Expression, part: str) -> exp.Expression:
    function = exp.Lambda(this=sum_parts(exp.column("item"))[part], expressions=[exp.to_identifier("item")])
    return exp.Anonymous(this="list_sum", expressions=[exp.Transform(this=terms, expression=function)])


def _or_zero(value: exp.Expression) -> exp.Expression:
    return exp.Coalesce(this=value, expressions=[exp.Literal.number(0)])


def _number_if(condition: exp.Expression) -> exp.Expression:
    return exp.Case(ifs=[exp.If(this=condition, true=exp.Literal.number(1))], default=exp.Literal.number(0))
