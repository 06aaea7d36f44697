"""The four query forms at each instant (semantics.md §6)."""

from __future__ import annotations

from tests.oracle.asking import ask, elements, graph, shown

from penstock.rdf.comparison import same_graph
from penstock.rdf.elements import Element

WINDOW = "FROM STREAM :s [RANGE 5ms TUMBLING]"


class TestSelect:
    def test_the_variables_are_in_the_order_of_the_query(self) -> None:
        found = ask(f"SELECT ?y (1 + ?v AS ?w) ?x {WINDOW} {{ ?x :p ?v }}", "5 :a :p 1")
        assert [(e.variables, e.time) for e in found.evaluations] == [(("y", "w", "x"), 5)]
        assert shown(found) == {5: ["- 2 a"]}

    def test_a_star_shows_what_the_user_wrote(self) -> None:
        """Not what stands for blank nodes, windows or timestamps."""
        for query in (
            f"SELECT * {WINDOW} {{ ?x :p [ :q ?v ] FILTER (timestamp(?x) > 0) }}",
            "SELECT * { STREAM :s [ALL] { ?x :p _:b . _:b :q ?v } }",
        ):
            found = ask(query, "1 :a :p :b \n 1 :a :p :b \n 5 :b :q 1")
            assert found.evaluations[-1].variables == ("x", "v")

    def test_solutions_are_a_bag_of_rows(self) -> None:
        assert shown(ask(f"SELECT ?x {WINDOW} {{ ?x :p ?v }}", "1 :a :p 1 \n 5 :a :p 2")) == {5: ["a", "a"]}

    def test_an_aggregate_of_nothing_is_a_row(self) -> None:
        query = f"SELECT (COUNT(*) AS ?n) {WINDOW} {{ ?x :q ?v }}"
        assert shown(ask(query, "1 :a :p 1 \n 5 :a :p 2")) == {5: ["0"]}

    def test_all_of_sparql_at_an_instant(self) -> None:
        query = f"""
            SELECT ?x (SUM(?v) AS ?sum) {WINDOW} {{
              {{ ?x :p ?v }} UNION {{ ?x :q ?v BIND (?v * 10 AS ?w) }}
              VALUES ?x {{ :a :b :c }}
              FILTER (?v < 5)
              MINUS {{ ?x :hidden true }}
            }} GROUP BY ?x HAVING (COUNT(*) > 1) ORDER BY DESC(?sum) LIMIT 2
        """
        stream = "1 :a :p 1 \n 2 :a :q 2 \n 3 :b :p 3 \n 3 :b :q 4 \n 4 :c :p 1 \n 4 :d :p 1 \n 4 :d :q 1 \n 5 :a :p 9"
        assert shown(ask(query, stream), ordered=True) == {5: ["b 7", "a 3"]}
        assert shown(ask(query, stream, static=":b :hidden true ."), ordered=True) == {5: ["a 3"]}


class TestAsk:
    def test_an_answer_at_each_instant(self) -> None:
        query = f"ASK {WINDOW} {{ ?x :p 1 }}"
        assert shown(ask(query, "1 :a :p 1 \n 7 :a :p 2 \n 15 :b :p 1")) == {5: ["true"], 10: ["false"], 15: ["true"]}

    def test_grouped(self) -> None:
        query = f"ASK {WINDOW} {{ ?x :p ?v }} GROUP BY ?x HAVING (COUNT(*) > 1)"
        found = shown(ask(query, "1 :a :p 1 \n 2 :b :p 2 \n 5 :a :p 2 \n 7 :a :p 1 \n 10 :b :p 2"))
        assert found == {5: ["true"], 10: ["false"]}

    def test_in_a_window(self) -> None:
        query = "ASK FROM NAMED WINDOW :w ON STREAM :s [RANGE 5ms] { WINDOW :w { ?x :p 1 } }"
        assert shown(ask(query, "1 :a :p 1 \n 7 :a :p 2 \n 10 :b :p 3")) == {5: ["true"], 10: ["false"]}


