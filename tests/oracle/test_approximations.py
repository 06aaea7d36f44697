"""Approximate translations between C-SPARQL and CQELS: with the options that the differences name, the same answer."""

from __future__ import annotations

import warnings

import pytest
from tests.oracle.asking import ask, graph, shown

import penstock
from penstock.syntax.errors import TranslationError

STREAM = """
    1 :a :p 1 ; :in :rome
    2 :b :p 2
    4 :a :p 3
    6 :b :in :oslo ; :near :a
    9 :c :p 3
    9 :c :near [ :in :bonn ]
    15 :d :p 1
"""
GRAPHS = {"g": graph(":a :in :bern . :b :near [ :in :wien ] . :l :list (1 :a) . :a :next :b . :b :next :c .")}
AS_CSPARQL = {"report": "window-close & non-empty", "operator": "rstream", "duplicates": "set"}
AS_CQELS = {"report": "arrival", "operator": "istream", "duplicates": "bag"}

FROM_CSPARQL = [
    "SELECT ?x ?v FROM STREAM :s [RANGE 5ms STEP 3ms] { ?x :p ?v }",
    "SELECT * FROM STREAM :s [RANGE 5ms STEP 3ms] { ?x :p ?v FILTER (?v > 1) . ?x :in ?c }",
    "SELECT ?x ?c FROM STREAM :s [RANGE 9ms TUMBLING] { ?x :p ?v OPTIONAL { ?x :in ?c } MINUS { ?x :near ?y } }",
    "SELECT ?x FROM STREAM :s [RANGE 9ms TUMBLING] { ?x :p ?v FILTER NOT EXISTS { ?x :in ?c } }",
    "SELECT ?x ?c FROM STREAM :s [RANGE 9ms TUMBLING] { ?x :near [ :in ?c ] }",
    "SELECT ?x ?c FROM STREAM :s [RANGE 9ms TUMBLING] { _:n :in ?c . ?x :near _:n }",
    "SELECT ?v (COUNT(?x) AS ?n) FROM STREAM :s [RANGE 9ms TUMBLING] { ?x :p ?v } GROUP BY ?v",
    "SELECT ?x ?n FROM STREAM :s [RANGE 9ms TUMBLING] { ?x :p ?v } AGGREGATE { (?n, COUNT(?v), {?x}) }",
    "CONSTRUCT { ?x :was ?v } FROM STREAM :s [RANGE TRIPLES 2] { ?x :p ?v }",
    "SELECT ?x ?c FROM STREAM :s [RANGE 9ms TUMBLING] { ?x :p ?v . GRAPH :s { ?x :in ?c } }",
    "SELECT ?x ?c FROM :g FROM STREAM :s [RANGE 5ms STEP 3ms] { ?x :p ?v . ?x :in ?c }",
    "SELECT * FROM :g FROM STREAM :s [RANGE 9ms TUMBLING] { ?x :near [ :in ?c ] }",
    "SELECT ?x ?c FROM :g FROM STREAM :s [RANGE 9ms TUMBLING] { _:n :in ?c . ?x :near _:n , ?y ; :p ?v }",
    "SELECT ?l ?v FROM :g FROM STREAM :s [RANGE 9ms TUMBLING] { ?l :list (?n ?x) . ?x :p ?v }",
    "SELECT ?x ?y FROM :g FROM STREAM :s [RANGE 9ms TUMBLING] { ?x :p ?v { SELECT * { ?y :next ?x . [] :near ?y } } }",
    "SELECT ?x ?c FROM STREAM :s [RANGE 9ms TUMBLING] FROM STREAM :t [RANGE 5ms TUMBLING] { ?x :p ?v . ?x :at ?c }",
    "REGISTER QUERY q COMPUTED EVERY 2ms AS SELECT ?x FROM STREAM :s [RANGE 6ms STEP 3ms] { ?x :p ?v }",
]

FROM_CQELS = [
    "SELECT ?x ?v { STREAM :s [NOW] { ?x :p ?v } }",
    "SELECT ?x ?v { STREAM :s [RANGE 5ms SLIDE 3ms] { ?x :p ?v } }",
    "SELECT ?x ?v { STREAM :s [TRIPLES 3] { ?x :p ?v } }",
    "SELECT ?x ?c FROM NAMED :g { STREAM :s [NOW] { ?x :p ?v } GRAPH :g { ?x :in ?c } }",
    "SELECT (COUNT(?x) AS ?n) { STREAM :s [RANGE 5ms TUMBLING] { ?x :p ?v } }",
]


def translated(text: str, to: str) -> str:
    with pytest.raises(TranslationError):
        penstock.translate(text, to=to, prefixes={"": "http://ex.org/"})
    with warnings.catch_warnings(record=True) as differences:
        warnings.simplefilter("always")
        result = penstock.translate(text, to=to, prefixes={"": "http://ex.org/"}, approximate=True)
    assert differences
    return result


@pytest.mark.parametrize("text", FROM_CSPARQL)
def test_csparql_in_cqels(text: str) -> None:
    streams = {"s": STREAM, "t": "3 :a :at :work \n 7 :c :at :home"} if ":t" in text else {"s": STREAM}
    policy = "periodic 2ms & non-empty" if "COMPUTED" in text else AS_CSPARQL["report"]
    there = translated(text, "cqels")
    answer = shown(ask(text, streams, "csparql", graphs=GRAPHS), empty=True)
    assert any(answer.values())
    assert shown(ask(there, streams, "cqels", graphs=GRAPHS, **AS_CSPARQL | {"report": policy}), empty=True) == answer


@pytest.mark.parametrize("text", FROM_CQELS)
def test_cqels_in_csparql(text: str) -> None:
    answer = shown(ask(text, STREAM, "cqels", graphs=GRAPHS), empty=True)
    assert any(answer.values())
    assert shown(ask(translated(text, "csparql"), STREAM, "csparql", graphs=GRAPHS, **AS_CQELS), empty=True) == answer


def test_a_window_that_slides_with_every_instant_moves_once_a_step_there() -> None:
    there = translated("SELECT ?x { STREAM :s [RANGE 5s] { ?x :p ?v } }", "csparql")
    assert "FROM NAMED STREAM :s [RANGE 5s STEP 1s]" in there


@pytest.mark.parametrize(
    ("text", "to", "reason"),
    [
        ("SELECT ?x { STREAM :s [ALL] { ?x :p ?v } }", "csparql", "a window over the whole stream"),
        ("SELECT ?x { STREAM :s [NOW] { ?x :p ?v } STREAM :s [RANGE 5s] { ?x :p ?w } }", "csparql", "several windows"),
    ],
)
def test_what_has_no_near_equivalent(text: str, to: str, reason: str) -> None:
    with pytest.raises(TranslationError, match=reason):
        penstock.translate(text, to=to, prefixes={"": "http://ex.org/"}, approximate=True)
