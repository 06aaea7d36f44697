"""SPARQL over a stream (semantics.md §8): each solution once, as soon as no later input can take it back."""

from __future__ import annotations

import pytest
from tests.oracle.asking import ask, changing, elements, shown

from penstock.rdf.comparison import same_graph

STREAM = "1 :a :p 1 \n 2 :b :p 2 \n 3 :a :q 3 \n 4 :c :p 1 \n 5 :x :y :z"


def answers(query: str, stream: str = STREAM, **inputs: object) -> dict[int, list[str]]:
    return shown(ask(query, stream, "sparql", **inputs))  # type: ignore[arg-type]


class TestAsSoonAsTheLastTripleIsIn:
    @pytest.mark.parametrize(
        ("query", "expected"),
        [
            ("SELECT ?x { ?x :p ?v }", {1: ["a"], 2: ["b"], 4: ["c"]}),
            ("SELECT ?x ?w { ?x :p ?v . ?x :q ?w }", {3: ["a 3"]}),
            ("SELECT ?x { { ?x :p 1 } UNION { ?x :q ?v } }", {1: ["a"], 3: ["a"], 4: ["c"]}),
            ("SELECT ?x ?w { ?x :p ?v FILTER (?v > 1) BIND (?v * 2 AS ?w) }", {2: ["b 4"]}),
            ("SELECT ?x { ?x :p ?v FILTER EXISTS { ?x :q ?w } }", {3: ["a"]}),
            ("SELECT ?x { ?x :p ?v FILTER (?v = 2 || EXISTS { ?x :q ?w }) }", {2: ["b"], 3: ["a"]}),
            ("SELECT ?x { ?x :p ?v VALUES ?v { 1 } }", {1: ["a"], 4: ["c"]}),
            ("SELECT ?x (?v + 1 AS ?w) { ?x :p ?v }", {1: ["a 2"], 2: ["b 3"], 4: ["c 2"]}),
            ("SELECT ?v { { SELECT ?v { ?x :p ?v } } }", {1: ["1"], 2: ["2"], 4: ["1"]}),
            ("SELECT ?o { :a (:p|:q)+ ?o }", {1: ["1"], 3: ["3"]}),
        ],
    )
    def test_what_is_monotonic(self, query: str, expected: dict[int, list[str]]) -> None:
        assert answers(query) == expected

    def test_distinct_says_a_thing_once(self) -> None:
        assert answers("SELECT DISTINCT ?v { ?x :p ?v }") == {1: ["1"], 2: ["2"]}

    def test_without_distinct_as_often_as_there_are_solutions(self) -> None:
        assert answers("SELECT ?v { ?x :p ?v }") == {1: ["1"], 2: ["2"], 4: ["1"]}

    def test_a_triple_that_comes_again_is_nothing_new(self) -> None:
        """Content is a set."""
        assert answers("SELECT ?x { ?x :p ?v }", "1 :a :p 1 \n 2 :a :p 1 \n 3 :b :p 1") == {1: ["a"], 3: ["b"]}

    def test_all_of_one_timestamp_at_once(self) -> None:
        assert answers("SELECT ?x ?w { ?x :p ?v . ?x :q ?w }", "1 :a :p 1 \n 1 :a :q 2") == {1: ["a 2"]}

    def test_static_graphs_take_part(self) -> None:
        assert answers("SELECT ?x ?c { ?x :p ?v . ?x :in ?c }", static=":b :in :rome .") == {2: ["b rome"]}

    def test_all_bound_streams_are_one_default_graph(self) -> None:
        query = "SELECT ?x ?w { ?x :p ?v . ?x :q ?w }"
        streams = {"s": elements("1 :a :p 1 \n 4 :b :q 2"), "r": elements("2 :a :q 3 \n 5 :b :p 4")}
        assert shown(ask(query, streams, "sparql")) == {2: ["a 3"], 5: ["b 2"]}


