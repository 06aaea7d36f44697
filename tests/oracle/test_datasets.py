"""The dataset at an instant (semantics.md §4): static graphs, graphs that change, windows, and who sees what."""

from __future__ import annotations

import pytest
from tests.oracle.asking import ask, changing, elements, graph, shown

from penstock.oracle import InputError

TWO_THINGS = "1 :a :p 1 \n 2 :b :p 2"


class TestTheDefaultGraph:
    def test_it_is_the_static_graph_and_the_unnamed_windows(self) -> None:
        query = "SELECT ?x ?city FROM STREAM :s [RANGE 5ms TUMBLING] { ?x :p ?y . ?x :in ?city }"
        assert shown(ask(query, TWO_THINGS + "\n 5 :c :p 3", static=":a :in :rome . :c :in :oslo .")) == {
            5: ["a rome", "c oslo"]
        }

    def test_it_merges_the_graphs_of_from(self) -> None:
        query = "SELECT ?x ?city FROM :g FROM :h FROM STREAM :s [RANGE 2ms TUMBLING] { ?x :p ?y . ?x :in ?city }"
        graphs = {"g": graph(":a :in :rome ."), "h": graph(":b :in :oslo .")}
        assert shown(ask(query, TWO_THINGS, graphs=graphs)) == {2: ["a rome", "b oslo"]}

    def test_a_graph_without_a_name_is_always_part_of_it(self) -> None:
        query = "SELECT ?x ?city FROM :g FROM STREAM :s [RANGE 2ms TUMBLING] { ?x :p ?y . ?x :in ?city }"
        graphs = {"g": graph(":a :in :rome ."), None: graph(":b :in :oslo .")}
        assert shown(ask(query, TWO_THINGS, graphs=graphs)) == {2: ["a rome", "b oslo"]}

    def test_two_streams_meet_in_it(self) -> None:
        query = """
            SELECT ?x ?y FROM STREAM :s [RANGE 5ms TUMBLING] FROM STREAM :r [RANGE 5ms TUMBLING]
            { ?x :p ?v . ?y :q ?v }
        """
        streams = {"s": elements("1 :a :p 1 \n 2 :b :p 2"), "r": elements("3 :c :q 1 \n 6 :d :q 2")}
        assert shown(ask(query, streams)) == {5: ["a c"]}

    def test_the_end_is_the_greatest_timestamp_of_any_stream(self) -> None:
        """Nothing comes on :s behind 2, and its window closes with the watermark of the query all the same."""
        query = "SELECT ?x FROM STREAM :s [RANGE 5ms TUMBLING] FROM STREAM :r [RANGE 50ms TUMBLING] { ?x :p ?v }"
        streams = {"s": elements("2 :a :p 1"), "r": elements("7 :b :q 1")}
        assert shown(ask(query, streams)) == {5: ["a"]}

    def test_a_stream_that_the_query_does_not_read_has_no_say(self) -> None:
        query = "SELECT ?x FROM STREAM :s [RANGE 5ms TUMBLING] { ?x :p ?v }"
        streams = {"s": elements("2 :a :p 1"), "r": elements("1 :b :p 1 \n 9 :b :p 1")}
        assert shown(ask(query, streams), empty=True) == {}
        assert shown(ask(query, streams, t0="first", flush=True), empty=True) == {6: ["a"]}

    def test_named_windows_are_not_part_of_it(self) -> None:
        query = "SELECT * FROM NAMED WINDOW :w ON STREAM :s [RANGE 2ms] { WINDOW :w { ?x :p 1 } OPTIONAL { ?y :p 2 } }"
        assert shown(ask(query, TWO_THINGS)) == {2: ["a -"]}
        query = "SELECT ?x ?y FROM NAMED STREAM :s [RANGE 2ms TUMBLING] { GRAPH :s { ?x :p 1 } OPTIONAL { ?y :p ?v } }"
        assert shown(ask(query, TWO_THINGS)) == {2: ["a -"]}
        query = "SELECT ?x ?y { STREAM :s [ALL] { ?x :p 1 } OPTIONAL { ?y :p ?v } }"
        assert shown(ask(query, TWO_THINGS), empty=True) == {1: ["a -"], 2: []}

    def test_unnamed_windows_of_rspql_are(self) -> None:
        query = "SELECT ?x FROM WINDOW ON STREAM :s [RANGE 2ms] { ?x :p ?v }"
        assert shown(ask(query, TWO_THINGS)) == {2: ["a", "b"]}