class TestConstruct:
    def test_a_set_of_triples(self) -> None:
        query = f"CONSTRUCT {{ ?x :likes :tea . ?x :has ?v }} {WINDOW} {{ ?x :p ?v }}"
        assert shown(ask(query, "1 :a :p 1 \n 5 :a :p 2")) == {5: ["a has 1", "a has 2", "a likes tea"]}

    def test_what_is_no_triple_is_left_out(self) -> None:
        template = "?x :q ?y . ?v :q ?x . ?x ?v :o . ?x :r ?v"
        query = f"CONSTRUCT {{ {template} }} {WINDOW} {{ ?x :p ?v OPTIONAL {{ ?x :z ?y }} }}"
        assert shown(ask(query, "5 :a :p 1")) == {5: ["a r 1"]}

    def test_blank_nodes_are_new_for_each_solution(self) -> None:
        query = f"CONSTRUCT {{ ?x :seen [ :at ?v ; :by _:who ] . _:who :is :me }} {WINDOW} {{ ?x :p ?v }}"
        found = ask(query, "1 :a :p 1 \n 5 :a :p 2").evaluations[0].triples
        expected = graph(":a :seen [ :at 1 ; :by _:w ] . _:w :is :me . :a :seen [ :at 2 ; :by _:v ] . _:v :is :me .")
        assert found is not None
        assert same_graph(found, [triple for triple, _ in expected])

    def test_the_short_form(self) -> None:
        query = f"CONSTRUCT {WINDOW} WHERE {{ ?x :p ?v . ?x :in ?c }}"
        assert shown(ask(query, "1 :a :p 1 \n 5 :b :p 2", static=":a :in :rome .")) == {5: ["a in rome", "a p 1"]}

    def test_graphs_in_the_template(self) -> None:
        query = """
            CONSTRUCT { ?x :is :seen . GRAPH :g { ?x :has ?v } GRAPH ?x { ?x :also ?v } GRAPH ?v { ?x :never ?v } }
            FROM NAMED WINDOW :w ON STREAM :s [RANGE 5ms] { WINDOW :w { ?x :p ?v } }
        """
        assert shown(ask(query, "5 :a :p 1")) == {5: ["a also 1 a", "a has 1 g", "a is seen"]}

    def test_grouped(self) -> None:
        """SPARQL 1.1 lets a CONSTRUCT group its solutions (its template then sees the keys)."""
        query = f"CONSTRUCT {{ ?x :is :busy }} {WINDOW} WHERE {{ ?x :p ?v }} GROUP BY ?x HAVING (COUNT(*) > 1)"
        assert shown(ask(query, "1 :a :p 1 \n 2 :b :p 2 \n 5 :a :p 2")) == {5: ["a is busy"]}

    def test_a_limit_is_one_of_solutions(self) -> None:
        query = f"CONSTRUCT {{ ?x :has ?v . ?x :is :seen }} {WINDOW} WHERE {{ ?x :p ?v }} ORDER BY DESC(?v) LIMIT 1"
        assert shown(ask(query, "1 :a :p 1 \n 2 :b :p 3 \n 5 :a :p 2")) == {5: ["b has 3", "b is seen"]}


