"""What a person reads on a terminal."""

from __future__ import annotations

import doctest
from pathlib import Path

import pytest
from tests.explain.cases import COUPONS, EXPECTED, FULL_STREETS, QUERIES, TOLLGATES, TURBINES, document

import penstock.explain
from penstock.algebra import Settings
from penstock.explain import explain
from penstock.explain.text import WIDTH, as_text
from penstock.syntax.parser.reports import parse_report


def test_a_csparql_query() -> None:
    assert explain(TOLLGATES.read_text()) == (EXPECTED / "tollgates.txt").read_text()


def test_the_papers_example_with_its_streams() -> None:
    assert as_text(document(COUPONS)) == (EXPECTED / "coupons.txt").read_text()


@pytest.mark.parametrize("query", QUERIES, ids=lambda path: path.stem)
def test_it_fits_a_terminal(query: Path) -> None:
    assert max(map(len, as_text(document(query)).splitlines())) <= WIDTH


def test_aggregate_is_an_operator_of_its_own() -> None:
    operators = as_text(document(FULL_STREETS)).partition("Operators")[2].partition("\nPlan\n")[0]
    assert operators.count("hasCapacity") == 1
    assert "Aggregate ?passages = COUNT(*) by ?street" in operators
    assert "Filter ?passages > 0.8 * ?capacity" in operators


def test_a_join_with_a_graph_has_a_static_side() -> None:
    lines = as_text(document(COUPONS)).partition("\nPlan\n")[0].splitlines()
    assert "  static           └─ BGP ?shop_owner :owns ?shop" in lines
    assert sum(line.startswith("  static") for line in lines) == 1


def test_what_the_user_says_goes_before_the_dialect() -> None:
    settings = Settings(parse_report("arrival"), "istream", "bag", 60_000)
    text = as_text(document(TOLLGATES, settings))
    assert text.count("set by you") == 4
    assert "evaluated whenever an element enters the window" in text
    assert "(1m, 11m]  (2m, 12m]  (3m, 13m]" in text


def test_streaming_sparql_has_right_open_windows() -> None:
    text = as_text(document(TURBINES))
    assert "[0, 30m)  [1m, 31m)  [2m, 32m)" in text
    assert "windows begin at the multiples of their slide" in text
    assert "the first one, at 2m, is part of the content during [2m, 32m)" in text


def test_paint_may_colour_but_the_text_stays() -> None:
    painted = as_text(document(COUPONS), lambda text, role: f"\0{text}\1")
    assert painted.replace("\0", "").replace("\1", "") == as_text(document(COUPONS))


def test_prefixes_are_made_up_where_there_are_none_and_listed() -> None:
    text = explain("SELECT * { ?s <http://ex.org/vocabulary/size> ?o }")
    assert "?s vocabulary:size ?o" in text
    assert text.endswith("  vocabulary:  <http://ex.org/vocabulary/>\n")


def test_exists_is_a_child_with_its_role() -> None:
    text = explain("SELECT * { ?s ?p ?o FILTER NOT EXISTS { ?o ?p ?s } }")
    assert "NOT EXISTS: BGP ?o ?p ?s" in text


def test_now_is_not_static() -> None:
    text = explain("SELECT ?n FROM <http://ex.org/g> { GRAPH <http://ex.org/h> { ?s ?p ?o } BIND (NOW() AS ?n) }")
    extend, scope, pattern = (line for line in text.splitlines() if any(w in line for w in ("Extend", "Graph ", "BGP")))
    assert extend.startswith("  streaming")
    assert scope.startswith("  static")
    assert pattern.startswith("  static")


def test_an_unknown_format_is_an_error_that_proposes_one() -> None:
    with pytest.raises(ValueError, match="did you mean html"):
        explain("ASK {}", "htlm")


def test_the_example_in_the_documentation() -> None:
    assert doctest.testmod(penstock.explain) == (0, 3)
