"""Streaming operators (semantics.md §7): what comes out, given what there is at this instant and at the one before."""

from __future__ import annotations

import pytest
from tests.oracle.asking import ask, content, shown

from penstock.syntax import ast

STREAM = "1a 6b 11c 16d 20e"  # RANGE 10 STEP 5: at 10 a, b; at 15 b, c; at 20 c, d, e
EXPECTED: dict[ast.Operator, dict[int, str]] = {
    "rstream": {10: "ab", 15: "bc", 20: "cde"},
    "istream": {10: "ab", 15: "c", 20: "de"},
    "dstream": {10: "", 15: "a", 20: "b"},
}


@pytest.mark.parametrize("operator", EXPECTED)
class TestEachOperator:
    def test_from_outside(self, operator: ast.Operator) -> None:
        found = content("csparql", "RANGE 10ms STEP 5ms", STREAM, operator=operator, empty=True)
        assert found == EXPECTED[operator]

    @pytest.mark.parametrize(
        "query",
        [
            "REGISTER {} :o AS SELECT ?x FROM NAMED WINDOW :w ON :s [RANGE 10 STEP 5] {{ WINDOW :w {{ ?x a ?t }} }}",
            "SELECT {} ?x FROM NAMED WINDOW :w ON :s [RANGE 10ms STEP 5ms] {{ WINDOW :w {{ ?x a ?t }} }}",
            "SELECT {} ?x FROM STREAM :s [NOW - 10 MS TO NOW SLIDE 5 MS] {{ ?x a ?t }}",
        ],
        ids=["rspql-register", "rspql-select", "sparqlstream"],
    )
    def test_as_written(self, query: str, operator: ast.Operator) -> None:
        """From 10 on, where the windows of all three are the same."""
        found = shown(ask(query.format(operator.upper()), STREAM), empty=True)
        assert {time: "".join(rows) for time, rows in found.items() if time > 10} == {
            time: rows for time, rows in EXPECTED[operator].items() if time > 10
        }


class TestWhatTheDialectsImply:
    @pytest.mark.parametrize(
        "query",
        [
            "SELECT ?x FROM NAMED WINDOW :w ON STREAM :s [RANGE 10ms STEP 5ms] { WINDOW :w { ?x a ?t } }",
            "SELECT ?x FROM STREAM :s [RANGE 10ms STEP 5ms] { ?x a ?t }",
            "REGISTER STREAM q AS SELECT ?x FROM STREAM :s [RANGE 10ms STEP 5ms] { ?x a ?t }",
        ],
    )
    def test_rstream(self, query: str) -> None:
        assert shown(ask(query, STREAM)) == {10: ["a", "b"], 15: ["b", "c"], 20: ["c", "d", "e"]}

    def test_istream_of_cqels(self) -> None:
        query = "SELECT ?x { STREAM :s [RANGE 10ms SLIDE 5ms] { ?x a ?t } }"
        assert shown(ask(query, STREAM), empty=True) == {1: ["a"], 6: ["b"], 11: ["c"], 16: ["d"], 20: ["e"]}

    def test_the_user_has_the_last_word(self) -> None:
        query = "REGISTER ISTREAM :o AS SELECT ?x FROM NAMED WINDOW :w ON :s [RANGE 10ms] { WINDOW :w { ?x a ?t } }"
        assert shown(ask(query, "1a 11a 20b")) == {10: ["a"], 20: ["b"]}
        assert shown(ask(query, "1a 11a 20b", operator="rstream")) == {10: ["a"], 20: ["a", "b"]}


class TestWhatIsCompared:
    def test_the_previous_evaluation_not_the_previous_instant(self) -> None:
        """a is not there at 6, …, 20, but nothing is evaluated between 5 and 25: it is not new at 25."""
        assert content("csparql", "RANGE 5ms TUMBLING", "1a 21a 25b", operator="istream") == {5: "a", 25: "b"}

    def test_an_evaluation_without_solutions_is_one(self) -> None:
        """Window-close alone visits the empty windows between: there a is gone, and then new again."""
        stream, report = "1a 11a 15b", "window-close"
        found = content("csparql", "RANGE 5ms TUMBLING", stream, operator="istream", report=report, empty=True)
        assert found == {5: "a", 10: "", 15: "ab"}
        found = content("csparql", "RANGE 5ms TUMBLING", stream, operator="dstream", report=report, empty=True)
        assert found == {5: "", 10: "a", 15: ""}

    def test_solutions_not_triples(self) -> None:
        """The reading of a stays the same solution, whichever triple says so."""
        query = "SELECT DISTINCT ?x { STREAM :s [RANGE 3ms] { ?x :reads ?y } }"
        stream = "1 :a :reads 1 \n 2 :a :reads 2 \n 3 :b :reads 1 \n 7 :b :reads 2 \n 9 :a :reads 3"
        assert shown(ask(query, stream)) == {1: ["a"], 3: ["b"], 9: ["a"]}

    def test_in_a_bag_a_solution_is_new_or_it_is_not(self) -> None:
        """Definition 21 asks whether it was there, not how often: the second a is no news; two new ones are two."""
        assert content("cqels", "RANGE 9ms", "1a 2a 3b 3b", operator="istream", empty=True) == {1: "a", 2: "", 3: "bb"}
        assert content("cqels", "RANGE 3ms", "1a 1a 2a 4b 9c", operator="dstream", empty=True) == {
            1: "", 2: "", 4: "", 9: "ab",
        }  # fmt: skip


