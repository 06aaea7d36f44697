"""C-SPARQL's timestamp() (semantics.md §8): when the stream triples came that bound a variable in this solution."""

from __future__ import annotations

from tests.oracle.asking import ask, elements, shown

WINDOW = "FROM STREAM :s [RANGE 10ms TUMBLING]"
SIGHTINGS = "2 :cam1 :sees :a \n 4 :cam2 :sees :a \n 7 :cam1 :sees :b \n 8 :a :is :red \n 10 :x :y :z"


class TestOneArgument:
    def test_of_the_triple_that_bound_it(self) -> None:
        query = f"SELECT ?cam ?car (timestamp(?car) AS ?t) {WINDOW} {{ ?cam :sees ?car }}"
        assert shown(ask(query, SIGHTINGS)) == {10: ["cam1 a 2", "cam1 b 7", "cam2 a 4"]}

    def test_the_greatest_of_several(self) -> None:
        """?car is bound by both patterns, ?cam by the first alone."""
        query = f"""
            SELECT ?cam (timestamp(?car) AS ?t) (timestamp(?cam) AS ?u) (timestamp(?colour) AS ?w) {WINDOW}
            {{ ?cam :sees ?car . ?car :is ?colour }}
        """
        assert shown(ask(query, SIGHTINGS)) == {10: ["cam1 8 2 8", "cam2 8 4 8"]}

    def test_the_order_of_the_patterns_does_not_matter(self) -> None:
        query = f"SELECT ?cam (timestamp(?car) AS ?t) {WINDOW} {{ ?car :is ?colour . ?cam :sees ?car }}"
        assert shown(ask(query, SIGHTINGS)) == {10: ["cam1 8", "cam2 8"]}

    def test_of_a_predicate(self) -> None:
        query = f"SELECT ?p (timestamp(?p) AS ?t) {WINDOW} {{ :a ?p ?o }}"
        assert shown(ask(query, SIGHTINGS)) == {10: ["is 8"]}

    def test_of_a_triple_that_came_twice(self) -> None:
        """The content is a set: the latest counts, while it is in the window."""
        query = "SELECT ?car (timestamp(?car) AS ?t) FROM STREAM :s [RANGE 10ms STEP 5ms] { ?cam :sees ?car }"
        found = shown(ask(query, "2 :c :sees :a \n 6 :c :sees :a \n 15 :c :sees :b"))
        assert found == {10: ["a 6"], 15: ["a 6", "b 15"]}

    def test_before_it_has_come_again(self) -> None:
        query = "SELECT ?car (timestamp(?car) AS ?t) FROM STREAM :s [RANGE 9ms TUMBLING] { ?cam :sees ?car }"
        stream = "2 :c :sees :a \n 6 :c :sees :a \n 9 :x :y :z"
        assert shown(ask(query, stream, report="arrival")) == {2: ["a 2"], 6: ["a 6"], 9: ["a 6"]}

    def test_it_is_a_number(self) -> None:
        query = f"SELECT (timestamp(?car) + 1 AS ?t) (DATATYPE(timestamp(?car)) AS ?d) {WINDOW} {{ :cam2 :sees ?car }}"
        assert shown(ask(query, SIGHTINGS)) == {10: ["5 http://www.w3.org/2001/XMLSchema#integer"]}


class TestAnErrorWhereNoStreamTripleBoundIt:
    STATIC = ":cam1 :in :oak . :a :is :old ."

    def test_only_static_triples_did(self) -> None:
        query = f"SELECT ?car ?street (timestamp(?street) AS ?t) {WINDOW} {{ ?cam :sees ?car . ?cam :in ?street }}"
        assert shown(ask(query, SIGHTINGS, static=self.STATIC)) == {10: ["a oak -", "b oak -"]}

    def test_static_triples_do_not_count_beside_those_of_a_stream(self) -> None:
        query = f"SELECT ?cam (timestamp(?cam) AS ?t) {WINDOW} {{ ?cam :sees :a . ?cam :in ?street }}"
        assert shown(ask(query, SIGHTINGS, static=self.STATIC)) == {10: ["cam1 2"]}

    def test_a_triple_that_is_static_and_streamed(self) -> None:
        query = f"SELECT ?c (timestamp(?c) AS ?t) {WINDOW} {{ :a :is ?c }}"
        found = shown(ask(query, SIGHTINGS, static=":a :is :old . :a :is :red ."))
        assert found == {10: ["old -", "red 8"]}

    def test_a_filter_on_an_error_fails(self) -> None:
        pattern = "{{ ?cam :sees ?car . ?cam :in ?street FILTER ({}) }}"
        for condition in ("timestamp(?street) > 0", "! (timestamp(?street) > 0)"):
            query = f"SELECT ?car {WINDOW} " + pattern.format(condition)
            assert shown(ask(query, SIGHTINGS, static=self.STATIC), empty=True) == {10: []}

    def test_bind_leaves_it_unbound(self) -> None:
        query = f"SELECT ?car ?t {WINDOW} {{ ?cam :sees ?car . ?cam :in ?street BIND (timestamp(?street) AS ?t) }}"
        assert shown(ask(query, SIGHTINGS, static=self.STATIC)) == {10: ["a -", "b -"]}

    def test_coalesce_helps(self) -> None:
        query = f"SELECT ?c (COALESCE(timestamp(?c), 0) AS ?t) {WINDOW} {{ :a :is ?c }}"
        assert shown(ask(query, SIGHTINGS, static=":a :is :old .")) == {10: ["old 0", "red 8"]}

    def test_a_variable_of_the_optional_part(self) -> None:
        query = f"SELECT ?car (timestamp(?c) AS ?t) {WINDOW} {{ :cam1 :sees ?car OPTIONAL {{ ?car :is ?c }} }}"
        assert shown(ask(query, SIGHTINGS)) == {10: ["a 8", "b -"]}

    def test_a_variable_that_values_or_bind_has_bound(self) -> None:
        query = f"""
            SELECT ?v ?w (timestamp(?v) AS ?t) (timestamp(?w) AS ?u) {WINDOW}
            {{ :a :is ?c VALUES ?v {{ 1 }} BIND (2 AS ?w) }}
        """
        assert shown(ask(query, SIGHTINGS)) == {10: ["1 2 - -"]}


