"""The embedded engine gives the oracle's answer: the papers' worked examples, and random streams under many queries."""

from __future__ import annotations

import random
from pathlib import Path

import pyoxigraph as ox
import pytest
from tests.cases import case_folders, read_case

import penstock
from penstock.algebra.inputs import GraphTriple, Inputs
from penstock.engines.duckdb import DuckDBEngine
from penstock.oracle import answer
from penstock.oracle.judging import first_difference
from penstock.rdf.elements import Element
from penstock.runtime.bounded import run_bounded

WORKED = case_folders(Path(__file__).parent.parent / "papers" / "worked")


@pytest.mark.parametrize("folder", WORKED, ids=lambda folder: folder.name)
def test_worked_examples(engine: DuckDBEngine, folder: Path) -> None:
    case = read_case(folder)
    given = run_bounded(case.query, case.inputs, case.settings, flush=case.flush, engine=engine)
    found = [evaluation for evaluation in given if evaluation.says_something]
    expected = list(answer(case.query, case.inputs, case.settings, flush=case.flush).with_solutions())
    assert first_difference(found, expected, case.is_ordered) is None


SLIDING = "FROM STREAM :s [RANGE 10ms STEP 3ms]"
QUERIES = [
    # Patterns
    "SELECT * FROM STREAM :s [RANGE 10ms STEP 5ms] { ?a :p ?b }",
    f"SELECT ?a {SLIDING} {{ ?a :p ?b . ?b :q ?c }}",
    f"SELECT * {SLIDING} {{ ?a :p ?b OPTIONAL {{ ?b :q ?c }} }}",
    f"SELECT * {SLIDING} {{ ?a :p ?b MINUS {{ ?b :q ?c }} }}",
    f"SELECT * {SLIDING} {{ ?a :p ?b OPTIONAL {{ ?b :q ?c }} MINUS {{ ?d :q ?c }} }}",
    f"SELECT DISTINCT ?a {SLIDING} {{ ?a :p ?b OPTIONAL {{ ?b :q ?c }} OPTIONAL {{ ?a :q ?c }} }}",
    f"SELECT ?a ?g {SLIDING} {{ GRAPH ?g {{ ?a :p ?b }} }}",
    f"SELECT * {SLIDING} {{ ?a :p ?b VALUES (?a ?x) {{ (:a :b) (UNDEF :c) }} }}",
    f"SELECT ?a ?b {SLIDING} {{ ?a :p ?b FILTER NOT EXISTS {{ ?b :q ?c }} }}",
    f"SELECT ?a ?b {SLIDING} {{ ?a :p ?b FILTER EXISTS {{ ?b :q ?c FILTER (?c != ?a) }} }}",
    f"SELECT ?a ?e {SLIDING} {{ ?a :p ?b BIND (EXISTS {{ ?b :q ?c }} AS ?e) }}",
    # Windows, policies, operators
    "SELECT ?a ?c { STREAM :s [RANGE 7ms] { ?a :p ?b } STREAM :s [TRIPLES 3] { ?b :q ?c } }",
    "SELECT ?a ?b { STREAM :s [NOW] { ?a :p ?b } STREAM :s [RANGE 9ms SLIDE 2ms] { ?b :q ?c } }",
    "SELECT * FROM STREAM :s WINDOW RANGE 6 SLIDE 2 { ?a :p ?b OPTIONAL { ?b :q ?c } }",
    "SELECT ISTREAM ?a FROM STREAM :s [NOW - 8 MS TO NOW - 2 MS SLIDE 3 MS] { ?a :p ?b }",
    "SELECT DSTREAM ?a FROM STREAM :s [NOW - 8 MS TO NOW - 2 MS SLIDE 3 MS] { { ?a :p ?b } UNION { ?b :q ?a } }",
    "SELECT ISTREAM ?a FROM NAMED WINDOW :w ON :s [RANGE 9ms STEP 4ms] FROM NAMED WINDOW :v ON :s [ELEMENTS 4 STEP 2] "
    "{ WINDOW :w { ?a :p ?b } WINDOW :v { ?b :q ?c } }",
    "SELECT DSTREAM * FROM NAMED WINDOW :w ON :s [RANGE 9ms STEP 4ms REPORT ON_CONTENT_CHANGE] "
    "{ WINDOW ?w { ?a :p ?b } }",
    "SELECT ?a FROM NAMED WINDOW :w ON :s [RANGE 9ms STEP 4ms REPORT PERIODIC 3 & !ON_ARRIVAL] "
    "{ WINDOW :w { ?a :p ?b } }",
    # Paths
    f"SELECT ?a ?b {SLIDING} {{ ?a :p+ ?b }}",
    f"SELECT * {SLIDING} {{ :a (:p|^:q)* ?b }}",
    f"SELECT * {SLIDING} {{ ?a :p/:q? ?b }}",
    f"SELECT * {SLIDING} {{ ?a !(:p|^:q) ?b }}",
    "SELECT * { STREAM :s [RANGE 7ms] { ?a :p*/:q ?a } }",
    # Expressions, aggregates, modifiers
    f"SELECT ?a ?n ?k {SLIDING} {{ ?a :n ?n FILTER (?n > 2 && ?n + 1 < 9) BIND (?n * 2 AS ?k) }}",
    f"SELECT ?a {SLIDING} {{ ?a :p ?b OPTIONAL {{ ?a :n ?n FILTER (?n > 4) }} FILTER (!BOUND(?n)) }}",
    f"SELECT ?a (SUM(?n) AS ?t) (AVG(?n) AS ?m) (MAX(?n) AS ?x) {SLIDING} {{ ?a :n ?n }} GROUP BY ?a",
    f"SELECT (COUNT(?b) AS ?n) (COUNT(DISTINCT ?a) AS ?d) {SLIDING} {{ ?a :p ?b . ?b :r ?c }}",
    f"SELECT ?a (COUNT(*) AS ?c) {SLIDING} {{ ?a :p ?b OPTIONAL {{ ?a :n ?n }} }} GROUP BY ?a HAVING (COUNT(*) > 1)",
    f"SELECT ?a ?n {SLIDING} {{ ?a :n ?n }} ORDER BY DESC(?n) ?a LIMIT 2",
    f"SELECT * {SLIDING} {{ ?a :p ?b {{ SELECT ?b {{ ?b :q ?c }} ORDER BY ?b LIMIT 1 }} }}",
    f"SELECT DISTINCT ?a ?tot {SLIDING} {{ ?a :n ?n }} AGGREGATE {{ (?tot, SUM(?n), {{?a}}) FILTER (?tot > 5) }}",
    # Forms, SPARQL over a stream
    f"ASK {SLIDING} {{ ?a :p ?b . ?b :q ?a }}",
    f"CONSTRUCT {{ ?b :from ?a . [] :of ?b }} {SLIDING} {{ ?a :p ?b }}",
    "CONSTRUCT ISTREAM { ?b :from ?a } FROM NAMED WINDOW :w ON :s [RANGE 9ms STEP 4ms] { WINDOW :w { ?a :p ?b } }",
    "SELECT ?a ?n { ?a :n ?n OPTIONAL { ?a :p ?b } }",
    "SELECT (SUM(?n) AS ?t) { ?a :n ?n }",
    "ASK { ?a :p ?b . ?b :q ?a }",
]