class TestNamedGraphs:
    def test_from_named(self) -> None:
        query = "SELECT ?x ?c FROM NAMED :g { STREAM :s [NOW] { ?x :p ?v } GRAPH :g { ?x :in ?c } }"
        graphs = {"g": graph(":a :in :rome ."), "h": graph(":a :in :oslo .")}
        assert shown(ask(query, TWO_THINGS, graphs=graphs)) == {1: ["a rome"]}

    def test_with_a_clause_only_what_it_names_takes_part(self) -> None:
        query = "SELECT ?x ?c FROM NAMED :g { STREAM :s [NOW] { ?x :p ?v } GRAPH :h { ?x :in ?c } }"
        graphs = {"g": graph(":a :in :rome ."), "h": graph(":a :in :oslo .")}
        assert shown(ask(query, TWO_THINGS, graphs=graphs)) == {}

    def test_without_a_clause_all_that_are_bound_do(self) -> None:
        query = "SELECT ?x ?g ?c { STREAM :s [NOW] { ?x :p ?v } GRAPH ?g { ?x :in ?c } }"
        graphs = {"g": graph(":a :in :rome ."), "h": graph(":a :in :oslo . :b :in :oslo .")}
        assert shown(ask(query, TWO_THINGS, graphs=graphs)) == {1: ["a g rome", "a h oslo"], 2: ["b h oslo"]}

    def test_one_that_is_not_there_has_no_solution(self) -> None:
        """SPARQL 1.1 §18.6: not even the empty pattern holds in a graph that the dataset has not."""
        query = "SELECT ?x FROM NAMED :g { STREAM :s [NOW] { ?x :p ?v } GRAPH :nowhere { } }"
        assert shown(ask(query, TWO_THINGS, graphs={"g": []})) == {}
        assert shown(ask(query.replace(":nowhere", ":g"), TWO_THINGS, graphs={"g": []})) == {1: ["a"], 2: ["b"]}

    def test_each_has_its_own_sub_select(self) -> None:
        query = "SELECT ?g ?n { ?a :p 2 GRAPH ?g { SELECT (COUNT(*) AS ?n) { ?x :in ?c } } }"
        graphs = {"g": graph(":a :in :rome ."), "h": graph(":a :to :oslo .")}
        assert shown(ask(query, TWO_THINGS, "sparql", graphs=graphs)) == {2: ["g 1", "h 0"]}

    def test_they_are_not_in_the_default_graph(self) -> None:
        query = "SELECT ?x ?c { STREAM :s [NOW] { ?x :p ?v } ?x :in ?c }"
        assert shown(ask(query, TWO_THINGS, graphs={"g": graph(":a :in :rome .")})) == {}

    def test_a_variable_joins(self) -> None:
        """?g is bound outside as well: in the stream."""
        query = "SELECT ?x ?g { STREAM :s [NOW] { ?x :about ?g } GRAPH ?g { ?x :in ?c } }"
        graphs = {"g": graph(":a :in :rome ."), "h": graph(":a :in :oslo .")}
        assert shown(ask(query, "1 :a :about :h", graphs=graphs)) == {1: ["a h"]}


