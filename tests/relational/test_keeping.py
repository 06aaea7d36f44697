"""What is static in a query is computed once and kept, and the answer is that of the oracle."""

from __future__ import annotations

import pyoxigraph as ox
import pytest

from penstock.algebra.inputs import GraphTriple, Inputs
from penstock.engines.duckdb import DuckDBEngine
from penstock.oracle import answer
from penstock.oracle.judging import first_difference, is_ordered
from penstock.rdf.elements import Element
from penstock.runtime.bounded import run_bounded
from penstock.sources.graphs import graph_of_triples
from penstock.syntax import parse

STREAM = "http://e/s"
HEADER = (
    "PREFIX : <http://e/> SELECT * FROM NAMED <http://e/g> FROM NAMED WINDOW :w ON :s [RANGE PT3S STEP PT1S] WHERE "
)
SEEN = "WINDOW :w { ?car :at ?gate } "

KEPT = {
    "a chain": "?gate :in ?town . ?town :in ?land",
    "optional": "OPTIONAL { ?gate :in ?town . ?town :in ?land }",
    "a named graph": "GRAPH :g { ?gate :fee ?fee . ?gate :name ?name }",
    "named and unnamed": "?gate :in ?town GRAPH :g { ?gate :fee ?fee }",
    "union": "{ ?gate :in ?town } UNION { GRAPH :g { ?gate :fee ?fee . ?gate :name ?name } }",
    "minus": "MINUS { ?gate :in ?town . ?town :in :it }",
    "an aggregate": "{ SELECT ?town (COUNT(?gate) AS ?gates) { ?gate :in ?town } GROUP BY ?town } ?gate :in ?town",
    "a path of steps": "?gate :in+ ?place",
    "a path of none": "?gate :in* ?place",
    "exists": "FILTER EXISTS { ?gate :in ?town . ?town :in :it }",
    "not exists": "FILTER NOT EXISTS { ?gate :in ?town . ?town :in :it }",
    "a filter within": "?gate :in ?town FILTER EXISTS { ?town :in ?land }",
    "a first one": "{ SELECT ?town { ?gate :in ?town } ORDER BY ?gate LIMIT 2 } ?gate :in ?town",
    "values": "?gate :in ?town VALUES ?town { :rome :oslo }",
    "nothing shared": "?town :in ?land",
    "beside the time": "{ SELECT ?gate ?now { ?gate :in :rome BIND(NOW() AS ?now) } }",
}
NOT_KEPT = {"no static pattern": "", "no such triple": "OPTIONAL { ?gate :nowhere ?town }"}


def _iri(name: str) -> ox.NamedNode:
    return ox.NamedNode(f"http://e/{name}")


def _graph(*triples: str) -> list[GraphTriple]:
    return [GraphTriple(ox.Triple(*map(_iri, triple.split()))) for triple in triples]


INPUTS = Inputs(
    {STREAM: [Element(n * 700, (ox.Triple(_iri(f"car{n % 3}"), _iri("at"), _iri(f"gate{n % 5}")),)) for n in range(9)]},
    {
        None: _graph("gate0 in rome", "gate1 in rome", "gate2 in oslo", "gate3 in bern", "rome in it", "oslo in no"),
        "http://e/g": _graph("gate0 fee f1", "gate0 fee f2", "gate2 fee f1", "gate0 name n0", "gate2 name n2"),
    },
)


@pytest.fixture(scope="module")
def engine() -> DuckDBEngine:
    return DuckDBEngine(keep_from=0)


@pytest.mark.parametrize("pattern", [*KEPT.values(), *NOT_KEPT.values()], ids=[*KEPT, *NOT_KEPT])
def test_the_answer_is_the_same(engine: DuckDBEngine, pattern: str) -> None:
    query = parse(f"{HEADER} {{ {SEEN} {pattern} }}")
    expected = list(answer(query, INPUTS, name="query").with_solutions())
    found = [e for e in run_bounded(query, INPUTS, engine=engine, batch_elements=2) if e.says_something]
    assert first_difference(found, expected, is_ordered(query)) is None
    assert bool(_tables(engine)) == (pattern in KEPT.values())


def test_it_is_computed_again_when_the_graph_is_another_one(engine: DuckDBEngine) -> None:
    query = parse(f"{HEADER} {{ {SEEN} ?gate :in ?town . ?town :in ?land }}")
    list(run_bounded(query, INPUTS, engine=engine))
    before = _tables(engine)
    assert before
    engine.load_graph(None, graph_of_triples(_graph("gate0 in bern", "bern in ch")))
    assert not _tables(engine)


def test_what_would_be_too_much_is_not_kept() -> None:
    """All pairs of things that are alike: they are joined when there is something to join them with."""
    engine = DuckDBEngine(keep_from=0)
    query = parse(f"{HEADER} {{ WINDOW :w {{ ?car :at ?a }} ?a :like ?what . ?b :like ?what }}")
    inputs = Inputs(INPUTS.streams, {None: _graph(*(f"thing{n} like it" for n in range(700)))})
    list(run_bounded(query, inputs, engine=engine))
    assert all(rows <= 700 for rows in _tables(engine).values())


def _tables(engine: DuckDBEngine) -> dict[str, int]:
    """What is kept, and how many rows each has."""
    names = [name for (name,) in engine.rows("SELECT table_name FROM duckdb_tables() WHERE table_name LIKE 'static%'")]
    return {name: engine.rows(f"SELECT count(*) FROM {name}")[0][0] for name in names}
