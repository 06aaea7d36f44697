"""Content as a bag (semantics.md §3): a triple counts as often as it is in the window, wherever SPARQL counts."""

from __future__ import annotations

import pytest
from tests.oracle.asking import ask, elements, graph, shown

# a :p b twice, b :q c twice, a :q b once
STREAM = "1 :a :p :b \n 2 :a :p :b \n 3 :b :q :c \n 4 :b :q :c \n 5 :a :q :b"


def at_the_end(pattern: str, variables: str = "?x ?y", tail: str = "", static: str = "") -> list[str]:
    """The rows at 5, of CQELS with everything in one window."""
    query = f"SELECT {variables} {{ STREAM :s [ALL] {{ {pattern} }} }} {tail}"
    return shown(ask(query, STREAM, operator="rstream", static=static)).get(5, [])


class TestPatterns:
    def test_a_triple_pattern(self) -> None:
        assert at_the_end("?x :p ?y") == ["a b", "a b"]

    def test_a_join_multiplies(self) -> None:
        assert at_the_end("?x :p ?m . ?m :q ?y") == ["a c"] * 4

    def test_one_occurrence_may_match_two_patterns(self) -> None:
        assert at_the_end("?x :p ?y . ?x :p ?z") == ["a b"] * 4

    def test_a_set_counts_once(self) -> None:
        query = "SELECT ?x ?y { STREAM :s [ALL] { ?x :p ?m . ?m :q ?y } }"
        assert shown(ask(query, STREAM, operator="rstream", duplicates="set"))[5] == ["a c"]

    def test_union_adds(self) -> None:
        assert at_the_end("{ ?x :p ?y } UNION { ?x :q ?y }") == ["a b"] * 3 + ["b c"] * 2

    def test_optional(self) -> None:
        """The left side twice: with two partners four, without one two."""
        assert at_the_end("?x :p ?m OPTIONAL { ?m :q ?y }") == ["a c"] * 4
        assert at_the_end("?x :p ?m OPTIONAL { ?m :r ?y }") == ["a -"] * 2

    def test_optional_with_a_filter(self) -> None:
        assert at_the_end("?x :p ?m OPTIONAL { ?m :q ?y FILTER (?x = :z) }") == ["a -"] * 2

    def test_minus_takes_all_of_them(self) -> None:
        assert at_the_end("?x :q ?y MINUS { ?z :p ?x }") == ["a b"]
        assert at_the_end("?x :p ?y MINUS { ?x :r ?y }") == ["a b"] * 2

    def test_exists_does_not_multiply(self) -> None:
        assert at_the_end("?x :p ?y FILTER EXISTS { ?y :q ?z }") == ["a b"] * 2
        assert at_the_end("?x :q ?y FILTER NOT EXISTS { ?z :p ?x }") == ["a b"]

    def test_blank_nodes_in_the_pattern_multiply_as_variables_do(self) -> None:
        assert at_the_end("?x :p [ :q ?y ]") == ["a c"] * 4
        assert at_the_end("?x :p _:m . _:m :q ?y") == ["a c"] * 4

    def test_values_and_bind(self) -> None:
        assert at_the_end("?x :p ?m VALUES ?m { :b } BIND (1 AS ?y)") == ["a 1"] * 2

    def test_static_triples_count_once(self) -> None:
        query = "SELECT ?x ?y { STREAM :s [ALL] { ?x :p ?m } ?m :in ?y }"
        found = shown(ask(query, STREAM, operator="rstream", static=":b :in :rome ."))
        assert found[5] == ["a rome"] * 2

    def test_graphs_elements(self) -> None:
        """A graph is a set, and a triple of two graphs is there twice."""
        query = "SELECT ?x ?y { STREAM :s [ALL] { ?x :p ?y } }"
        found = shown(ask(query, "1 :a :p :b ; :p :c \n 2 :a :p :b", operator="rstream"))
        assert found == {1: ["a b", "a c"], 2: ["a b", "a b", "a c"]}


class TestPaths:
    """SPARQL 1.1 §18.2.2.4: a sequence is a join, an alternative a union; what repeats is without duplicates."""

    @pytest.mark.parametrize(
        ("path", "expected"),
        [
            ("?x :p/:q ?y", ["a c"] * 4),
            ("?x ^:p ?y", ["b a"] * 2),
            ("?x :p|:q ?y", ["a b"] * 3 + ["b c"] * 2),
            ("?x !:q ?y", ["a b"] * 2),
            ("?x !(:q|^:q) ?y", ["a b"] * 2 + ["b a"] * 2),
            ("?x :p+ ?y", ["a b"]),
            ("?x (:p|:q)+ ?y", ["a b", "a c", "b c"]),
            ("?x (:p/:q)+ ?y", ["a c"]),
            ("?x :p/:q+ ?y", ["a c"] * 2),
            ("?x :p+/:q ?y", ["a c"] * 2),
            ("?x ^:p/:q ?y", ["b b"] * 2),
            (":a :p? ?y VALUES ?x { 0 }", ["0 a", "0 b"]),
            (":a :p* ?y VALUES ?x { 0 }", ["0 a", "0 b"]),
            ("?x :p/(:q|:r) ?y", ["a c"] * 4),
        ],
    )
    def test_each_kind(self, path: str, expected: list[str]) -> None:
        assert at_the_end(path) == expected

    def test_in_a_set_they_are_as_in_sparql(self) -> None:
        query = "SELECT ?x ?y FROM STREAM :s [RANGE 5ms TUMBLING] { ?x :p/:q ?y }"
        assert shown(ask(query, STREAM)) == {5: ["a c"]}
        assert shown(ask(query, STREAM, duplicates="bag")) == {5: ["a c"] * 4}