class TestNamedWindows:
    TWO = """
        SELECT {} FROM NAMED :g
        FROM NAMED WINDOW :v ON STREAM :s [RANGE 2ms]
        FROM NAMED WINDOW :w ON STREAM :s [RANGE 4ms]
        WHERE {{ {} }}
    """
    STREAM = "1 :a :p 1 \n 3 :b :p 1 \n 4 :c :p 1"  # :v is (0, 2], (2, 4]; :w is (0, 4]

    def answer(self, variables: str, pattern: str) -> dict[int, list[str]]:
        query = self.TWO.format(variables, pattern)
        return shown(ask(query, self.STREAM, graphs={"g": graph(":d :p 1 .")}))

    def test_two_windows_over_one_stream(self) -> None:
        """At 2 the present window of :w is (0, 4] and holds a."""
        found = self.answer("?x ?y", "WINDOW :v { ?x :p ?v } WINDOW :w { ?y :p ?v }")
        assert found == {2: ["a a"], 4: ["b a", "b b", "b c", "c a", "c b", "c c"]}

    def test_window_with_a_variable_ranges_over_the_windows(self) -> None:
        assert self.answer("?w ?x", "WINDOW ?w { ?x :p 1 }") == {
            2: ["v a", "w a"],
            4: ["v b", "v c", "w a", "w b", "w c"],
        }

    def test_graph_reaches_windows_too(self) -> None:
        """Definition 14: a named window is a named graph that varies; Example 10 writes GRAPH w_1."""
        assert self.answer("?x", "GRAPH :v { ?x :p 1 } WINDOW :w { :a :p 1 }") == {2: ["a"], 4: ["b", "c"]}
        found = self.answer("?g ?x", "GRAPH ?g { ?x :p 1 }")
        assert found == {2: ["g d", "v a", "w a"], 4: ["g d", "v b", "v c", "w a", "w b", "w c"]}

    def test_window_does_not_reach_graphs(self) -> None:
        assert self.answer("?w", "WINDOW ?w { :d :p 1 }") == {}

    def test_a_window_beside_patterns_of_the_default_graph(self) -> None:
        query = "SELECT ?x FROM NAMED WINDOW :w ON STREAM :s [RANGE 4ms] { WINDOW :w { ?x :p 1 } ?x :in :rome }"
        assert shown(ask(query, self.STREAM, static=":a :in :rome . :d :in :rome .")) == {4: ["a"]}

    def test_filters_and_optionals_inside_the_block(self) -> None:
        query = """
            SELECT ?x ?q FROM NAMED WINDOW :w ON STREAM :s [RANGE 9ms]
            { WINDOW :w { ?x :p ?v OPTIONAL { ?x :q ?q } FILTER NOT EXISTS { ?x :r ?any } } }
        """
        stream = "1 :a :p 1 \n 2 :a :q 2 \n 3 :b :p 1 \n 4 :c :p 1 \n 9 :c :r 1"
        assert shown(ask(query, stream, static=":b :q 7 ; :r 7 .")) == {9: ["a 2", "b -"]}


class TestGraphInCsparql:
    """FROM STREAM: GRAPH sees the window merged with the static default graph; FROM NAMED STREAM: the window alone."""

    STREAM = "1 :gate :sees :a \n 5 :gate :sees :b"
    STATIC = ":gate :in :oak ."

    def test_from_stream(self) -> None:
        query = "SELECT ?x ?y FROM STREAM :s [RANGE 5ms TUMBLING] { GRAPH :s { ?g :sees ?x . ?g :in ?y } }"
        assert shown(ask(query, self.STREAM, static=self.STATIC)) == {5: ["a oak", "b oak"]}

    def test_from_named_stream(self) -> None:
        query = "SELECT ?x ?y FROM NAMED STREAM :s [RANGE 5ms TUMBLING] {{ GRAPH :s {{ ?g :sees ?x {} }} }}"
        merged = query.format(". ?g :in ?y")
        assert shown(ask(merged, self.STREAM, static=self.STATIC), empty=True) == {5: []}
        apart = query.format("} ?g :in ?y {")
        assert shown(ask(apart, self.STREAM, static=self.STATIC)) == {5: ["a oak", "b oak"]}

    def test_each_graph_sees_its_own_stream(self) -> None:
        query = """
            SELECT ?x ?y FROM STREAM :s [RANGE 5ms TUMBLING] FROM STREAM :r [RANGE 5ms TUMBLING]
            { { GRAPH :s { ?g :sees ?x . ?g :in ?y } } UNION { GRAPH :r { ?y :in :oak } } }
        """
        streams = {"s": elements(self.STREAM), "r": elements("2 :other :in :oak \n 3 :gate :in :elm")}
        assert shown(ask(query, streams, static=self.STATIC)) == {5: ["- gate", "- other", "a oak", "b oak"]}

    def test_a_variable_ranges_over_streams_and_named_graphs(self) -> None:
        query = """
            SELECT ?g ?x FROM NAMED :h FROM STREAM :s [RANGE 5ms TUMBLING] FROM NAMED STREAM :r [RANGE 5ms TUMBLING]
            { GRAPH ?g { ?x :in :oak } }
        """
        streams = {"s": elements("1 :a :in :oak"), "r": elements("5 :b :in :oak")}
        found = shown(ask(query, streams, static=self.STATIC, graphs={"h": graph(":c :in :oak .")}))
        assert found == {5: ["h c", "r b", "s a", "s gate"]}

    def test_the_default_graph_does_not_see_a_graph_that_is_named(self) -> None:
        query = "SELECT ?x FROM NAMED :h FROM STREAM :s [RANGE 5ms TUMBLING] { GRAPH :s { ?x :in :oak } }"
        found = shown(ask(query, self.STREAM, static=self.STATIC, graphs={"h": graph(":c :in :oak .")}))
        assert found == {5: ["gate"]}


