"""What is static in a query is computed once and kept, and the answer is that of the oracle."""

from __future__ import annotations

from typing import Literal

import pyoxigraph as ox
import pytest
from tests.bounded import run_bounded

from penstock.algebra import Settings
from penstock.algebra.inputs import GraphTriple, Inputs
from penstock.engines.duckdb.store import DuckDBStore
from penstock.oracle import answer
from penstock.oracle.judging import first_difference, is_ordered
from penstock.rdf.elements import Element
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


@pytest.fixture(params=[False, True], ids=["scanned", "looked up"])
def engine(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> DuckDBStore:
    """What is kept is small here; with an index, it is used as if it were large."""
    if request.param:
        monkeypatch.setattr("penstock.engines.duckdb.kept._INDEXED", 0)
    return DuckDBStore(keep_from=0)


@pytest.mark.parametrize("pattern", [*KEPT.values(), *NOT_KEPT.values()], ids=[*KEPT, *NOT_KEPT])
def test_the_answer_is_the_same(engine: DuckDBStore, pattern: str) -> None:
    query = parse(f"{HEADER} {{ {SEEN} {pattern} }}")
    expected = list(answer(query, INPUTS, name="query").with_solutions())
    found = [e for e in run_bounded(query, INPUTS, store=engine, batch_elements=2) if e.says_something]
    assert first_difference(found, expected, is_ordered(query)) is None
    assert bool(_tables(engine)) == (pattern in KEPT.values())


SEVERAL_KEYS = {
    "of one stream": "WINDOW :w { ?car :at ?gate . ?car :like ?town } ?gate :in ?town",
    "of two": "WINDOW :w { ?car :at ?gate . ?other :like ?town } ?gate :in ?town . ?town :in ?land",
    "optional": "WINDOW :w { ?car :at ?gate . ?car :like ?town } OPTIONAL { ?gate :in ?town }",
    "minus": "WINDOW :w { ?car :at ?gate . ?car :like ?town } MINUS { ?gate :in ?town }",
    "not exists": "WINDOW :w { ?car :at ?gate . ?car :like ?town } FILTER NOT EXISTS { ?gate :in ?town }",
}


@pytest.mark.parametrize("operator", ["RSTREAM", "ISTREAM"])
@pytest.mark.parametrize("pattern", SEVERAL_KEYS.values(), ids=SEVERAL_KEYS)
def test_by_several_variables(engine: DuckDBStore, pattern: str, operator: str) -> None:
    query = parse(f"{HEADER.replace('SELECT', f'SELECT {operator}')} {{ {pattern} }}")
    expected = list(answer(query, LIKING, name="query").with_solutions())
    assert expected
    found = [e for e in run_bounded(query, LIKING, store=engine, batch_elements=2) if e.says_something]
    assert first_difference(found, expected, is_ordered(query)) is None
    assert _tables(engine)


LIKING = Inputs(
    {
        STREAM: [
            Element(
                n * 700,
                (
                    ox.Triple(_iri(f"car{n % 3}"), _iri("at"), _iri(f"gate{n % 4}")),
                    ox.Triple(_iri(f"car{n % 3}"), _iri("like"), _iri(("rome", "oslo")[n % 2])),
                ),
            )
            for n in range(9)
        ]
    },
    INPUTS.graphs,
)

MIXED = {
    "one": "?car :at ?gate . ?car :like ?town",
    "two": "?car :at ?gate . ?car :like ?town . ?gate :in ?town",
    "all": "?car :at ?gate . ?other :at ?gate . ?gate :in ?town",
    "nothing shared": "?car :like ?town . ?other :at ?gate",
    "a constant": "?car :at :gate1 . ?car :like ?town",
    "a variable predicate": "?car ?how ?gate . ?car :like ?town",
    "the same twice": "?car :at ?car . ?car :like ?town",
}


@pytest.mark.parametrize("duplicates", ["set", "bag"])
@pytest.mark.parametrize("batch", [1, 9])
@pytest.mark.parametrize("pattern", MIXED.values(), ids=MIXED)
def test_what_stream_and_graph_both_have(
    engine: DuckDBStore, pattern: str, batch: int, duplicates: Literal["set", "bag"]
) -> None:
    """Some triples of the stream are in the graph, too: these count once, and always."""
    cars = [f"car{n} at gate{(n + 1) % 4}" for n in range(6)]
    inputs = Inputs(LIKING.streams, {None: [*_graph(*cars, "car1 at gate1", "car1 at car1"), *INPUTS.graphs[None]]})
    query = parse(f"PREFIX : <http://e/> SELECT * FROM STREAM :s [RANGE 2s STEP 1s] {{ {pattern} }}")
    settings = Settings(duplicates=duplicates)
    expected = list(answer(query, inputs, settings, name="query").with_solutions())
    assert expected
    run = run_bounded(query, inputs, settings, store=engine, batch_elements=batch)
    assert first_difference([e for e in run if e.says_something], expected, is_ordered(query)) is None
    assert bool(engine.kept) == (pattern != MIXED["nothing shared"])


def test_it_is_computed_again_when_the_graph_is_another_one(engine: DuckDBStore) -> None:
    query = parse(f"{HEADER} {{ {SEEN} ?gate :in ?town . ?town :in ?land }}")
    list(run_bounded(query, INPUTS, store=engine))
    before = _tables(engine)
    assert before
    engine.load_graph(None, graph_of_triples(_graph("gate0 in bern", "bern in ch")))
    assert not _tables(engine)


def test_what_would_be_too_much_is_not_kept() -> None:
    """All pairs of things that are alike: they are joined when there is something to join them with."""
    engine = DuckDBStore(keep_from=0)
    query = parse(f"{HEADER} {{ WINDOW :w {{ ?car :at ?a }} ?a :like ?what . ?b :like ?what }}")
    inputs = Inputs(INPUTS.streams, {None: _graph(*(f"thing{n} like it" for n in range(700)))})
    list(run_bounded(query, inputs, store=engine))
    assert all(rows <= 700 for rows in _tables(engine).values())


def _tables(engine: DuckDBStore) -> dict[str, int]:
    """What is kept, and how many rows each has."""
    names = [name for (name,) in engine.rows("SELECT table_name FROM duckdb_tables() WHERE table_name LIKE 'static%'")]
    return {name: engine.rows(f"SELECT count(*) FROM {name}")[0][0] for name in names}
