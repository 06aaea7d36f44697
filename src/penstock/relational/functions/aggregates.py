"""Aggregates (SPARQL 1.1 §18.5.1), split into steps.

An argument is a column, from which some values are read first (`readings_of`). A group is aggregated in portions
(`Part.of_rows`), which are then combined (`Combination.together`), so that a portion can be part of many groups. Sums
can also be swept: added where a portion begins to hold, and subtracted where it ends. The last step (`finished`) makes
the aggregate's term of its parts. Integers and decimals are exact. One value that is an error, or no number, makes the
aggregate an error; COUNT and SAMPLE ignore errors.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

from sqlglot import exp

from penstock.algebra.expressions import AVG_OF_PARTIAL, PARTIAL_SUM, SUM_OF_PARTIAL, Aggregate
from penstock.relational.functions.calls import call, is_null, or_zero, text

Parts = Mapping[str, exp.Expr]
Readings = Mapping[str, exp.Expr]

Reading = Callable[[exp.Expr], exp.Expr]
"""The values that are read from an argument."""


def _part(partial_sum: exp.Expr, name: str) -> exp.Expr:
    return exp.Dot(this=exp.Paren(this=partial_sum), expression=exp.to_identifier(name))


_NUMBERS: Mapping[str, Reading] = {
    name: partial(call, f"sparql_read_{name}") for name in ("integer", "decimal", "floating")
}
_PARTIAL: Mapping[str, Reading] = {
    name: partial(_part, name=name) for name in ("low", "high", "fractions", "listed", "kind", "size")
}
_READINGS: Mapping[str, Mapping[str, Reading]] = {
    **dict.fromkeys(("SUM", "AVG", PARTIAL_SUM), _NUMBERS),
    **dict.fromkeys((SUM_OF_PARTIAL, AVG_OF_PARTIAL), _PARTIAL),
}


@dataclass(frozen=True, slots=True)
class Combination:
    """How portions are combined into a part of an aggregate."""

    together: Callable[[exp.Expr], exp.Expr]
    is_swept: bool = False
    weight: Callable[[exp.Expr], exp.Expr] = lambda value: value
    """The value that a portion adds to the running sum, if it is not the part itself,"""
    of_weights: Callable[[exp.Expr], exp.Expr] = lambda value: value
    """and the part for a running sum."""


def _lists_together(lists: exp.Expr) -> exp.Expr:
    there_are_some = exp.Where(this=exp.not_(is_null(lists)))
    return exp.Flatten(this=exp.Filter(this=exp.ArrayAgg(this=lists), expression=there_are_some))


SUM = Combination(lambda part: exp.Sum(this=part), is_swept=True)
LEAST = Combination(lambda part: exp.Min(this=part))
GREATEST = Combination(lambda part: exp.Max(this=part))
KIND = Combination(
    GREATEST.together,
    is_swept=True,
    weight=lambda kind: call("sparql_kind_weight", kind),
    of_weights=lambda weights: call("sparql_heaviest_kind", weights),
)
FLOAT, DOUBLE = 2, 3
"""The kinds of numbers (`sparql_sum_kind`) whose sums are floating."""
FLOATING = Combination(SUM.together)
"""A sum of doubles: a value that was added cannot be subtracted again exactly."""
LISTS = Combination(_lists_together)


@dataclass(frozen=True, slots=True)
class Part:
    of_rows: exp.Expr
    combination: Combination


def readings_of(aggregate: Aggregate) -> Mapping[str, Reading]:
    """The values that the aggregate reads from its argument, by name; each becomes a column of its own."""
    return _READINGS.get(aggregate.name, {})


def parts_of(aggregate: Aggregate, argument: exp.Expr, read: Readings) -> dict[str, Part]:
    """The parts of the aggregate, by name; the same name means the same part for every aggregate of `argument`."""
    return _AGGREGATES[aggregate.name].parts(argument, read)


def finished(aggregate: Aggregate, parts: Parts, size: exp.Expr) -> exp.Expr:
    """The aggregate's term, NULL if it is an error; `size` is the number of rows in the group.

    Parts and size are columns; they are NULL for an empty group.
    """
    if aggregate.argument is None:
        return _term_of_count(size)
    return _AGGREGATES[aggregate.name].finish(aggregate, parts, size)


def is_swept(aggregate: Aggregate) -> bool:
    """Whether running sums compute the aggregate (except for floating numbers)."""
    return aggregate.name in ("COUNT", "SUM", "AVG")


def needs_distinct_rows(aggregate: Aggregate) -> bool:
    """Whether duplicates change the aggregate, and each value must be counted once."""
    return aggregate.distinct and is_swept(aggregate)


@dataclass(frozen=True, slots=True)
class _Composition:
    parts: Callable[[exp.Expr, Readings], dict[str, Part]]
    finish: Callable[[Aggregate, Parts, exp.Expr], exp.Expr]


def _count_parts(argument: exp.Expr, read: Readings) -> dict[str, Part]:
    return {"bound": Part(exp.Count(this=argument.copy()), SUM)}


def _count(aggregate: Aggregate, parts: Parts, size: exp.Expr) -> exp.Expr:
    return _term_of_count(parts["bound"])


def _sum_parts(argument: exp.Expr, read: Readings) -> dict[str, Part]:
    integer, decimal, floating = (read[name] for name in ("integer", "decimal", "floating"))
    return {
        "low": Part(exp.Sum(this=call("sparql_sum_low", integer, decimal)), SUM),
        "high": Part(exp.Sum(this=call("sparql_sum_high", integer)), SUM),
        "fractions": Part(exp.Sum(this=call("sparql_sum_fraction", decimal)), SUM),
        "floating": Part(exp.Sum(this=floating.copy()), FLOATING),
        "kind": Part(exp.Max(this=call("sparql_sum_kind", argument, integer, decimal, floating)), KIND),
    }


_SUM_PARTS = ("low", "high", "fractions", "floating", "kind")


def _sum(aggregate: Aggregate, parts: Parts, size: exp.Expr) -> exp.Expr:
    return call("sparql_sum_term", *(parts[name] for name in _SUM_PARTS))


def _mean(aggregate: Aggregate, parts: Parts, size: exp.Expr) -> exp.Expr:
    return call("sparql_mean_term", *(parts[name] for name in _SUM_PARTS), size)


# Partial sums: floating numbers are listed, so that each of them is added at the end, as in a whole sum.


def _partial_parts(argument: exp.Expr, read: Readings) -> dict[str, Part]:
    floating = read["floating"]
    is_one = exp.Where(this=exp.not_(is_null(floating)))
    listed = exp.Filter(this=exp.ArrayAgg(this=floating.copy()), expression=is_one)
    return {**_sum_parts(argument, read), "listed": Part(listed, LISTS)}


def _partial(aggregate: Aggregate, parts: Parts, size: exp.Expr) -> exp.Expr:
    return call("sparql_partial_sum", *(parts[name] for name in _LISTED_PARTS), size)


def _together_parts(argument: exp.Expr, read: Readings) -> dict[str, Part]:
    exact = {name: Part(exp.Sum(this=read[name].copy()), SUM) for name in ("low", "high", "fractions", "size")}
    kind = Part(exp.Max(this=read["kind"].copy()), GREATEST)
    return {**exact, "kind": kind, "listed": Part(_lists_together(read["listed"].copy()), LISTS)}


_LISTED_PARTS = ("low", "high", "fractions", "listed", "kind")


def _sum_of_partial(aggregate: Aggregate, parts: Parts, size: exp.Expr) -> exp.Expr:
    return call("sparql_listed_sum_term", *(parts[name] for name in _LISTED_PARTS))


def _mean_of_partial(aggregate: Aggregate, parts: Parts, size: exp.Expr) -> exp.Expr:
    return call("sparql_listed_mean_term", *(parts[name] for name in _LISTED_PARTS), parts["size"])


def _errors(argument: exp.Expr) -> Part:
    counted = exp.Count(this=argument.copy())
    return Part(exp.Sub(this=exp.Count(this=exp.Star()), expression=counted), SUM)


def _if_sound(parts: Parts, value: exp.Expr) -> exp.Expr:
    is_sound = exp.EQ(this=or_zero(parts["errors"].copy()), expression=exp.Literal.number(0))
    return exp.Case(ifs=[exp.If(this=is_sound, true=value)])


def _extreme(function: type[exp.Min | exp.Max], combination: Combination, name: str) -> _Composition:
    def parts(argument: exp.Expr, read: Readings) -> dict[str, Part]:
        return {
            f"{name} integer": Part(function(this=call("sparql_plain_integer", argument)), combination),
            f"{name} other": Part(function(this=call("sparql_otherwise_ranked", argument)), combination),
            "errors": _errors(argument),
        }

    def finish(aggregate: Aggregate, parts: Parts, size: exp.Expr) -> exp.Expr:
        return _if_sound(parts, call(f"sparql_{name}", parts[f"{name} integer"], parts[f"{name} other"]))

    return _Composition(parts, finish)


def _sample_parts(argument: exp.Expr, read: Readings) -> dict[str, Part]:
    # Any value is correct. The least is the same in every order of the rows.
    return {"sample": Part(exp.Min(this=argument.copy()), LEAST)}


def _sample(aggregate: Aggregate, parts: Parts, size: exp.Expr) -> exp.Expr:
    return parts["sample"]


def _group_concat_parts(argument: exp.Expr, read: Readings) -> dict[str, Part]:
    bound = exp.Where(this=exp.not_(is_null(argument)))
    listed = exp.Filter(this=exp.ArrayAgg(this=argument.copy()), expression=bound)
    return {"terms": Part(listed, LISTS), "errors": _errors(argument)}


def _group_concat(aggregate: Aggregate, parts: Parts, size: exp.Expr) -> exp.Expr:
    separator = " " if aggregate.separator is None else aggregate.separator
    terms = exp.ArrayDistinct(this=parts["terms"].copy()) if aggregate.distinct else parts["terms"]
    return _if_sound(parts, call("sparql_group_concat", terms, text(separator)))


_AGGREGATES: Mapping[str, _Composition] = {
    "COUNT": _Composition(_count_parts, _count),
    "SUM": _Composition(_sum_parts, _sum),
    "AVG": _Composition(_sum_parts, _mean),
    PARTIAL_SUM: _Composition(_partial_parts, _partial),
    SUM_OF_PARTIAL: _Composition(_together_parts, _sum_of_partial),
    AVG_OF_PARTIAL: _Composition(_together_parts, _mean_of_partial),
    "MIN": _extreme(exp.Min, LEAST, "least"),
    "MAX": _extreme(exp.Max, GREATEST, "greatest"),
    "SAMPLE": _Composition(_sample_parts, _sample),
    "GROUP_CONCAT": _Composition(_group_concat_parts, _group_concat),
}


def _term_of_count(count: exp.Expr) -> exp.Expr:
    return exp.DPipe(this=text("i"), expression=exp.cast(or_zero(count), "TEXT"))