class TestSelecting:
    def test_distinct_and_reduced(self) -> None:
        assert at_the_end("?x :p ?y", "DISTINCT ?x ?y") == ["a b"]
        assert at_the_end("?x :p ?y", "DISTINCT *") == ["a b"]
        assert set(at_the_end("?x :p ?y", "REDUCED ?x ?y")) == {"a b"}

    @pytest.mark.parametrize(
        ("inner", "expected"),
        [("*", 2), ("?x ?y", 2), ("DISTINCT *", 1), ("DISTINCT ?x ?y", 1), ("DISTINCT ?x", 1)],
    )
    def test_sub_selects(self, inner: str, expected: int) -> None:
        assert at_the_end(f"{{ SELECT {inner} {{ ?x :p ?y }} }}", "?x") == ["a"] * expected

    def test_a_sub_select_joined_with_a_pattern(self) -> None:
        assert at_the_end("?y :q ?z . { SELECT DISTINCT * { ?x :p ?y } }") == ["a b"] * 2

    @pytest.mark.parametrize(
        ("aggregate", "expected"),
        [
            ("COUNT(*)", "5"),
            ("COUNT(?x)", "5"),
            ("COUNT(DISTINCT ?x)", "2"),
            ("COUNT(DISTINCT *)", "3"),
        ],
    )
    def test_counting(self, aggregate: str, expected: str) -> None:
        assert at_the_end("?x ?p ?y", f"({aggregate} AS ?n)") == [expected]

    def test_sums_and_groups(self) -> None:
        query = """
            SELECT ?x (SUM(?v) AS ?n) (SUM(DISTINCT ?v) AS ?d) (COUNT(DISTINCT *) AS ?r)
            { STREAM :s [ALL] { ?x :v ?v } } GROUP BY ?x
        """
        found = shown(ask(query, "1 :a :v 2 \n 2 :a :v 2 \n 3 :b :v 3 \n 3 :a :v 5", operator="rstream"))
        assert found[3] == ["a 9 7 2", "b 3 3 1"]

    def test_limit(self) -> None:
        assert at_the_end("?x ?p ?y", "?x ?y", "ORDER BY ?x ?y LIMIT 4") == ["a b"] * 3 + ["b c"]

    def test_ask_and_construct_do_not_count(self) -> None:
        query = "CONSTRUCT { ?x :to ?y } { STREAM :s [ALL] { ?x :p ?y } }"
        assert shown(ask(query, STREAM, operator="rstream"))[5] == ["a to b"]
        assert shown(ask("ASK { STREAM :s [ALL] { ?x :p ?y } }", STREAM, operator="rstream"))[5] == ["true"]


class TestWindowsAndGraphs:
    def test_two_windows_over_one_stream(self) -> None:
        """NOW holds one occurrence, RANGE both."""
        query = "SELECT ?x ?y { STREAM :s [NOW] { ?x :p ?z } STREAM :s [RANGE 9ms] { ?y :p ?z } }"
        found = shown(ask(query, "1 :a :p 1 \n 2 :a :p 1 \n 2 :a :p 1", operator="rstream"))
        assert found == {1: ["a a"], 2: ["a a"] * 6}

    def test_the_same_block_twice(self) -> None:
        query = "SELECT ?x ?y { STREAM :s [RANGE 9ms] { ?x :p ?z } STREAM :s [RANGE 9ms] { ?y :p ?z } }"
        found = shown(ask(query, "1 :a :p 1 \n 1 :a :p 1", operator="rstream"))
        assert found == {1: ["a a"] * 4}

    def test_the_default_graph_of_streaming_sparql(self) -> None:
        query = "SELECT ?x ?y FROM STREAM :s WINDOW RANGE 9 FIXED { ?x :p ?m . ?m :q ?y }"
        assert shown(ask(query, STREAM))[5] == ["a c"] * 4

    def test_the_merge_of_two_streams(self) -> None:
        """As a set the triple of both is one, as a bag there are two."""
        query = "SELECT ?x FROM STREAM :s [RANGE 5ms TUMBLING] FROM STREAM :r [RANGE 5ms TUMBLING] { ?x :p 1 }"
        streams = {"s": elements("1 :a :p 1 \n 5 :b :p 2"), "r": elements("2 :a :p 1")}
        assert shown(ask(query, streams)) == {5: ["a"]}
        assert shown(ask(query, streams, duplicates="bag")) == {5: ["a", "a"]}

    def test_a_graph_of_its_own(self) -> None:
        query = "SELECT ?x ?y FROM NAMED :g { STREAM :s [ALL] { ?x :p ?m } GRAPH ?g { ?m :in ?y } }"
        found = shown(ask(query, STREAM, operator="rstream", graphs={"g": graph(":b :in :rome .")}))
        assert found[5] == ["a rome"] * 2

    def test_expiry_of_one_of_two(self) -> None:
        query = "SELECT ?x FROM STREAM :s WINDOW RANGE 3 SLIDE 1 { ?x :p 1 }"
        found = shown(ask(query, "1 :a :p 1 \n 2 :a :p 1 \n 9 :b :p 1"), empty=True)
        assert found == {1: ["a"], 2: ["a", "a"], 4: ["a"], 5: [], 9: ["b"]}
        found = shown(ask(query, "1 :a :p 1 \n 2 :a :p 1 \n 9 :b :p 1", duplicates="set"), empty=True)
        assert found == {1: ["a"], 5: [], 9: ["b"]}
