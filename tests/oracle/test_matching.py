"""What an engine may write in another way than the oracle: computed values, and the last digits of SUM and AVG."""

from __future__ import annotations

import pyoxigraph as ox
import pytest
from tests.oracle.asking import EX

import penstock
from penstock.oracle.judging import first_difference
from penstock.oracle.matching import matched, rounded_variables
from penstock.rdf.results import Evaluation
from penstock.rdf.vocabulary import XSD
from penstock.syntax import ast

SUM = "SELECT (SUM(?n) AS ?x) FROM STREAM :s [RANGE 10ms TUMBLING] { ?a :n ?n }"
PLAIN = "SELECT ?x FROM STREAM :s [RANGE 10ms TUMBLING] { ?a :n ?x }"


def parsed(text: str) -> ast.Query:
    return penstock.parse(text, prefixes={"": EX})


def says(lexical: str, datatype: str) -> Evaluation:
    return Evaluation("q", 10, ("x",), ((ox.Literal(lexical, datatype=ox.NamedNode(XSD + datatype)),),))


@pytest.mark.parametrize(
    ("query", "found", "expected", "is_same", "is_rounded"),
    [
        (SUM, ("0.6000000000000001", "double"), ("0.6", "double"), True, True),
        (SUM, ("0.6", "double"), ("0.6", "double"), True, False),
        (SUM, ("6.0E-1", "double"), ("0.6", "double"), True, False),
        (SUM, ("0.60000001", "double"), ("0.6", "double"), False, False),
        (SUM, ("0.6000001", "float"), ("0.6", "float"), True, True),
        (SUM, ("0.6000000000000001", "decimal"), ("0.6", "decimal"), False, False),
        (SUM, ("10000000000000001", "integer"), ("10000000000000000", "integer"), False, False),
        (SUM, ("0.6", "float"), ("0.6", "double"), False, False),
        (SUM, ("INF", "double"), ("INF", "double"), True, False),
        (SUM, ("2.50", "decimal"), ("2.5", "decimal"), True, False),
        (PLAIN, ("0.6000000000000001", "double"), ("0.6", "double"), False, False),
        (PLAIN, ("95", "integer"), ("095", "integer"), False, False),
        (PLAIN, ("95", "integer"), ("95", "int"), False, False),
    ],
)
def test_terms_that_mean_the_same(
    query: str, found: tuple[str, str], expected: tuple[str, str], is_same: bool, is_rounded: bool
) -> None:
    answer = matched([says(*found)], [says(*expected)], parsed(query))
    assert answer.is_rounded == is_rounded
    assert (first_difference(answer.evaluations, answer.reference, False) is None) == is_same


@pytest.mark.parametrize(
    ("separator", "found", "expected", "is_same"),
    [
        ("", "b c a", "a b c", True),
        ("; SEPARATOR = '-'", "b-c-a", "a-b-c", True),
        ("; SEPARATOR = ''", "bca", "abc", True),
        ("", "a b c", "a b c", True),
        ("", "b c", "a b c", False),
        ("", "b b a", "b a a", False),
        ("; SEPARATOR = '-'", "b c a", "a b c", False),
    ],
)
def test_group_concat_may_have_any_order(separator: str, found: str, expected: str, is_same: bool) -> None:
    query = parsed(f"SELECT (GROUP_CONCAT(?n{separator}) AS ?x) FROM STREAM :s [RANGE 10ms TUMBLING] {{ ?a :n ?n }}")
    answer = matched([says(found, "string")], [says(expected, "string")], query)
    assert answer.is_reordered == (is_same and found != expected)
    assert (first_difference(answer.evaluations, answer.reference, False) is None) == is_same
    plain = matched([says(found, "string")], [says(expected, "string")], parsed(PLAIN))
    assert (first_difference(plain.evaluations, plain.reference, False) is None) == (found == expected)


def test_each_group_has_an_order_of_its_own() -> None:
    query = parsed("SELECT ?a (GROUP_CONCAT(?n) AS ?x) FROM STREAM :s [RANGE 10ms TUMBLING] { ?a :n ?n } GROUP BY ?a")

    def groups(*values: str) -> Evaluation:
        rows = ((ox.Literal(place), ox.Literal(value)) for place, value in enumerate(values))
        return Evaluation("q", 10, ("a", "x"), tuple(rows))

    for found, is_same in [(("b c", "b c"), True), (("c b", "b c"), True), (("b c", "b b"), False)]:
        answer = matched([groups(*found)], [groups("b c", "c b")], query)
        assert answer.is_reordered == is_same
        assert (first_difference(answer.evaluations, answer.reference, False) is None) == is_same


def test_variables_that_come_out_of_sum_and_avg() -> None:
    query = parsed(
        "SELECT ?z (?y * 2 AS ?x) ?n (COUNT(*) AS ?c) FROM STREAM :s [RANGE 10ms TUMBLING] "
        "{ { SELECT ?a (AVG(?n) AS ?y) { ?a :n ?n } GROUP BY ?a } BIND (?y + 1 AS ?z) ?a :n ?n } GROUP BY ?z ?y ?n"
    )
    assert rounded_variables(query) == {"x", "y", "z"}
