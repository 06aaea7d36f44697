"""Is a recorded answer right, and for which origins (Definition 26, semantics.md §9)?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from pyoxigraph import Literal, NamedNode
from tests.oracle.asking import EX, elements, graph
from tests.rdf.result_lines import to_json_line

import penstock
from penstock.algebra import Settings
from penstock.algebra.inputs import GraphTriple
from penstock.oracle import Inputs, answer
from penstock.oracle.judging import Verdict, judge
from penstock.rdf.elements import Element
from penstock.rdf.results import Evaluation, from_json_line
from penstock.syntax import ast

EVERY_MS = [element for time in range(1, 41) for element in elements(f"{time} :e{time} a :Thing")]
SLIDING = "SELECT ?x FROM STREAM :s [RANGE 10ms STEP 5ms] { ?x a :Thing }"


def parsed(text: str) -> ast.Query:
    return penstock.parse(text, prefixes={"": EX})


def inputs(**streams: Sequence[Element]) -> Inputs:
    return Inputs({EX + name: stream for name, stream in streams.items()})


def recorded(text: str, given: Inputs, origin: int = 0) -> list[Evaluation]:
    """What an engine with this origin would have written down."""
    lines = [to_json_line(e) for e in answer(parsed(text), given, Settings(origin=origin)).with_solutions()]
    return [from_json_line(line) for line in lines]


def origins(verdict: Verdict) -> list[tuple[int, ...]]:
    """All origins that the verdict names, one by one."""
    found: list[tuple[int, ...]] = []
    for ranges in verdict.right_for:
        combinations: list[tuple[int, ...]] = [()]
        for one in ranges:
            combinations = [(*c, o) for c in combinations for o in range(one.first, one.last + 1)]
        found += combinations
    return sorted(found)


class TestOneWindow:
    @pytest.mark.parametrize("origin", range(5))
    def test_its_own_answer_is_right_for_its_own_origin_alone(self, origin: int) -> None:
        given = inputs(s=EVERY_MS)
        verdict = judge(parsed(SLIDING), given, recorded(SLIDING, given, origin))
        assert verdict.is_right
        assert origins(verdict) == [(origin,)]
        assert verdict.difference is None
        assert verdict.compared_from == 4

    def test_origins_are_counted_from_a(self) -> None:
        """3 ≡ 13 (mod 5); with data behind 23 alone the windows of both are the same."""
        given = inputs(s=EVERY_MS[23:])
        verdict = judge(parsed(SLIDING), given, recorded(SLIDING, given, 3), Settings(origin=10))
        assert origins(verdict) == [(13,)]
        assert verdict.compared_from == 14

    def test_a_changed_answer_is_right_for_none(self) -> None:
        given = inputs(s=EVERY_MS)
        answers = recorded(SLIDING, given, 3)
        assert answers[2].rows is not None
        (gone,), *rest = answers[2].rows
        answers[2] = replace(answers[2], rows=tuple(rest))
        verdict = judge(parsed(SLIDING), given, answers)
        assert not verdict.is_right
        assert verdict.difference == f"at 23 only the oracle has ?x = {gone}"

    def test_a_missing_evaluation(self) -> None:
        given = inputs(s=EVERY_MS)
        answers = recorded(SLIDING, given, 3)
        verdict = judge(parsed(SLIDING), given, [e for e in answers if e.time != 28])
        assert verdict.difference == "at 28 only the oracle has an evaluation with solutions"

    def test_one_too_many(self) -> None:
        given = inputs(s=EVERY_MS)
        answers = recorded(SLIDING, given, 3)
        answers.insert(2, replace(answers[1], time=20))
        verdict = judge(parsed(SLIDING), given, answers)
        assert verdict.difference == "at 20 only the answer has an evaluation with solutions"

    def test_the_beginning_is_not_compared(self) -> None:
        """Nothing counts before the greatest origin: the engine may have been setting up."""
        text = "SELECT ?x FROM STREAM :s [RANGE 2ms STEP 5ms] { ?x a :Thing }"
        given = inputs(s=EVERY_MS)
        answers = recorded(text, given, 1)
        assert answers[0].time == 3
        verdict = judge(parsed(text), given, answers[1:])
        assert verdict.compared_from == 4
        assert origins(verdict) == [(1,)]

    def test_evaluations_without_solutions_do_not_matter(self) -> None:
        given = inputs(s=EVERY_MS)
        answers = recorded(SLIDING, given, 3)
        answers.append(replace(answers[0], time=39, rows=()))
        assert origins(judge(parsed(SLIDING), given, answers)) == [(3,)]

    def test_an_origin_that_the_query_names_is_known(self) -> None:
        text = (
            "SELECT ?x FROM NAMED WINDOW :w ON STREAM :s [RANGE 9ms STEP 5ms ORIGIN {}] {{ WINDOW :w {{ ?x a ?t }} }}"
        )
        given = inputs(s=EVERY_MS)
        answers = recorded(text.format(3), given)
        assert origins(judge(parsed(text.format(3)), given, answers)) == [(3,)]
        assert not judge(parsed(text.format(2)), given, answers).is_right

    def test_windows_without_a_step_have_no_origin(self) -> None:
        for text in (
            "SELECT ?x { STREAM :s [RANGE 10ms] { ?x a :Thing } }",
            "SELECT ?x { STREAM :s [TRIPLES 3] { ?x a :Thing } }",
            "SELECT ?x { STREAM :s [NOW] { ?x a :Thing } }",
        ):
            given = inputs(s=EVERY_MS)
            verdict = judge(parsed(text), given, recorded(text, given))
            assert origins(verdict) == [(0,)]
            assert not judge(parsed(text), given, recorded(text, given)[:-1]).is_right

    def test_an_operator_from_outside(self) -> None:
        given = inputs(s=EVERY_MS)
        istream = answer(parsed(SLIDING), given, Settings(origin=3, operator="istream"))
        answers = list(istream.with_solutions())
        assert not judge(parsed(SLIDING), given, answers).is_right
        assert origins(judge(parsed(SLIDING), given, answers, Settings(operator="istream"))) == [(3,)]

    def test_no_answer_at_all_to_no_data(self) -> None:
        given = inputs(s=[])
        assert origins(judge(parsed(SLIDING), given, [])) == [(0,), (1,), (2,), (3,), (4,)]


class TestTwoWindows:
    TEXT = """
        SELECT ?x ?y
        FROM NAMED WINDOW :v ON STREAM :s [RANGE 5ms STEP 3ms {}]
        FROM NAMED WINDOW :w ON STREAM :r [RANGE 4ms {}]
        WHERE {{ {{ WINDOW :v {{ ?x a :Thing }} }} UNION {{ WINDOW :w {{ ?y a :Thing }} }} }}
    """

    def test_an_origin_each(self) -> None:
        given = inputs(s=EVERY_MS[:30], r=EVERY_MS[:30])
        answers = recorded(self.TEXT.format("ORIGIN 1", "ORIGIN 2"), given)
        verdict = judge(parsed(self.TEXT.format("", "")), given, answers)
        assert origins(verdict) == [(1, 2)]
        assert verdict.compared_from == 3

    def test_one_of_them_known(self) -> None:
        given = inputs(s=EVERY_MS[:30], r=EVERY_MS[:30])
        answers = recorded(self.TEXT.format("ORIGIN 1", "ORIGIN 2"), given)
        assert origins(judge(parsed(self.TEXT.format("ORIGIN 1", "")), given, answers)) == [(1, 2)]
        assert not judge(parsed(self.TEXT.format("", "ORIGIN 3")), given, answers).is_right

    def test_a_changed_answer_is_right_for_none(self) -> None:
        given = inputs(s=EVERY_MS[:30], r=EVERY_MS[:30])
        answers = recorded(self.TEXT.format("ORIGIN 1", "ORIGIN 2"), given)
        assert answers[5].rows is not None
        answers[5] = replace(answers[5], rows=(*answers[5].rows, answers[5].rows[0]))
        assert not judge(parsed(self.TEXT.format("", "")), given, answers).is_right


class TestHowAnswersAreCompared:
    def test_order_counts_under_order_by_alone(self) -> None:
        given = inputs(s=EVERY_MS)
        for text, is_right in ((SLIDING, True), (SLIDING + " ORDER BY ?x", False)):
            answers = [replace(e, rows=tuple(reversed(e.rows or ()))) for e in recorded(text, given, 3)]
            assert judge(parsed(text), given, answers).is_right is is_right

    def test_the_order_of_columns_does_not_count(self) -> None:
        text = "SELECT ?x ?y FROM STREAM :s [RANGE 10ms STEP 5ms] { ?x a ?y }"
        given = inputs(s=EVERY_MS)
        turned = [
            replace(e, variables=("y", "x"), rows=tuple((y, x) for x, y in e.rows or ()))
            for e in recorded(text, given, 3)
        ]
        assert origins(judge(parsed(text), given, turned)) == [(3,)]

    def test_blank_nodes_are_compared_up_to_isomorphism(self) -> None:
        text = "CONSTRUCT { [] :of ?x } FROM STREAM :s [RANGE 10ms STEP 5ms] { ?x a :Thing }"
        given = inputs(s=EVERY_MS)
        assert origins(judge(parsed(text), given, recorded(text, given, 3))) == [(3,)]

    def test_static_graphs_take_part(self) -> None:
        text = "SELECT ?x FROM STREAM :s [RANGE 10ms STEP 5ms] { ?x a :Thing . ?x :in :rome }"
        rome: list[GraphTriple] = graph(" ".join(f":e{time} :in :rome ." for time in range(1, 41, 2)))
        given = Inputs({EX + "s": EVERY_MS}, {None: rome})
        assert origins(judge(parsed(text), given, recorded(text, given, 3))) == [(3,)]


QUERIES = {
    "csparql": "SELECT ?x FROM STREAM :s [RANGE {}ms STEP {}ms] {{ ?x a :Thing }}",
    "computed-every": "REGISTER QUERY q COMPUTED EVERY 7ms AS "
    "SELECT ?x FROM STREAM :s [RANGE {}ms STEP {}ms] {{ ?x a :Thing }}",
    "cqels": "SELECT ?x {{ STREAM :s [RANGE {}ms SLIDE {}ms] {{ ?x a :Thing }} }}",
    "sparqlstream": "SELECT ?x FROM STREAM :s [NOW - {} MS TO NOW SLIDE {} MS] {{ ?x a :Thing }}",
}


@pytest.mark.parametrize("query", QUERIES.values(), ids=list(QUERIES))
@given(
    times=st.lists(st.integers(0, 30), max_size=6).map(sorted),
    width=st.integers(1, 9),
    step=st.integers(1, 6),
    origin=st.integers(0, 5),
    spoilt=st.booleans(),
)
@example(times=[3, 6], width=2, step=3, origin=2, spoilt=False)
@example(times=[7], width=3, step=5, origin=0, spoilt=False)
def test_no_origin_is_missed(query: str, times: list[int], width: int, step: int, origin: int, spoilt: bool) -> None:
    """The judge tries ranges of origins; trying each one gives the same verdict."""
    text = query.format(width, step)
    given = inputs(s=[e for n, time in enumerate(times) for e in elements(f"{time} :e{n} a :Thing")])
    answers = recorded(text, given, origin % step)
    if spoilt and answers:
        answers.pop()
    right = [o for o in range(step) if _from(recorded(text, given, o), step - 1) == _from(answers, step - 1)]
    verdict = judge(parsed(text), given, answers)
    if verdict.closed == "left":
        assert not right
        given = _later(given)
        right = [o for o in range(step) if _from(recorded(text, given, o), step - 1) == _from(answers, step - 1)]
    assert origins(verdict) == [(o,) for o in right]


def _later(given: Inputs) -> Inputs:
    """Each element a millisecond later: a window (o, c] of these holds what [o, c) holds of the others."""
    return Inputs({iri: [e._replace(time=e.time + 1) for e in stream] for iri, stream in given.streams.items()})


class TestWindowsClosedOnTheLeft:
    """Engines whose windows are [o, c): an element at a boundary is in the window that begins there."""

    @pytest.mark.parametrize("origin", range(5))
    def test_the_answer_is_right_and_the_verdict_says_for_which_windows(self, origin: int) -> None:
        given = inputs(s=EVERY_MS)
        verdict = judge(parsed(SLIDING), given, recorded(SLIDING, _later(given), origin))
        assert verdict.is_right
        assert verdict.closed == "left"
        assert origins(verdict) == [(origin,)]
        assert verdict.compared_from == 4

    def test_an_origin_that_the_query_says_is_theirs_too(self) -> None:
        text = "SELECT ?x FROM NAMED WINDOW :w ON :s [RANGE 10ms STEP 5ms ORIGIN 3] { WINDOW :w { ?x a :Thing } }"
        given = inputs(s=EVERY_MS)
        verdict = judge(parsed(text), given, recorded(text, _later(given)))
        assert (verdict.closed, origins(verdict)) == ("left", [(3,)])
        assert not judge(parsed(text.replace("ORIGIN 3", "ORIGIN 2")), given, recorded(text, _later(given))).is_right

    def test_what_is_right_either_way_is_right(self) -> None:
        given = inputs(s=elements("3 :a a :Thing \n 7 :b a :Thing \n 40 :c a :Thing"))
        assert judge(parsed(SLIDING), given, recorded(SLIDING, given)).closed == "right"

    def test_a_query_that_is_evaluated_on_arrival_has_no_boundaries(self) -> None:
        text = "SELECT ?x { STREAM :s [RANGE 10ms] { ?x a :Thing } }"
        given = inputs(s=EVERY_MS)
        assert not judge(parsed(text), given, recorded(text, _later(given))).is_right


class TestNumbersByValue:
    TEXT = "SELECT (AVG(?v) AS ?a) (SUM(?v) AS ?n) FROM STREAM :s [RANGE 10ms STEP 10ms] { ?x :p ?v }"

    @pytest.mark.parametrize(
        ("mean", "total", "is_right"),
        [
            ('"1.5"^^xsd:double', '"3.0"^^xsd:decimal', True),
            ('"1.50"^^xsd:decimal', '"3E0"^^xsd:float', True),
            ('"1.5"^^xsd:decimal', '"03"^^xsd:int', True),
            ('"1.5"^^xsd:decimal', '"4"^^xsd:integer', False),
            ('"1.5"^^xsd:decimal', '"3"^^xsd:string', False),
        ],
    )
    def test_datatypes_and_forms_do_not_count_when_asked(self, mean: str, total: str, is_right: bool) -> None:
        given = inputs(s=elements("1 :a :p 1 \n 2 :b :p 2 \n 10 :c :q 1"))
        (evaluation,) = recorded(self.TEXT, given)
        row = tuple(_literal(text) for text in (mean, total))
        answers = [replace(evaluation, rows=(row,))]
        assert judge(parsed(self.TEXT), given, answers, numbers_by_value=True).is_right is is_right
        assert not judge(parsed(self.TEXT), given, answers).is_right

    def test_whole_numbers_keep_all_their_digits(self) -> None:
        text = "SELECT ?v FROM STREAM :s [RANGE 10ms STEP 10ms] { ?x :p ?v }"
        given = inputs(s=elements("1 :a :p 9007199254740993 \n 10 :c :q 1"))
        (evaluation,) = recorded(text, given)
        answers = [replace(evaluation, rows=((_literal('"9007199254740992"^^xsd:integer'),),))]
        assert not judge(parsed(text), given, answers, numbers_by_value=True).is_right


def _literal(text: str) -> Literal:
    lexical, _, datatype = text.partition("^^xsd:")
    return Literal(lexical.strip('"'), datatype=NamedNode(f"http://www.w3.org/2001/XMLSchema#{datatype}"))


def _from(answers: list[Evaluation], instant: int) -> list[tuple[int, frozenset[object]]]:
    return [(e.time, frozenset(e.rows or ())) for e in answers if e.time >= instant]