class TestTwoArguments:
    """With a stream's IRI only the triples of that stream count."""

    WINDOWS = "FROM STREAM :s [RANGE 10ms TUMBLING] FROM STREAM :r [RANGE 10ms TUMBLING]"

    def test_each_stream_its_own(self) -> None:
        query = f"""
            SELECT ?car (timestamp(?car) AS ?t) (timestamp(?car, :s) AS ?u) (timestamp(?car, :r) AS ?v)
            {self.WINDOWS} {{ ?gate :passed ?car . ?cam :sees ?car }}
        """
        streams = {"s": elements("2 :gate :passed :a \n 10 :x :y :z"), "r": elements("5 :cam :sees :a")}
        assert shown(ask(query, streams)) == {10: ["a 5 2 5"]}

    def test_another_stream_is_an_error(self) -> None:
        query = f"SELECT ?car (timestamp(?car, :r) AS ?t) {self.WINDOWS} {{ ?gate :passed ?car }}"
        streams = {"s": elements("2 :gate :passed :a \n 10 :x :y :z"), "r": elements("5 :cam :sees :a")}
        assert shown(ask(query, streams)) == {10: ["a -"]}

    def test_a_triple_that_came_in_both(self) -> None:
        """In the default graph it is one triple; each stream still knows when it came there."""
        query = f"""
            SELECT ?car (timestamp(?car) AS ?t) (timestamp(?car, :s) AS ?u) (timestamp(?car, :r) AS ?v)
            {self.WINDOWS} {{ ?gate :passed ?car }}
        """
        streams = {"s": elements("2 :gate :passed :a \n 10 :x :y :z"), "r": elements("5 :gate :passed :a")}
        assert shown(ask(query, streams)) == {10: ["a 5 2 5"]}

    def test_with_graph(self) -> None:
        query = f"""
            SELECT ?g ?car (timestamp(?car) AS ?t) (timestamp(?car, ?g) AS ?u) {self.WINDOWS}
            {{ GRAPH ?g {{ ?x :passed ?car }} }}
        """
        streams = {"s": elements("2 :gate :passed :a \n 10 :x :y :z"), "r": elements("5 :gate :passed :a")}
        assert shown(ask(query, streams)) == {10: ["r a 5 5", "s a 2 2"]}


class TestThreeArguments:
    """f:timestamp(?s, ?p, ?o): of the triple that these three matched."""

    def test_of_one_pattern(self) -> None:
        query = f"""
            SELECT ?cam (timestamp(?cam, :sees, ?car) AS ?t) (timestamp(?car, :is, ?c) AS ?u) {WINDOW}
            {{ ?cam :sees ?car . ?car :is ?c }}
        """
        assert shown(ask(query, SIGHTINGS)) == {10: ["cam1 2 8", "cam2 4 8"]}

    def test_with_a_prefix(self) -> None:
        query = f"""
            PREFIX f: <http://larkc.eu/csparql/sparql/jena/ext#>
            SELECT ?cam (f:timestamp(?cam, ?p, :a) AS ?t) {WINDOW} {{ ?cam ?p :a }}
        """
        assert shown(ask(query, SIGHTINGS)) == {10: ["cam1 2", "cam2 4"]}

    def test_of_a_static_triple(self) -> None:
        query = f"SELECT ?s (timestamp(?cam, :in, ?s) AS ?t) {WINDOW} {{ ?cam :sees :b . ?cam :in ?s }}"
        assert shown(ask(query, SIGHTINGS, static=":cam1 :in :oak .")) == {10: ["oak -"]}