@pytest.fixture(scope="module")
def engine() -> DuckDBEngine:
    return DuckDBEngine()


@pytest.mark.parametrize("query", QUERIES)
def test_random_streams(engine: DuckDBEngine, query: str) -> None:
    """However the input is cut into batches, and the evaluation instants into slices."""
    parsed = penstock.parse(f"PREFIX : <http://e/> {query}")
    for seed in range(3):
        chance = random.Random(f"{query}{seed}")
        inputs = Inputs({"http://e/s": _stream(chance)}, {None: _graph("a q b", "b r c")}, chance.choice((0, 0, 3)))
        flush = chance.random() < 0.3
        cut = {"batch_elements": chance.choice((3, 20, 1000)), "instants_per_slice": chance.choice((1, 3, None))}
        found = [e for e in run_bounded(parsed, inputs, flush=flush, engine=engine, **cut) if e.says_something]
        expected = list(answer(parsed, inputs, flush=flush).with_solutions())
        assert first_difference(found, expected, bool(parsed.modifiers.order_by)) is None, seed


def _stream(chance: random.Random) -> list[Element]:
    """Some elements share a timestamp, some come twice, and a few are out of order."""
    time = 1
    elements: list[Element] = []
    for _ in range(chance.randint(0, 40)):
        time += chance.choice((0, 0, 1, 1, 2, 5))
        late = chance.choice((0, 0, 0, 0, 3))
        if chance.random() < 0.3:
            value: ox.NamedNode | ox.Literal = ox.Literal(chance.randint(0, 9))
            elements.append(_element(chance.choice("abcd"), "n", value, max(1, time - late)))
        else:
            target = ox.NamedNode("http://e/" + chance.choice("abcd"))
            elements.append(_element(chance.choice("abcd"), chance.choice("pq"), target, max(1, time - late)))
    return elements


def _element(subject: str, predicate: str, target: ox.NamedNode | ox.Literal, time: int) -> Element:
    return Element(
        time, (ox.Triple(ox.NamedNode("http://e/" + subject), ox.NamedNode("http://e/" + predicate), target),)
    )


def _graph(*triples: str) -> list[GraphTriple]:
    return [
        GraphTriple(ox.Triple(*(ox.NamedNode("http://e/" + name) for name in triple.split()))) for triple in triples
    ]
