"""Grouping, EXISTS, NOW(), modifiers and paths over intervals: the oracle's answer on random streams."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pyoxigraph as ox
import pytest
from tests.bounded import run_bounded

import penstock
from penstock.algebra.inputs import GraphTriple, Inputs
from penstock.engines.duckdb.store import DuckDBStore
from penstock.oracle import answer
from penstock.oracle.judging import first_difference
from penstock.rdf.elements import Element
from penstock.rdf.vocabulary import XSD

EX = "http://e/"
S = "FROM STREAM :s [RANGE 10ms STEP 3ms]"
T = "FROM STREAM :s [RANGE 6ms TUMBLING]"
W = "FROM NAMED WINDOW :w ON :s [RANGE 9ms STEP 4ms]"
MANY = " ".join(f"(:{'abcd'[n % 4]} {n}) (UNDEF 'number {n}')" for n in range(12))

GROUPING = [
    f"SELECT ?a (COUNT(*) AS ?c) {S} {{ ?a :p ?b }} GROUP BY ?a",
    f"SELECT ?a {S} {{ ?a :p ?b }} GROUP BY ?a",
    f"SELECT ?a (COUNT(?n) AS ?c) (COUNT(DISTINCT ?n) AS ?d) (COUNT(DISTINCT *) AS ?e) {S} {{ ?a :p ?b "
    "OPTIONAL { ?a :n ?n } } GROUP BY ?a",
    f"SELECT ?a (SUM(?n) AS ?c) (AVG(?n) AS ?d) {S} {{ ?a :v ?n }} GROUP BY ?a",
    f"SELECT ?a (SUM(DISTINCT ?n) AS ?c) (AVG(DISTINCT ?n) AS ?d) {S} {{ ?a :v ?n }} GROUP BY ?a",
    f"SELECT (SUM(?n) AS ?c) (AVG(?n) AS ?d) (COUNT(?n) AS ?e) {S} {{ ?a :v ?n }}",
    f"SELECT (SUM(?n) AS ?c) (AVG(DISTINCT ?n) AS ?d) (MIN(?n) AS ?e) (MAX(?n) AS ?f) {S} {{ ?a :n ?n . ?a :p ?b }}",
    f"SELECT ?b (MIN(?n) AS ?x) (MAX(?n) AS ?y) (COUNT(*) AS ?z) {S} {{ ?a :v ?n OPTIONAL {{ ?a :p ?b }} }} "
    "GROUP BY ?b",
    f"SELECT ?b (AVG(?n) AS ?x) {S} {{ ?a :v ?n OPTIONAL {{ ?a :p ?b }} }} GROUP BY ?b",
    f"SELECT ?a (SAMPLE(?a) AS ?x) (GROUP_CONCAT(DISTINCT STR(?a)) AS ?y) {S} {{ ?a :p ?b }} GROUP BY ?a",
    f"SELECT (GROUP_CONCAT(?x ; SEPARATOR='') AS ?y) {S} {{ ?a :p ?b BIND ('z' AS ?x) }} GROUP BY ?a",
    f"SELECT (AVG(?n) AS ?x) {S} {{ ?a :v ?n OPTIONAL {{ ?a :p ?b FILTER (?b = :a) }} }} GROUP BY ?b",
    f"SELECT ?k (COUNT(?b) AS ?c) {S} {{ ?a :n ?n . ?a :p ?b }} GROUP BY (?n * 2 AS ?k)",
    f"SELECT (SUM(?n * 2 + 1) AS ?c) (MAX(?n / 2) AS ?m) {S} {{ ?a :n ?n }} GROUP BY ?a (?n > 4)",
    f"SELECT (COUNT(*) AS ?c) {S} {{ ?a :q ?b . ?b :p ?a }}",
    f"SELECT (COUNT(DISTINCT ?b) AS ?c) (SUM(DISTINCT ?n) AS ?s) {S} {{ ?a :q ?b . ?a :n ?n }}",
    f"SELECT (MIN(?b) AS ?c) {S} {{ ?a :q ?b . ?b :p ?a }}",
    f"SELECT ?a ?x {S} {{ ?a :p ?b {{ SELECT ?b (COUNT(*) AS ?x) {{ ?b :q ?c }} GROUP BY ?b HAVING (COUNT(*) > "
    "1) } }",
    f"SELECT (MAX(?x) AS ?m) {S} {{ {{ SELECT ?b (COUNT(*) AS ?x) {{ ?b :p ?c }} GROUP BY ?b }} }}",
    f"SELECT ?a (SUM(?x) AS ?c) {S} {{ ?a :p ?b OPTIONAL {{ ?a :n ?n }} BIND (?n + 1 AS ?x) }} GROUP BY ?a",
    f"SELECT ?a (COUNT(*) AS ?c) {S} {{ ?a :p ?b }} GROUP BY ?a ORDER BY DESC(COUNT(*)) ?a LIMIT 2",
    f"SELECT ISTREAM ?a (COUNT(*) AS ?c) {W} {{ WINDOW :w {{ ?a :p ?b }} }} GROUP BY ?a",
    "SELECT (COUNT(*) AS ?k) { STREAM :s [RANGE 7ms] { ?a :p ?b } STREAM :s [TRIPLES 3] { ?b :q ?c } }",
    "SELECT ?b (SUM(?n) AS ?c) { STREAM :s [RANGE 7ms] { ?a :p ?b } STREAM :s [TRIPLES 9] { ?a :v ?n } } GROUP BY ?b",
    f"SELECT ?z (COUNT(?zz) AS ?c) {S} {{ ?a :p ?b }} GROUP BY ?z",
]
EXISTS = [
    f"SELECT ?a (SUM(IF(EXISTS {{ ?b :q ?c }}, 1, 0)) AS ?x) {S} {{ ?a :p ?b }} GROUP BY ?a",
    f"SELECT ?e (COUNT(*) AS ?x) {S} {{ ?a :p ?b }} GROUP BY (EXISTS {{ ?b :q ?c }} AS ?e)",
    f"SELECT ?a (COUNT(*) AS ?x) {S} {{ ?a :p ?b }} GROUP BY ?a HAVING (NOT EXISTS {{ ?a :q ?c }})",
    f"SELECT ?a (COUNT(*) AS ?x) {S} {{ ?a :p ?b }} GROUP BY ?a HAVING (COUNT(*) > 1 || EXISTS {{ ?a :q ?c }})",
    f"SELECT ?a ?b {S} {{ ?a :p ?b }} ORDER BY (EXISTS {{ ?b :q ?c }}) ?a ?b",
    f"SELECT DISTINCT ?a {S} {{ ?a :p ?b FILTER (!EXISTS {{ ?b :q ?c }} || ?a = :a) }}",
    f"SELECT ?a ?b {S} {{ ?a :p ?b FILTER (IF(EXISTS {{ ?b :q ?c }}, EXISTS {{ ?a :q ?d }}, ?a = ?b)) }}",
    f"SELECT ?a ?b {S} {{ ?a :p ?b FILTER EXISTS {{ ?b :q ?c FILTER NOT EXISTS {{ ?c :p ?a }} }} }}",
    f"SELECT ?a ?b {S} {{ ?a :p ?b FILTER EXISTS {{ {{ ?b :q ?c }} {{ ?c :p ?d }} }} }}",
    f"SELECT ?a ?b {S} {{ ?a :p ?b FILTER EXISTS {{ {{ ?b :q ?c }} UNION {{ ?a :n ?c FILTER (?c > 4) }} }} }}",
    f"SELECT ?a ?b {S} {{ ?a :p ?b FILTER EXISTS {{ ?b :q ?c OPTIONAL {{ ?c :n ?n }} FILTER (!BOUND(?n) || ?n "
    "> 4) } }",
    f"SELECT ?a ?b {S} {{ ?a :p ?b FILTER NOT EXISTS {{ ?b :q ?c OPTIONAL {{ ?c :n ?n FILTER (?n > 3 && ?b != "
    ":a) } FILTER (BOUND(?n)) } }",
    f"SELECT ?a ?b {S} {{ ?a :p ?b FILTER NOT EXISTS {{ ?b :q ?c MINUS {{ ?c :p ?d }} }} }}",
    f"SELECT ?a ?b {S} {{ ?a :p ?b OPTIONAL {{ ?b :q ?c FILTER EXISTS {{ ?c :p ?a }} }} FILTER NOT EXISTS {{ "
    "?a :q ?c } }",
    f"SELECT ?a ?b {S} {{ ?a :p ?b FILTER EXISTS {{ SELECT ?b {{ ?b :q ?c }} GROUP BY ?b HAVING (COUNT(*) > 1) }} }}",
    f"SELECT ?a ?b {S} {{ ?a :p ?b FILTER EXISTS {{ ?b :p+ ?a }} }}",
    f"SELECT ?a ?b {S} {{ ?a :p ?b FILTER EXISTS {{ VALUES ?a {{ :a :b }} ?b :q ?c }} FILTER EXISTS {{ ?a :q ?e }} }}",
    f"SELECT ?a ?b {S} {{ ?a :p ?b FILTER EXISTS {{ BIND (?b AS ?x) FILTER (?x = :a) }} }}",
    f"SELECT ?a ?x ?y {S} {{ ?a :p ?b BIND (EXISTS {{ ?b :q ?c }} AS ?x) BIND (IF(?x, NOT EXISTS {{ ?a :q ?c "
    "}, ?b) AS ?y) }",
    f"ASK {S} {{ ?a :p ?b FILTER NOT EXISTS {{ ?b :q ?c }} }}",
]
NOW = [
    f"SELECT ?a ?t {S} {{ ?a :p ?b BIND (NOW() AS ?t) }}",
    f"SELECT ?a {S} {{ ?a :n ?n FILTER (SECONDS(NOW()) * 1000 > ?n * 5) }}",
    f"SELECT ?a (MAX(SECONDS(NOW()) + ?n) AS ?t) (SUM(?n) AS ?s) {S} {{ ?a :n ?n }} GROUP BY ?a",
    f"SELECT (COUNT(*) AS ?c) {S} {{ ?a :p ?b }} GROUP BY (NOW() AS ?t) ?a",
    f"SELECT ?a (NOW() AS ?t) {S} {{ ?a :p ?b }} ORDER BY NOW() ?a LIMIT 3",
    f"SELECT ?a {S} {{ ?a :p ?b FILTER EXISTS {{ ?b :q ?c FILTER (STRLEN(STR(NOW())) > 20) }} }}",
    f"SELECT ISTREAM ?a ?t {W} {{ WINDOW :w {{ ?a :p ?b BIND (NOW() AS ?t) }} }}",
    f"SELECT DISTINCT ?x ?y {S} {{ ?a :p ?b BIND (NOW() AS ?x) BIND (?x = NOW() AS ?y) }}",
]
MODIFIERS = [
    f"SELECT REDUCED ?a {S} {{ ?a :p ?b {{ SELECT REDUCED ?b {{ ?b :q ?c }} }} }}",
    f"SELECT DISTINCT ?a {S} {{ ?a :p ?b }} ORDER BY ?a",
    f"SELECT ?a ?n {S} {{ ?a :n ?n }} ORDER BY ?n ?a OFFSET 1 LIMIT 2",
    f"SELECT ?a ?n {S} {{ ?a :n ?n }} ORDER BY ?n ?a OFFSET 1",
    f"SELECT ?a ?x {S} {{ ?a :p ?b {{ SELECT ?b (MAX(?n) AS ?x) {{ ?b :n ?n }} GROUP BY ?b ORDER BY DESC(?x) "
    "?b LIMIT 2 } } ORDER BY ?x ?a",
    f"SELECT ?a ?b {S} {{ ?a :p ?b {{ SELECT DISTINCT ?b {{ ?b :q ?c }} ORDER BY ?b LIMIT 1 OFFSET 1 }} }}",
    f"SELECT ?a {S} {{ ?a :p ?b }} LIMIT 0",
    f"SELECT (COUNT(*) AS ?c) {S} {{ {{ SELECT ?a {{ ?a :p ?b }} LIMIT 3 }} }}",
    f"SELECT ?a ?b {S} {{ ?a :p ?b }} ORDER BY DESC(?b) ?a VALUES ?a {{ :a :b }}",
    f"SELECT * {S} {{ VALUES (?a ?b) {{ (:a UNDEF) (UNDEF :b) (:c :d) }} ?a :p ?b }}",
    f"SELECT * {S} {{ VALUES () {{ () () }} ?a :p ?b }}",
    f"SELECT * {S} {{ ?a :p ?b VALUES ?a {{}} }}",
    f"SELECT * {S} {{ {{ VALUES ?x {{ 1 2 }} }} UNION {{ ?a :p ?b VALUES ?x {{ UNDEF 3 }} }} }}",
    f"SELECT * {S} {{ ?a :p ?b OPTIONAL {{ VALUES (?b ?x) {{ (:a 1) (:b UNDEF) }} }} MINUS {{ VALUES ?x {{ 1 }} }} }}",
    f"SELECT ?a (COUNT(*) AS ?c) {S} {{ ?a :p ?b }} GROUP BY ?a VALUES (?a ?d) {{ (:a 1) (:b UNDEF) }}",
    f"SELECT * {S} {{ ?a :p ?b {{ SELECT ?b ?x {{ ?b :q ?c BIND (?c AS ?x) }} VALUES ?x {{ :a :b }} }} }}",
    f"SELECT * {S} {{ ?a :p ?b VALUES (?a ?x) {{ {MANY} }} }}",
    f"SELECT * {T} {{ ?a :p ?b VALUES (?a ?x) {{ {MANY} (:a '␟') }} }}",
    f"SELECT * {T} {{ ?a :n ?n OPTIONAL {{ VALUES (?a ?n) {{ {MANY} }} }} }}",
    f"SELECT DISTINCT ?b {S} {{ ?a :p ?b OPTIONAL {{ ?b :n ?n }} }} ORDER BY DESC(COALESCE(STR(?b), '')) LIMIT 2",
]
PATHS = [
    f"SELECT ?a ?b {S} {{ ?a :p* ?b }}",
    f"SELECT ?a ?b {S} {{ ?a (:p/:q)+ ?b }}",
    f"SELECT ?b {S} {{ :a :p* ?b }}",
    f"SELECT ?a {S} {{ ?a :p? :b }}",
    f"SELECT ?a {S} {{ ?a (:p|:q)+ ?a }}",
    f"SELECT * {S} {{ ?a ^:p/:q* ?b . ?b :r ?c }}",
    f"SELECT * {S} {{ ?a !(:p|^:p) ?b }}",
    f"SELECT * {S} {{ ?a (!:p)+ ?b }}",
    f"ASK {S} {{ :a :p+ :b }}",
    "SELECT ?a ?b { STREAM :s [RANGE 6ms] { ?a :p+ ?b } GRAPH :g { ?b :r* ?c } }",
    f"SELECT ?a ?c {S} {{ ?a :p ?b GRAPH :g {{ ?b :r/:r* ?c }} }}",
    f"SELECT ?a (COUNT(*) AS ?n) {S} {{ ?a (:p|^:q)* ?b }} GROUP BY ?a",
    f"SELECT ?a ?b {S} {{ ?a :p+ ?b FILTER NOT EXISTS {{ ?a :p ?b }} }}",
    f"SELECT ?a ?b {S} {{ ?a (:p?)/(:q?) ?b }}",
    f"SELECT ?a ?b {S} {{ ?a (:p*)* ?b OPTIONAL {{ ?b (:q+)? ?c }} }}",
]


FILTERS = [
    f"SELECT * {S} {{ ?a :v ?n FILTER (?n > 1) }}",
    f"SELECT * {T} {{ {{ ?a :v ?n FILTER (?n >= 1.5) }} {{ ?b :v ?m FILTER (?m >= 1.5) }} {{ ?b :v ?n }} }}",
    f"SELECT * {T} {{ ?a :p ?b . ?b :p ?c . ?c :p ?d FILTER (?a != :a && ?d = :b) }}",
    f"SELECT * {T} {{ ?a :p ?b . ?c :p ?d FILTER (?a = :a && ?d = :b) }}",
    f"SELECT ?a ?b ?x {T} {{ ?a :p ?b FILTER (?b = :a) {{ SELECT ?a (SUM(?n) AS ?x) {{ ?a :p ?c . ?c :n ?n "
    "FILTER (?n > 2) } GROUP BY ?a } }",
    f"SELECT * {T} {{ ?a :p ?a FILTER (?a IN (:a, :b)) }}",
    f"SELECT * {S} {{ ?a ?p ?b FILTER (!BOUND(?z) && (isIRI(?b) || ?b > 3)) }}",
    f"SELECT * {S} {{ ?a ?p ?b FILTER (COALESCE(?b, 1) = 1) }}",
    f"SELECT * {S} {{ ?a :p ?b FILTER (?a = IRI('{EX}a') && ?b != :a && EXISTS {{ ?b :q ?c }}) }}",
    "SELECT * { STREAM :s [TRIPLES 3] { ?a :n ?n FILTER (?n > 4) } }",
    "SELECT * FROM NAMED WINDOW :w ON :s [ELEMENTS 2 MATCHING] { WINDOW :w { ?a :n ?n } FILTER (?n > 4) }",
    "SELECT * { STREAM :s [RANGE 7ms] { ?a :p ?b FILTER (?b = :a) } GRAPH :g { ?b :r ?c FILTER (?c != :a) } }",
]


@pytest.fixture(scope="module")
def engine() -> DuckDBStore:
    return DuckDBStore()


@pytest.mark.parametrize("query", [*GROUPING, *EXISTS, *NOW, *MODIFIERS, *PATHS, *FILTERS])
def test_like_the_oracle(engine: DuckDBStore, query: str) -> None:
    parsed = penstock.parse(f"PREFIX : <{EX}> {query}")
    for seed in range(2):
        chance = random.Random(f"{query}{seed}")
        graphs = {None: _graph("a q b", "b r c"), EX + "g": _graph("a r b", "b r c", "c r a")}
        inputs = Inputs({EX + "s": list(_stream(chance))}, graphs, chance.choice((0, 0, 3)))
        found = [
            e for e in run_bounded(parsed, inputs, store=engine, instants_per_slice=(None, 4)[seed]) if e.says_something
        ]
        expected = list(answer(parsed, inputs).with_solutions())
        assert first_difference(found, expected, bool(parsed.modifiers.order_by)) is None, seed


def _stream(chance: random.Random) -> Iterator[Element]:
    time = 1
    for _ in range(chance.randint(5, 40)):
        time += chance.choice((0, 0, 1, 1, 2, 5))
        name = chance.choice("ppqnv")
        target = _number(chance) if name == "v" else ox.Literal(chance.randint(0, 9)) if name == "n" else _node(chance)
        yield Element(max(1, time - chance.choice((0, 0, 0, 3))), (ox.Triple(_node(chance), _iri(name), target),))


def _iri(name: str) -> ox.NamedNode:
    return ox.NamedNode(EX + name)


def _node(chance: random.Random) -> ox.NamedNode:
    return _iri(chance.choice("abcd"))


def _number(chance: random.Random) -> ox.Literal:
    """A number of any kind; now and then, none. Floating ones are sums of powers of 2, so that their sums are exact."""
    datatype = chance.choice(("integer", "integer", "decimal", "decimal", "float", "double", "string"))
    number = str(chance.randint(-4, 9)) if datatype == "integer" else f"{chance.randint(-4, 9)}.5"
    return ox.Literal("abc" if datatype == "string" else number, datatype=ox.NamedNode(XSD + datatype))


def _graph(*triples: str) -> list[GraphTriple]:
    return [GraphTriple(ox.Triple(*map(_iri, triple.split()))) for triple in triples]
