"""C-SPARQL's AGGREGATE (semantics.md §8): every solution is extended with the aggregate over its group."""

from __future__ import annotations

import pytest
from tests.oracle.asking import ask, shown

WINDOW = "FROM STREAM :s [RANGE 9ms TUMBLING]"
SALES = "1 :a :sold 3 \n 2 :a :sold 4 \n 3 :b :sold 5 \n 9 :x :y :z"


def test_the_number_of_rows_does_not_change() -> None:
    query = f"SELECT ?x ?v ?n {WINDOW} {{ ?x :sold ?v }} AGGREGATE {{ (?n, COUNT, {{?x}}) }}"
    assert shown(ask(query, SALES)) == {9: ["a 3 2", "a 4 2", "b 5 1"]}
    assert shown(ask(query.replace("?x ?v ?n", "?x ?n"), SALES)) == {9: ["a 2", "a 2", "b 1"]}
    assert shown(ask(query.replace("?x ?v ?n", "DISTINCT ?x ?n"), SALES)) == {9: ["a 2", "b 1"]}
    assert shown(ask(query.replace("?x ?v ?n", "*"), SALES)) == {9: ["a 3 2", "a 4 2", "b 5 1"]}


@pytest.mark.parametrize(
    ("function", "a", "b"),
    [
        ("SUM(?v)", "7", "5"),
        ("AVG(?v)", "3.5", "5"),
        ("MIN(?v)", "3", "5"),
        ("MAX(?v)", "4", "5"),
        ("COUNT", "2", "1"),
        ("COUNT(?v)", "2", "1"),
    ],
)
@pytest.mark.parametrize("group", ["?x", "{?x}"])
def test_each_function(function: str, a: str, b: str, group: str) -> None:
    query = f"SELECT DISTINCT ?x ?n {WINDOW} {{ ?x :sold ?v }} AGGREGATE {{ (?n, {function}, {group}) }}"
    assert shown(ask(query, SALES)) == {9: [f"a {a}", f"b {b}"]}


def test_several_clauses_each_on_its_own() -> None:
    """Other groups over the same solutions, and one clause's filter has no say in what another one counts."""
    query = f"""
        SELECT ?x ?v ?n ?all {WINDOW} {{ ?x :sold ?v . ?x :in ?city }}
        AGGREGATE {{ (?n, COUNT, {{?x}}) FILTER (?n > 1) (?all, SUM(?v), {{?city}}) }}
    """
    static = ":a :in :rome . :b :in :rome ."
    assert shown(ask(query, SALES, static=static)) == {9: ["a 3 2 12", "a 4 2 12"]}


def test_filters_of_several_clauses_hold_together() -> None:
    query = f"""
        SELECT DISTINCT ?x ?n ?sum {WINDOW} {{ ?x :sold ?v }}
        AGGREGATE {{ (?n, COUNT, {{?x}}) FILTER (?n > 0) (?sum, SUM(?v), {{?x}}) FILTER (?sum < ?n * 4) }}
    """
    assert shown(ask(query, SALES)) == {9: ["a 2 7"]}


def test_a_filter_may_use_the_variables_of_where() -> None:
    query = f"SELECT ?x ?v {WINDOW} {{ ?x :sold ?v }} AGGREGATE {{ (?m, MAX(?v), ?x) FILTER (?v < ?m) }}"
    assert shown(ask(query, SALES)) == {9: ["a 3"]}