class TestPlaces:
    """Wherever an expression can stand."""

    def test_filter(self) -> None:
        query = f"SELECT ?x ?y {WINDOW} {{ ?c :sees ?x . ?d :sees ?y FILTER (timestamp(?x) < timestamp(?y)) }}"
        stream = "2 :c :sees :a \n 4 :c :sees :b \n 10 :d :sees :e"
        assert shown(ask(query, stream)) == {10: ["a b", "a e", "b e"]}

    def test_order_by(self) -> None:
        query = f"SELECT ?car {WINDOW} {{ ?cam :sees ?car }} ORDER BY DESC(timestamp(?car))"
        stream = "2 :c :sees :b \n 4 :c :sees :a \n 10 :c :sees :d \n 6 :c :sees :e"
        assert shown(ask(query, stream, lateness=4), ordered=True) == {10: ["d", "e", "a", "b"]}

    def test_inside_an_aggregate(self) -> None:
        query = f"SELECT ?cam (MAX(timestamp(?car)) AS ?last) {WINDOW} {{ ?cam :sees ?car }} GROUP BY ?cam"
        assert shown(ask(query, SIGHTINGS)) == {10: ["cam1 7", "cam2 4"]}

    def test_union(self) -> None:
        query = f"SELECT ?x (timestamp(?x) AS ?t) {WINDOW} {{ {{ :cam1 :sees ?x }} UNION {{ ?x :is :red }} }}"
        assert shown(ask(query, SIGHTINGS)) == {10: ["a 2", "a 8", "b 7"]}

    def test_the_filter_of_an_optional(self) -> None:
        """It belongs to the left join, and sees both sides."""
        query = f"""
            SELECT ?cam ?c {WINDOW}
            {{ ?cam :sees ?car OPTIONAL {{ ?car :is ?c FILTER (timestamp(?cam) < 3 && timestamp(?c) > 5) }} }}
        """
        assert shown(ask(query, SIGHTINGS)) == {10: ["cam1 -", "cam1 red", "cam2 -"]}

    def test_exists(self) -> None:
        """Seen by another camera, later."""
        query = f"""
            SELECT ?cam ?car {WINDOW}
            {{ ?cam :sees ?car FILTER EXISTS {{ ?other :sees ?car FILTER (timestamp(?other) > timestamp(?cam)) }} }}
        """
        assert shown(ask(query, SIGHTINGS)) == {10: ["cam1 a"]}
        query = query.replace("FILTER EXISTS", "FILTER NOT EXISTS")
        assert shown(ask(query, SIGHTINGS)) == {10: ["cam1 b", "cam2 a"]}

    def test_a_sub_select(self) -> None:
        query = f"SELECT ?t {WINDOW} {{ {{ SELECT (MAX(timestamp(?car)) AS ?t) {{ ?cam :sees ?car }} }} }}"
        assert shown(ask(query, SIGHTINGS)) == {10: ["7"]}

    def test_the_filter_of_aggregate(self) -> None:
        query = f"""
            SELECT ?cam ?car ?n {WINDOW} {{ ?cam :sees ?car }}
            AGGREGATE {{ (?n, COUNT, {{?cam}}) FILTER (timestamp(?car) > 5) }}
        """
        assert shown(ask(query, SIGHTINGS)) == {10: ["cam1 b 2"]}

    def test_a_construct(self) -> None:
        query = f"CONSTRUCT {{ ?car :seenAt ?t }} {WINDOW} {{ :cam1 :sees ?car BIND (timestamp(?car) AS ?t) }}"
        assert shown(ask(query, SIGHTINGS)) == {10: ["a seenAt 2", "b seenAt 7"]}

    def test_the_steps_of_a_path(self) -> None:
        query = f"SELECT (timestamp(?cam) AS ?t) (timestamp(?c) AS ?u) {WINDOW} {{ ?cam :sees/:is ?c }}"
        assert shown(ask(query, SIGHTINGS)) == {10: ["2 8", "4 8"]}


class TestBags:
    def test_each_occurrence_has_its_own(self) -> None:
        query = f"SELECT ?car (timestamp(?car) AS ?t) {WINDOW} {{ ?cam :sees ?car }}"
        stream = "2 :c :sees :a \n 6 :c :sees :a \n 10 :c :sees :b"
        assert shown(ask(query, stream, duplicates="bag")) == {10: ["a 2", "a 6", "b 10"]}

    def test_in_a_join(self) -> None:
        query = f"SELECT (timestamp(?car) AS ?t) {WINDOW} {{ ?cam :sees ?car . ?car :is :red }}"
        stream = "2 :c :sees :a \n 6 :c :sees :a \n 4 :a :is :red \n 10 :a :is :red"
        assert shown(ask(query, stream, duplicates="bag", lateness=9)) == {10: ["10", "10", "4", "6"]}
