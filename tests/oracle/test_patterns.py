"""SPARQL 1.1 across windows and graphs (semantics.md §6): what is absent counts as much as what is there."""

from __future__ import annotations

from tests.oracle.asking import ask, graph, shown

TWO = """
    SELECT {}
    FROM NAMED WINDOW :now ON STREAM :s [RANGE 5ms]
    FROM NAMED WINDOW :long ON STREAM :s [RANGE 15ms STEP 5ms ORIGIN -10]
    WHERE {{ {} }}
"""
# :now is (0, 5], (5, 10], (10, 15]; :long is (−10, 5], (−5, 10], (0, 15]
STREAM = "1 :a :p 1 \n 6 :a :p 1 \n 7 :b :p 2 \n 12 :b :p 2 \n 15 :c :q 3"


def answers(variables: str, pattern: str, **inputs: object) -> dict[int, list[str]]:
    return shown(ask(TWO.format(variables, pattern), STREAM, **inputs))  # type: ignore[arg-type]


def test_optional_across_windows() -> None:
    found = answers("?x ?y", "WINDOW :long { ?x :p ?v } OPTIONAL { WINDOW :now { ?y :p ?v } }")
    assert found == {5: ["a a"], 10: ["a a", "b b"], 15: ["a -", "b b"]}


def test_minus_across_windows() -> None:
    assert answers("?x", "WINDOW :long { ?x :p ?v } MINUS { WINDOW :now { ?x :p ?v } }") == {15: ["a"]}


def test_minus_without_a_shared_variable_removes_nothing() -> None:
    found = answers("?x", "WINDOW :long { ?x :p ?v } MINUS { WINDOW :now { ?y :p ?w } }")
    assert found == {5: ["a"], 10: ["a", "b"], 15: ["a", "b"]}


def test_not_exists_across_windows() -> None:
    assert answers("?x", "WINDOW :long { ?x :p ?v } FILTER NOT EXISTS { WINDOW :now { ?x :p ?v } }") == {15: ["a"]}
    found = answers("?x", "WINDOW :long { ?x :p ?v } FILTER NOT EXISTS { WINDOW :now { ?y :q ?w } }")
    assert found == {5: ["a"], 10: ["a", "b"]}


def test_exists_in_the_default_graph() -> None:
    """Outside of the block the active graph is the default graph again."""
    pattern = "WINDOW :long { ?x :p ?v } WINDOW :now { ?x :p ?v } FILTER EXISTS { ?x :in :rome }"
    assert answers("?x", pattern, static=":a :in :rome .") == {5: ["a"], 10: ["a"]}


def test_a_filter_of_an_optional_that_looks_left() -> None:
    pattern = "WINDOW :long { ?x :p ?v } OPTIONAL { WINDOW :now { ?y :p ?w } FILTER (?w > ?v) }"
    assert answers("?x ?y", pattern) == {5: ["a -"], 10: ["a b", "b -"], 15: ["a b", "b -"]}


def test_sub_selects_read_windows() -> None:
    pattern = "WINDOW :now { ?x :p ?v } { SELECT (COUNT(*) AS ?n) { WINDOW :long { ?y :p ?w } } }"
    assert answers("?x ?n", pattern) == {5: ["a 1"], 10: ["a 2", "b 2"], 15: ["b 2"]}


def test_union_values_bind_and_having() -> None:
    pattern = """
        { WINDOW :now { ?x :p ?v } } UNION { WINDOW :long { ?x :p ?v } }
        VALUES ?x { :a :b } BIND (?v + 1 AS ?w)
    """
    query = TWO.format("?x (SUM(?w) AS ?n)", pattern) + "GROUP BY ?x HAVING (SUM(?w) > 3) ORDER BY ?x"
    assert shown(ask(query, STREAM)) == {5: ["a 4"], 10: ["a 4", "b 6"], 15: ["b 6"]}


def test_paths_over_a_window_and_over_static_data() -> None:
    pattern = "WINDOW :now { ?x :p ?v } WINDOW :long { ?x :p ?v } ?x :in/:part_of+ ?y"
    found = answers("?x ?y", pattern, static=":a :in :rome . :rome :part_of :italy . :italy :part_of :europe .")
    assert found == {5: ["a europe", "a italy"], 10: ["a europe", "a italy"]}


def test_a_path_does_not_leave_its_window() -> None:
    query = "SELECT ?y FROM NAMED WINDOW :w ON STREAM :s [RANGE 5ms] { WINDOW :w { :a :next+ ?y } }"
    stream = "1 :a :next :b \n 5 :b :next :c \n 6 :a :next :b \n 10 :x :next :y"
    assert shown(ask(query, stream, static=":c :next :d .")) == {5: ["b", "c"], 10: ["b"]}


def test_blank_nodes_of_the_data_join_within_an_element() -> None:
    query = "SELECT ?v FROM STREAM :s [RANGE 5ms TUMBLING] { ?x :sensor ?s . ?s :value ?v }"
    stream = "1 :a :sensor [ :value 1 ] \n 2 :b :sensor [ :value 2 ] \n 5 :c :sensor []"
    assert shown(ask(query, stream)) == {5: ["1", "2"]}


def test_base_is_for_the_function_iri_too() -> None:
    """SPARQL 1.1 §17.4.2.8 (W3C test iri01)."""
    query = 'BASE <http://ex.org/base/> SELECT (IRI("x") AS ?i) FROM STREAM :s [RANGE 5ms TUMBLING] { ?x a :Thing }'
    assert shown(ask(query, "5a")) == {5: ["base/x"]}


def test_sub_selects_and_graphs_inside_a_block() -> None:
    """GRAPH inside of WINDOW reads the elements of the window, and never a graph of the dataset."""
    query = "SELECT ?n FROM NAMED WINDOW :w ON :s [RANGE 5ms] { WINDOW :w { SELECT (COUNT(*) AS ?n) { ?x a ?t } } }"
    assert shown(ask(query, "1a 5b 6c 10d 10e")) == {5: ["2"], 10: ["3"]}
    query = """
        SELECT ?x FROM NAMED :g FROM NAMED WINDOW :w ON STREAM :s [RANGE 5ms]
        { WINDOW :w { ?x a :Thing GRAPH :g { ?x :in :rome } } }
    """
    assert shown(ask(query, "1a 5b", graphs={"g": graph(":a :in :rome .")})) == {}
    outside = query.replace("GRAPH", "} { GRAPH")
    assert shown(ask(outside, "1a 5b", graphs={"g": graph(":a :in :rome .")})) == {5: ["a"]}