class TestDescribe:
    """The concise bounded description, over the whole dataset."""

    def test_what_the_variable_is_bound_to(self) -> None:
        query = f"DESCRIBE ?x {WINDOW} {{ ?x :p 1 }}"
        stream = "1 :a :p 1 \n 2 :a :q 2 \n 3 :b :p 2 \n 5 :c :q :a"
        assert shown(ask(query, stream, static=":a :in :rome . :b :in :oslo .")) == {5: ["a in rome", "a p 1", "a q 2"]}

    def test_through_blank_nodes(self) -> None:
        query = f"DESCRIBE ?x {WINDOW} {{ ?x :p 1 }}"
        static = ":a :address [ :street :oak ; :city [ :name :rome ] ] . :rome :is :far ."
        found = ask(query, "5 :a :p 1", static=static).evaluations[0].triples
        expected = graph(":a :p 1 ; :address [ :street :oak ; :city [ :name :rome ] ] .")
        assert found is not None
        assert same_graph(found, [triple for triple, _ in expected])

    def test_blank_nodes_in_a_circle(self) -> None:
        found = ask(f"DESCRIBE :a {WINDOW}", "5 :x :p 1", static=":a :next _:b . _:b :next _:c . _:c :next _:b .")
        assert len(found.evaluations[0].triples or ()) == 3

    def test_a_constant(self) -> None:
        query = f"DESCRIBE :a {WINDOW}"
        assert shown(ask(query, "1 :a :p 1 \n 7 :b :p 2 \n 10 :a :q 3")) == {5: ["a p 1"], 10: ["a q 3"]}

    def test_a_constant_needs_a_solution(self) -> None:
        query = f"DESCRIBE :a ?x {WINDOW} {{ ?x :p 2 }}"
        assert shown(ask(query, "1 :a :p 1 \n 7 :b :p 2 \n 10 :a :q 3")) == {10: ["a q 3", "b p 2"]}

    def test_a_star(self) -> None:
        query = f"DESCRIBE * {WINDOW} {{ ?x :knows ?y }}"
        assert shown(ask(query, "1 :a :knows :b \n 2 :b :p 1 \n 5 :c :p 1")) == {5: ["a knows b", "b p 1"]}

    def test_grouped(self) -> None:
        query = f"DESCRIBE ?x {WINDOW} {{ ?x :p ?v }} GROUP BY ?x HAVING (COUNT(*) > 1)"
        assert shown(ask(query, "1 :a :p 1 \n 2 :b :p 2 \n 5 :a :p 2")) == {5: ["a p 1", "a p 2"]}

    def test_the_window_of_a_group_counts(self) -> None:
        """At 4 FROM's window has let go of what came at 1; the group's has not, and is where :a was found."""
        query = "DESCRIBE ?x FROM STREAM :s WINDOW RANGE 3 SLIDE { ?x :p ?y WINDOW ELEMS 1 }"
        assert shown(ask(query, "1 :a :p 1 \n 4 :b :q 1")) == {1: ["a p 1"], 4: ["a p 1"]}

    def test_named_graphs_and_windows_count(self) -> None:
        query = """
            DESCRIBE ?x FROM :f FROM NAMED :g
            FROM NAMED WINDOW :v ON STREAM :s [RANGE 5ms] FROM NAMED WINDOW :w ON STREAM :r [RANGE 10ms]
            { WINDOW :v { ?x :p 1 } OPTIONAL { WINDOW :w { ?y :p ?z } } }
        """
        streams = {"s": elements("1 :a :p 1 \n 5 :b :q 2"), "r": elements("2 :a :r 3")}
        graphs = {"f": graph(":a :f 1 ."), "g": graph(":a :g 1 ."), "h": graph(":a :h 1 .")}
        assert shown(ask(query, streams, graphs=graphs)) == {5: ["a f 1", "a g 1", "a p 1", "a r 3"]}


def test_an_answer_is_a_stream_that_another_query_can_read() -> None:
    """semantics.md §7: what CONSTRUCT gives is stamped with t."""
    query = "REGISTER STREAM busy AS CONSTRUCT { ?x :is :busy } FROM STREAM :s [RANGE 5ms TUMBLING] { ?x :p ?v }"
    first = ask(query, "1 :a :p 1 \n 7 :b :p 2 \n 10 :c :p 3")
    busy = [Element(e.time, (triple,)) for e in first.evaluations for triple in e.triples or ()]
    assert shown(ask("SELECT ?x { STREAM :s [NOW] { ?x :is :busy } }", busy)) == {5: ["a"], 10: ["b", "c"]}


def test_reduced_drops_nothing() -> None:
    """SPARQL leaves it open which duplicates go; the answer must be unique."""
    query = "SELECT REDUCED ?a FROM STREAM :s [RANGE 10ms TUMBLING] WHERE { ?a :p ?b }"
    assert shown(ask(query, "1 :a :p :b\n2 :a :p :c\n10 :a :p :d")) == {10: ["a", "a", "a"]}