class TestAnyStream:
    def test_stream_with_a_variable_ranges_over_the_bound_streams(self) -> None:
        query = "SELECT ?s ?x { STREAM ?s [NOW] { ?x a :Thing } }"
        streams = {"s": elements("1a 3b"), "r": elements("1c 2d")}
        assert shown(ask(query, streams)) == {1: ["r c", "s a"], 2: ["r d"], 3: ["s b"]}

    def test_sparqlstream_names_its_streams(self) -> None:
        named = "FROM NAMED STREAM {} [NOW - 5 MS TO NOW SLIDE 5 MS]"
        streams = {"s": elements("1a 5b"), "r": elements("2c 10d")}
        query = f"SELECT ?x {named.format(':s')} {{ STREAM :s {{ ?x a :Thing }} }}"
        assert shown(ask(query, streams)) == {5: ["a", "b"]}
        query = f"SELECT ?g ?x {named.format(':s')} {named.format(':r')} {{ STREAM ?g {{ ?x a :Thing }} }}"
        assert shown(ask(query, streams)) == {5: ["r c", "s a", "s b"], 10: ["r d"]}

    def test_the_variable_joins(self) -> None:
        query = "SELECT ?s ?x { STREAM ?s [NOW] { ?x a :Thing } ?s :in :rome }"
        streams = {"s": elements("1a 3b"), "r": elements("1c 2d")}
        assert shown(ask(query, streams, static=":r :in :rome .")) == {1: ["r c"], 2: ["r d"]}

    @pytest.mark.parametrize(
        "query",
        [
            "SELECT ?g ?x { STREAM :s [NOW] { ?x a :Thing } GRAPH ?g { ?y ?p ?z } }",
            "SELECT ?g ?x FROM NAMED :g { STREAM :s [NOW - 5 S TO NOW] { ?x a :Thing } GRAPH ?g { ?y ?p ?z } }",
            "SELECT ?g ?x FROM STREAM :s WINDOW RANGE 9 FIXED { { ?x a :Thing WINDOW ELEMS 1 } GRAPH ?g { ?y ?p ?z } }",
        ],
        ids=["cqels", "sparqlstream", "streaming-sparql"],
    )
    def test_a_window_without_a_name_of_its_own_is_no_graph(self, query: str) -> None:
        """The windows of STREAM blocks and of groups have no name that a user could know."""
        assert shown(ask(query, "1a", graphs={"g": graph(":b :in :rome .")})) == {1: ["g a"]}

    def test_from_stream_is_no_named_graph_but_in_csparql(self) -> None:
        """§4 lets GRAPH see the streams of FROM STREAM in C-SPARQL; Algorithm 1 has it range over FROM NAMED STREAM."""
        query = "SELECT ?g ?y FROM {} STREAM :s WINDOW RANGE 9 FIXED {{ GRAPH ?g {{ ?y a :Thing }} }}"
        assert shown(ask(query.format(""), "1a"), empty=True) == {1: []}
        assert shown(ask(query.format("NAMED"), "1a")) == {1: ["s a"]}