class TestHeldUntilTheEnd:
    """The end is 5, the last timestamp."""

    @pytest.mark.parametrize(
        ("query", "expected"),
        [
            ("SELECT ?x { ?x :p ?v MINUS { ?x :q ?w } }", {5: ["b", "c"]}),
            ("SELECT ?x { ?x :p ?v FILTER NOT EXISTS { ?x :q ?w } }", {5: ["b", "c"]}),
            ("SELECT (COUNT(*) AS ?n) { ?x :p ?v }", {5: ["3"]}),
            ("SELECT ?v (COUNT(*) AS ?n) { ?x :p ?v } GROUP BY ?v HAVING (COUNT(*) > 1)", {5: ["1 2"]}),
            ("SELECT ?n { { SELECT (COUNT(*) AS ?n) { ?x :p ?v } } }", {5: ["3"]}),
            ("SELECT ?x ?n { ?x :q ?w { SELECT (COUNT(*) AS ?n) { ?y :p ?v } } }", {5: ["a 3"]}),
            ("SELECT ?x { ?x :p ?v FILTER (?v > 1 && NOT EXISTS { ?x :q ?w }) }", {5: ["b"]}),
            ("SELECT ?x ?b { ?x :q ?w BIND (EXISTS { ?x :p 1 } AS ?b) }", {5: ["a true"]}),
            ("SELECT ?x { ?x :p ?v FILTER (RAND() < 2) }", {5: ["a", "b", "c"]}),
            ("SELECT ?x ?b { ?x :p 2 BIND (ISBLANK(BNODE()) AS ?b) }", {5: ["b true"]}),
        ],
    )
    def test_what_later_input_could_take_back(self, query: str, expected: dict[int, list[str]]) -> None:
        assert answers(query) == expected

    def test_order_by(self) -> None:
        found = ask("SELECT ?x { ?x :p ?v } ORDER BY DESC(?x)", STREAM, "sparql")
        assert shown(found, ordered=True) == {5: ["c", "b", "a"]}

    def test_limit_and_offset(self) -> None:
        assert answers("SELECT ?x { ?x :p ?v } ORDER BY ?x LIMIT 1") == {5: ["a"]}
        assert answers("SELECT ?x { ?x :p ?v } ORDER BY ?x OFFSET 1") == {5: ["b", "c"]}
        assert {time: len(rows) for time, rows in answers("SELECT ?x { ?x :p ?v } LIMIT 2").items()} == {5: 2}

    def test_one_side_of_a_union(self) -> None:
        query = "SELECT ?x ?y { { ?x :q ?w } UNION { ?y :p ?v MINUS { ?y :q ?w } } }"
        assert answers(query) == {3: ["a -"], 5: ["- b", "- c"]}

    def test_nothing_may_come_out_at_all(self) -> None:
        found = ask("SELECT ?x { ?x :nothing ?v }", STREAM, "sparql")
        assert shown(found) == {}
        assert [evaluation.time for evaluation in found.evaluations][-1] == 5

    def test_an_empty_stream(self) -> None:
        assert answers("SELECT (COUNT(*) AS ?n) { ?x :p ?v }", "") == {}