class TestUnboundVariables:
    STATIC = ":a :in :rome ."

    def test_to_group_by(self) -> None:
        """The solutions that leave it unbound are a group as well."""
        query = f"""
            SELECT ?x ?city ?n {WINDOW} {{ ?x :sold ?v OPTIONAL {{ ?x :in ?city }} }}
            AGGREGATE {{ (?n, COUNT, {{?city}}) }}
        """
        stream = SALES + "\n 9 :c :sold 1"
        assert shown(ask(query, stream, static=self.STATIC)) == {9: ["a rome 2", "a rome 2", "b - 2", "c - 2"]}
        found = shown(ask(query.replace("?x ?city ?n", "*"), stream, static=self.STATIC))
        assert found == {9: ["a 3 rome 2", "a 4 rome 2", "b 5 - 2", "c 1 - 2"]}

    def test_two_of_them(self) -> None:
        query = f"""
            SELECT ?x ?city ?boss ?n {WINDOW}
            {{ ?x :sold ?v OPTIONAL {{ ?x :in ?city }} OPTIONAL {{ ?x :under ?boss }} }}
            AGGREGATE {{ (?n, SUM(?v), {{?city, ?boss}}) }}
        """
        static = ":a :in :rome . :b :in :rome ; :under :a ."
        stream = SALES + "\n 9 :c :sold 1 \n 9 :d :sold 1"
        assert shown(ask(query, stream, static=static)) == {
            9: ["a rome - 7", "a rome - 7", "b rome a 5", "c - - 2", "d - - 2"]
        }

    def test_to_aggregate(self) -> None:
        """COUNT(?v) counts where ?v is bound, COUNT counts solutions."""
        query = f"""
            SELECT DISTINCT ?city ?some ?all {WINDOW} {{ ?x :in ?city OPTIONAL {{ ?x :sold ?v }} }}
            AGGREGATE {{ (?some, COUNT(?v), ?city) (?all, COUNT, ?city) }}
        """
        static = ":a :in :rome . :c :in :rome ."
        assert shown(ask(query, SALES, static=static)) == {9: ["rome 2 3"]}


def test_what_cannot_be_added_leaves_the_variable_unbound() -> None:
    query = f"SELECT ?x ?v ?n {WINDOW} {{ ?x :sold ?v }} AGGREGATE {{ (?n, SUM(?v), {{?x}}) }}"
    assert shown(ask(query, '1 :a :sold "much" \n 2 :a :sold 1 \n 9 :b :sold 2')) == {9: ["a 1 -", "a much -", "b 2 2"]}


def test_a_triple_twice() -> None:
    query = f"SELECT ?x ?n {WINDOW} {{ ?x :sold ?v }} AGGREGATE {{ (?n, COUNT, {{?x}}) }}"
    stream = "1 :a :sold 3 \n 2 :a :sold 3 \n 9 :b :sold 5"
    assert shown(ask(query, stream)) == {9: ["a 1", "b 1"]}
    assert shown(ask(query, stream, duplicates="bag")) == {9: ["a 2", "a 2", "b 1"]}


def test_blank_nodes_in_the_pattern() -> None:
    query = f"SELECT ?x ?n {WINDOW} {{ ?x :sold [ :price ?v ] }} AGGREGATE {{ (?n, SUM(?v), {{?x}}) }}"
    stream = "1 :a :sold :t \n 2 :t :price 3 \n 3 :a :sold :u \n 9 :u :price 4"
    assert shown(ask(query, stream)) == {9: ["a 7", "a 7"]}


def test_blank_nodes_in_the_data_to_group_by() -> None:
    query = f"SELECT ?v ?n {WINDOW} {{ ?x :sold ?v }} AGGREGATE {{ (?n, COUNT, {{?x}}) }}"
    stream = "1 [ :sold 1, 2 ] \n 9 [ :sold 3 ]"
    assert shown(ask(query, stream)) == {9: ["1 2", "2 2", "3 1"]}


def test_in_a_construct() -> None:
    query = f"CONSTRUCT {{ ?x :total ?n }} {WINDOW} {{ ?x :sold ?v }} AGGREGATE {{ (?n, SUM(?v), ?x) FILTER (?n > 5) }}"
    assert shown(ask(query, SALES)) == {9: ["a total 7"]}


def test_group_by_works_as_ever() -> None:
    query = f"SELECT ?x (SUM(?v) AS ?n) {WINDOW} {{ ?x :sold ?v }} GROUP BY ?x"
    assert shown(ask(query, SALES)) == {9: ["a 7", "b 5"]}


def test_no_solutions_no_rows() -> None:
    query = f"SELECT ?x ?n {WINDOW} {{ ?x :bought ?v }} AGGREGATE {{ (?n, COUNT, {{?x}}) }}"
    assert shown(ask(query, SALES), empty=True) == {9: []}