class TestConstruct:
    """The operator works on solutions; the query form makes triples of what it leaves (Definitions 21 and 24)."""

    def test_rstream(self) -> None:
        query = "CONSTRUCT { ?x :saw ?y } FROM STREAM :s [RANGE 10ms STEP 5ms] { ?x :sees ?y }"
        stream = "1 :a :sees :b \n 6 :a :sees :c \n 15 :a :sees :d"
        assert shown(ask(query, stream)) == {10: ["a saw b", "a saw c"], 15: ["a saw c", "a saw d"]}

    def test_istream_and_dstream(self) -> None:
        query = "CONSTRUCT { ?x :saw ?y } FROM STREAM :s [RANGE 10ms STEP 5ms] { ?x :sees ?y }"
        stream = "1 :a :sees :b \n 6 :a :sees :c \n 15 :a :sees :d"
        assert shown(ask(query, stream, operator="istream")) == {10: ["a saw b", "a saw c"], 15: ["a saw d"]}
        assert shown(ask(query, stream, operator="dstream")) == {15: ["a saw b"]}

    def test_a_new_solution_that_makes_a_triple_as_before(self) -> None:
        """At 2 the solution (a, 2) is new, and what it makes comes out, be it that (a, 1) made the same."""
        query = "CONSTRUCT { ?x :is :active } { STREAM :s [RANGE 9ms] { ?x :reads ?y } }"
        assert shown(ask(query, "1 :a :reads 1 \n 2 :a :reads 2")) == {1: ["a is active"], 2: ["a is active"]}

    def test_blank_nodes_of_the_template_do_not_make_old_solutions_new(self) -> None:
        query = "CONSTRUCT { [] :of ?x } { STREAM :s [RANGE 9ms] { ?x a :Thing } }"
        assert shown(ask(query, "1a 2b")) == {1: ["_ of a"], 2: ["_ of b"]}
        query = "CONSTRUCT { [] :of ?x } FROM STREAM :s [RANGE 10ms STEP 5ms] { ?x a :Thing }"
        assert shown(ask(query, STREAM, operator="dstream")) == {15: ["_ of a"], 20: ["_ of b"]}


class TestOrder:
    def test_the_order_of_rows_is_kept(self) -> None:
        query = "SELECT ?x FROM STREAM :s [RANGE 10ms STEP 5ms] { ?x a :Thing } ORDER BY DESC(?x)"
        assert shown(ask(query, STREAM), ordered=True) == {10: ["b", "a"], 15: ["c", "b"], 20: ["e", "d", "c"]}
        found = shown(ask(query, STREAM, operator="istream"), ordered=True)
        assert found == {10: ["b", "a"], 15: ["c"], 20: ["e", "d"]}

    def test_limit_comes_before_the_operator(self) -> None:
        """At 15 the first one is b, as it was not at 10."""
        query = "SELECT ?x FROM STREAM :s [RANGE 10ms STEP 5ms] { ?x a :Thing } ORDER BY ?x LIMIT 1"
        assert shown(ask(query, STREAM, operator="istream")) == {10: ["a"], 15: ["b"], 20: ["c"]}
        assert shown(ask(query, STREAM, operator="dstream")) == {15: ["a"], 20: ["b"]}


def test_the_name_of_a_registered_query_is_that_of_its_answers() -> None:
    query = "REGISTER QUERY FullStreets AS SELECT ?x FROM STREAM :s [RANGE 5ms TUMBLING] { ?x a :Thing }"
    assert [evaluation.query for evaluation in ask(query, "1a 5b").evaluations] == ["FullStreets"]
