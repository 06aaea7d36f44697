"""Matches terms of an answer with the oracle's if they are equal but written differently.

SPARQL leaves three choices to the engine. It may write a computed value in any form (2.50 or 2.5). It may add doubles
in any order, so the last digits of SUM and AVG may differ; these are compared with a tolerance. And it may join the
values of GROUP_CONCAT in any order. Terms from the data must be written in the same way, and integers and decimals must
be exact.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import isclose
from typing import TypeGuard

import pyoxigraph as ox

from penstock.oracle.stored_terms import as_read_back
from penstock.rdf.elements import Node
from penstock.rdf.results import Evaluation
from penstock.rdf.vocabulary import XSD, XSD_DOUBLE, XSD_STRING
from penstock.syntax import ast
from penstock.syntax.ast.traversal import walk

TOLERANCES = {XSD_DOUBLE: 1e-12, XSD + "float": 1e-5}
"""The tolerance for SUM and AVG, relative to the greater of the two values."""


_Number = tuple[str, float, ox.Literal]
"""Its datatype, its value, and how it is written."""


@dataclass(frozen=True, slots=True)
class Matched:
    """An answer with the oracle's terms if they mean the same.

    `is_rounded`: some only within the tolerance; `is_reordered`: some only if GROUP_CONCAT has another order.
    """

    evaluations: list[Evaluation]
    is_rounded: bool
    is_reordered: bool


def matched(answer: Sequence[Evaluation], reference: Sequence[Evaluation], query: ast.Query) -> Matched:
    """The answer, each evaluation compared with the oracle's at the same instant."""
    by_time = {evaluation.time: evaluation for evaluation in reference}
    matching = _Matching(rounded_variables(query), separators(query))
    return Matched(
        [
            matching.evaluation(evaluation, by_time[evaluation.time]) if evaluation.time in by_time else evaluation
            for evaluation in answer
        ],
        matching.is_rounded,
        matching.is_reordered,
    )


class _Matching:
    """`separators` has the variables that are a GROUP_CONCAT."""

    def __init__(self, rounded: frozenset[str], separators: Mapping[str, str]) -> None:
        self.rounded = rounded
        self.separators = separators
        self.is_rounded = False
        self.is_reordered = False

    def evaluation(self, one: Evaluation, other: Evaluation) -> Evaluation:
        if one.rows is not None and other.rows is not None:
            positions = {name: position for position, name in enumerate(other.variables or ())}
            finders: list[Callable[[Node | None], Node | None]] = []
            for name in one.variables or ():
                column = {row[positions[name]] for row in other.rows} if name in positions else set()
                separators = [self.separators[name]] if name in self.separators else []
                finders.append(self._finder(column, name in self.rounded, separators))
            rows = (tuple(find(term) for find, term in zip(finders, row, strict=True)) for row in one.rows)
            return replace(one, rows=tuple(rows))
        if one.triples is not None and other.triples is not None:
            objects: set[Node | None] = {triple.object for triple in other.triples}  # type: ignore[misc]
            find = self._finder(objects, bool(self.rounded), set(self.separators.values()))
            return replace(one, triples=tuple(_with_object(triple, find) for triple in one.triples))
        return one

    def _finder(
        self, theirs: set[Node | None], is_rounded: bool, separators: Iterable[str]
    ) -> Callable[[Node | None], Node | None]:
        numbers = list(_numbers(theirs)) if is_rounded else []
        joined = {_parts(term, separator): term for term in theirs for separator in separators if _is_string(term)}

        def find(term: Node | None) -> Node | None:
            if term in theirs or not isinstance(term, ox.Literal):
                return term
            same = as_read_back(term)
            if same in theirs and same.datatype == term.datatype:
                return same
            if _is_string(term):
                return self._reordered(term, joined, separators)
            return self._near(term, same, numbers)

        return find

    def _reordered(
        self, term: ox.Literal, joined: Mapping[tuple[str, ...], ox.Literal], separators: Iterable[str]
    ) -> ox.Literal:
        for separator in separators:
            if (found := joined.get(_parts(term, separator))) is not None:
                self.is_reordered = True
                return found
        return term

    def _near(self, term: ox.Literal, same: ox.Literal, numbers: list[_Number]) -> ox.Literal:
        datatype = same.datatype.value
        if not numbers or datatype not in TOLERANCES:
            return term
        value = float(same.value.replace("INF", "inf"))
        near = [n for n in numbers if n[0] == datatype and isclose(n[1], value, rel_tol=TOLERANCES[datatype])]
        if not near:
            return term
        self.is_rounded = True
        return min(near, key=lambda number: abs(number[1] - value))[2]


def _is_string(term: Node | None) -> TypeGuard[ox.Literal]:
    return isinstance(term, ox.Literal) and term.datatype.value == XSD_STRING


def _parts(term: ox.Literal, separator: str) -> tuple[str, ...]:
    """The values that GROUP_CONCAT has joined, sorted."""
    return tuple(sorted(term.value.split(separator) if separator else term.value))


def _numbers(terms: set[Node | None]) -> Iterator[_Number]:
    for term in terms:
        if isinstance(term, ox.Literal) and term.datatype.value in TOLERANCES:
            try:
                yield term.datatype.value, float(term.value.replace("INF", "inf")), term
            except ValueError:
                continue  # it is no number


def _with_object(
    triple: ox.Triple | ox.Quad, find: Callable[[Node | None], Node | None]
) -> ox.Triple | ox.Quad:  # fmt: skip
    target = find(triple.object)  # type: ignore[arg-type]
    if target is triple.object:
        return triple
    if isinstance(triple, ox.Quad):
        return ox.Quad(triple.subject, triple.predicate, target, triple.graph_name)  # type: ignore[arg-type]
    return ox.Triple(triple.subject, triple.predicate, target)  # type: ignore[arg-type]


def rounded_variables(query: ast.Query) -> frozenset[str]:
    """The variables computed from SUM or AVG, directly or through other variables."""
    assigned = list(_assigned(query))
    names: set[str] = set()
    while True:
        found = {name for name, value in assigned if any(_is_rounded(node, names) for node in walk(value))}
        if found <= names:
            return frozenset(names)
        names |= found


def separators(query: ast.Query) -> dict[str, str]:
    """The variables that are a GROUP_CONCAT, and what it puts between the values."""
    return {
        name: " " if value.separator is None else value.separator
        for name, value in _assigned(query)
        if isinstance(value, ast.Aggregate) and value.name == "GROUP_CONCAT"
    }


def _is_rounded(node: ast.Node, names: set[str]) -> bool:
    if isinstance(node, ast.Aggregate):
        return node.name in ("SUM", "AVG")
    return isinstance(node, ast.Variable) and node.name in names


def _assigned(query: ast.Query) -> Iterator[tuple[str, ast.Node]]:
    for node in walk(query):
        match node:
            case ast.Projection(variable, expression) if expression is not None:
                yield variable.name, expression
            case ast.Bind(expression, variable):
                yield variable.name, expression
            case ast.GroupCondition(expression, variable) if variable is not None:
                yield variable.name, expression
            case ast.AggregateClause(variable, aggregate):
                yield variable.name, aggregate