class TestGraphsThatChange:
    def test_each_triple_has_its_interval(self) -> None:
        query = "SELECT ?x ?c { STREAM :s [NOW] { ?x a :Thing } ?x :in ?c }"
        inputs = {None: changing("3 7 :a :in :rome \n 6 - :a :in :oslo \n 0 3 :a :in :bonn")}
        found = shown(ask(query, "2a 3a 6a 7a", graphs=inputs, operator="rstream"))
        assert found == {2: ["a bonn"], 3: ["a rome"], 6: ["a oslo", "a rome"], 7: ["a oslo"]}

    def test_removed_and_added_again(self) -> None:
        query = "SELECT ?x ?c { STREAM :s [NOW] { ?x a :Thing } ?x :in ?c }"
        inputs = {None: changing("1 3 :a :in :rome \n 5 6 :a :in :rome")}
        assert list(shown(ask(query, "1a 2a 3a 4a 5a 6a", graphs=inputs, operator="rstream"))) == [1, 2, 5]

    def test_a_named_one(self) -> None:
        query = "SELECT ?x ?c FROM NAMED :g { STREAM :s [NOW] { ?x a :Thing } GRAPH :g { ?x :in ?c } }"
        inputs = {"g": changing("3 - :a :in :rome")}
        assert shown(ask(query, "2a 3a", graphs=inputs)) == {3: ["a rome"]}

    def test_a_change_of_a_graph_is_no_instant(self) -> None:
        """Instants come from windows: what was removed at 4 is missed at 5."""
        query = "SELECT ?x ?c FROM STREAM :s [RANGE 5ms TUMBLING] { ?x a :Thing OPTIONAL { ?x :in ?c } }"
        inputs = {None: changing("0 4 :a :in :rome")}
        assert shown(ask(query, "1a 5b", graphs=inputs), empty=True) == {5: ["a -", "b -"]}

    def test_istream_tells_what_a_change_has_brought(self) -> None:
        query = "SELECT ?x ?c { STREAM :s [ALL] { ?x a :Thing } ?x :in ?c }"
        inputs = {None: changing("3 - :a :in :rome")}
        assert shown(ask(query, "1a 2b 3c 4d", graphs=inputs), empty=True) == {1: [], 2: [], 3: ["a rome"], 4: []}


class TestErrors:
    """Sentences for the person who asked: what is missing, and what to do about it."""

    @pytest.mark.parametrize(
        ("query", "streams", "graphs", "sentence"),
        [
            (
                "SELECT * FROM STREAM :toll [RANGE 5ms TUMBLING] { ?s ?p ?o }", {"camera": "1a"}, {},
                "the query reads the stream <http://ex.org/toll>, which is not bound: bind it with --stream http://ex.org/toll=FILE",
            ),
            (
                "SELECT * FROM STREAM :toll [RANGE 5ms TUMBLING] { ?s ?p ?o }", {"tolls": "1a"}, {},
                "the query reads the stream <http://ex.org/toll>, which is not bound: did you mean http://ex.org/tolls?",
            ),
            (
                "SELECT * { STREAM :toll [NOW] { ?s ?p ?o } }", {}, {},
                "the query reads the stream <http://ex.org/toll>, which is not bound",
            ),
            (
                "SELECT * FROM NAMED WINDOW :w ON STREAM :toll [RANGE 5ms] { WINDOW :w { ?s ?p ?o } }", {}, {},
                "the query reads the stream <http://ex.org/toll>, which is not bound",
            ),
            (
                "SELECT * FROM :city FROM STREAM :toll [RANGE 5ms TUMBLING] { ?s ?p ?o }", {"toll": "1a"}, {},
                "the query reads the graph <http://ex.org/city>, which is not bound",
            ),
            (
                "SELECT * FROM NAMED :city { STREAM :toll [NOW] { ?s ?p ?o } }", {"toll": "1a"}, {"town": ":a :b 1 ."},
                "the query reads the graph <http://ex.org/city>, which is not bound",
            ),
        ],
    )  # fmt: skip
    def test_something_is_not_bound(
        self, query: str, streams: dict[str, str], graphs: dict[str, str], sentence: str
    ) -> None:
        with pytest.raises(InputError) as caught:
            ask(query, streams, graphs={name: graph(turtle) for name, turtle in graphs.items()})
        assert str(caught.value).startswith(sentence)

    def test_a_graph_given_without_a_name_may_be_the_one_of_from(self) -> None:
        query = "SELECT ?x FROM :city FROM STREAM :s [RANGE 5ms TUMBLING] { ?x a :Thing ; :in :rome }"
        assert shown(ask(query, "1a 5b", static=":a :in :rome .")) == {5: ["a"]}
