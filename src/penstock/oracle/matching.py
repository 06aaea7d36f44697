"""Matches terms of an answer with the oracle's if they are equal but written differently.

SPARQL leaves three choices to the engine. It may write a computed value in any form (2.50 or 2.5). It may add doubles
in any order, so the last digits of SUM and AVG may differ; these are compared with a tolerance. And it may join the
values of GROUP_CONCAT in any order. Terms from the data must be written in the same way, and integers and decimals must
be exact.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import isclose

import pyoxigraph as ox

from penstock.oracle.stored_terms import as_read_back
from penstock.rdf.elements import Node, Row
from penstock.rdf.results import Evaluation
from penstock.rdf.vocabulary import XSD, XSD_DOUBLE, XSD_STRING
from penstock.syntax import ast
from penstock.syntax.ast.traversal import walk

TOLERANCES = {XSD_DOUBLE: 1e-12, XSD + "float": 1e-5}
"""The tolerance for SUM and AVG, relative to the greater of the two values."""


@dataclass(frozen=True, slots=True)
class Matched:
    """An answer with the oracle's terms if they mean the same, and the oracle's answer to compare it with.

    `is_rounded`: some terms are the same only within the tolerance; `is_reordered`: some only if GROUP_CONCAT may join
    values in any order.
    """

    evaluations: list[Evaluation]
    reference: list[Evaluation]
    is_rounded: bool
    is_reordered: bool


def matched(answer: Sequence[Evaluation], reference: Sequence[Evaluation], query: ast.Query) -> Matched:
    """The answer, each evaluation compared with the oracle's at the same instant."""
    separators = separators_of(query)
    matching = _Matching(rounded_variables(query))
    written = matching.evaluations(answer, reference)
    if not separators:
        return Matched(written, list(reference), matching.is_rounded, is_reordered=False)
    expected = [_with_sorted_values(evaluation, separators) for evaluation in reference]
    found = matching.evaluations([_with_sorted_values(evaluation, separators) for evaluation in answer], expected)
    is_reordered = _rows(found) == _rows(expected) and _rows(written) != _rows(reference)
    return Matched(found, expected, matching.is_rounded, is_reordered)


def _rows(evaluations: Sequence[Evaluation]) -> list[Counter[Row]]:
    return [Counter(evaluation.rows) for evaluation in evaluations]


def _with_sorted_values(evaluation: Evaluation, separators: Mapping[str, str]) -> Evaluation:
    """With the values that each GROUP_CONCAT has joined in alphabetical order."""
    if evaluation.rows is None or separators.keys().isdisjoint(evaluation.variables or ()):
        return evaluation
    columns = [separators.get(name) for name in evaluation.variables or ()]
    rows = (tuple(map(_sorted_values, row, columns)) for row in evaluation.rows)
    return replace(evaluation, rows=tuple(rows))


def _sorted_values(term: Node | None, separator: str | None) -> Node | None:
    if separator is None or not isinstance(term, ox.Literal) or term.datatype.value != XSD_STRING:
        return term
    return ox.Literal(separator.join(sorted(term.value.split(separator) if separator else term.value)))


class _Matching:
    def __init__(self, rounded: frozenset[str]) -> None:
        self.rounded = rounded
        self.is_rounded = False

    def evaluations(self, answer: Sequence[Evaluation], reference: Sequence[Evaluation]) -> list[Evaluation]:
        by_time = {evaluation.time: evaluation for evaluation in reference}
        return [self._evaluation(one, by_time[one.time]) if one.time in by_time else one for one in answer]

    def _evaluation(self, one: Evaluation, other: Evaluation) -> Evaluation:
        if one.rows is not None and other.rows is not None:
            positions = {name: position for position, name in enumerate(other.variables or ())}
            finders: list[Callable[[Node | None], Node | None]] = []
            for name in one.variables or ():
                column = {row[positions[name]] for row in other.rows} if name in positions else set()
                finders.append(self._finder(column, name in self.rounded))
            rows = (tuple(find(term) for find, term in zip(finders, row, strict=True)) for row in one.rows)
            return replace(one, rows=tuple(rows))
        if one.triples is not None and other.triples is not None:
            find = self._finder({triple.object for triple in other.triples}, bool(self.rounded))  # type: ignore[misc]
            return replace(one, triples=tuple(_with_object(triple, find) for triple in one.triples))
        return one

    def _finder(self, theirs: set[Node | None], is_rounded: bool) -> Callable[[Node | None], Node | None]:
        numbers = list(_numbers(theirs)) if is_rounded else []

        def find(term: Node | None) -> Node | None:
            if term in theirs or not isinstance(term, ox.Literal):
                return term
            same = as_read_back(term)
            if same in theirs and same.datatype == term.datatype:
                return same
            datatype = same.datatype.value
            if not numbers or datatype not in TOLERANCES:
                return term
            value = float(same.value.replace("INF", "inf"))
            near = [n for n in numbers if n[0] == datatype and isclose(n[1], value, rel_tol=TOLERANCES[datatype])]
            if not near:
                return term
            self.is_rounded = True
            return min(near, key=lambda number: abs(number[1] - value))[2]

        return find


def _numbers(terms: set[Node | None]) -> Iterator[tuple[str, float, ox.Literal]]:
    for term in terms:
        if isinstance(term, ox.Literal) and term.datatype.value in TOLERANCES:
            try:
                yield term.datatype.value, float(term.value.replace("INF", "inf")), term
            except ValueError:
                continue  # it is not a number


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


def separators_of(query: ast.Query) -> dict[str, str]:
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