class TestOptional:
    def test_a_match_at_once_the_rest_at_the_end(self) -> None:
        query = "SELECT ?x ?w { ?x :p ?v OPTIONAL { ?x :q ?w } }"
        assert answers(query) == {3: ["a 3"], 5: ["b -", "c -"]}

    def test_every_match(self) -> None:
        query = "SELECT ?x ?w { ?x :p ?v OPTIONAL { ?x :q ?w } }"
        found = answers(query, "1 :a :p 1 \n 2 :a :q 2 \n 3 :a :q 3 \n 4 :b :p 1")
        assert found == {2: ["a 2"], 3: ["a 3"], 4: ["b -"]}

    def test_its_filter_sees_the_left_side(self) -> None:
        """The filter belongs to the left join (§6). A match stays one, whatever comes, and need not wait."""
        query = "SELECT ?x ?w { ?x :p ?v OPTIONAL { ?x :q ?w FILTER (?w > ?v) } }"
        assert answers(query) == {3: ["a 3"], 5: ["b -", "c -"]}

    def test_one_in_another(self) -> None:
        query = "SELECT ?x ?w ?r { ?x :p ?v OPTIONAL { ?x :q ?w OPTIONAL { ?x :r ?r } } }"
        stream = "1 :a :p 1 \n 2 :a :q 2 \n 3 :a :r 3 \n 4 :b :p 1 \n 5 :b :q 2 \n 6 :c :p 1"
        assert answers(query, stream) == {3: ["a 2 3"], 6: ["b 2 -", "c - -"]}

    def test_one_after_another(self) -> None:
        query = "SELECT ?x ?w ?r { ?x :p ?v OPTIONAL { ?x :q ?w } OPTIONAL { ?x :r ?r } }"
        stream = "1 :a :p 1 \n 2 :a :r 2 \n 3 :a :q 3 \n 4 :b :p 1 \n 5 :b :r 2 \n 6 :c :p 1"
        assert answers(query, stream) == {3: ["a 3 2"], 6: ["b - 2", "c - -"]}

    def test_distinct_over_it(self) -> None:
        """b's row may come when it is certain that there is one, and certainly comes at the end."""
        query = "SELECT DISTINCT ?v ?w { ?x :p ?v OPTIONAL { ?x :q ?w } }"
        assert answers(query) == {3: ["1 3"], 5: ["1 -", "2 -"]}


class TestOtherForms:
    def test_ask(self) -> None:
        """True once, as soon as it is; false when the stream has ended."""
        assert answers("ASK { ?x :q ?w }") == {3: ["true"]}
        assert answers("ASK { ?x :nothing ?w }") == {5: ["false"]}
        assert answers("ASK { ?x :p ?v FILTER NOT EXISTS { ?x :q ?w } }") == {5: ["true"]}

    def test_construct(self) -> None:
        assert answers("CONSTRUCT { ?x :has ?v } { ?x :p ?v }") == {1: ["a has 1"], 2: ["b has 2"], 4: ["c has 1"]}
        assert answers("CONSTRUCT { :all :have ?v } { ?x :p ?v }") == {1: ["all have 1"], 2: ["all have 2"]}

    def test_blank_nodes_of_the_template_do_not_make_old_solutions_new(self) -> None:
        found = ask("CONSTRUCT { [] :of ?x } { ?x :p ?v }", STREAM, "sparql")
        assert shown(found) == {1: ["_ of a"], 2: ["_ of b"], 4: ["_ of c"]}

    def test_describe(self) -> None:
        """The triples of what is found, as they come."""
        assert answers("DESCRIBE ?x { ?x :p 1 }") == {1: ["a p 1"], 3: ["a q 3"], 4: ["c p 1"]}

    def test_blank_nodes_of_the_data(self) -> None:
        stream = elements("1 [] :p 1 \n 2 [] :p 2")
        found = ask("CONSTRUCT { ?x :has ?v } { ?x :p ?v }", stream, "sparql").evaluations
        assert [len(evaluation.triples or ()) for evaluation in found] == [1, 1]
        assert not same_graph(found[0].triples or (), found[1].triples or ())


class TestOtherSettings:
    def test_rstream_is_a_plain_answer_at_each_instant(self) -> None:
        query = "SELECT ?x ?w { ?x :p ?v OPTIONAL { ?x :q ?w } }"
        assert answers(query, "1 :a :p 1 \n 2 :a :q 2 \n 4 :b :p 3", operator="rstream") == {
            1: ["a -"], 2: ["a 2"], 4: ["a 2", "b -"],
        }  # fmt: skip

    def test_a_graph_that_changes_is_part_of_the_dataset(self) -> None:
        query = "SELECT ?x ?c { ?x :p ?v . ?x :in ?c }"
        graphs = {None: changing("2 - :a :in :rome")}
        assert shown(ask(query, STREAM, "sparql", graphs=graphs)) == {2: ["a rome"]}
