"""SERVICE of an endpoint that holds a graph is GRAPH of that graph: random data, patterns in every place."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st
from pyoxigraph import BlankNode, Literal, NamedNode, Quad, Store, Triple
from tests.bounded import run_bounded

import penstock
from penstock.algebra import build
from penstock.algebra.inputs import GraphTriple, Inputs
from penstock.algebra.services import ServiceAnswer, ServiceCall, service_calls
from penstock.engines.duckdb.store import DuckDBStore
from penstock.oracle import answer
from penstock.oracle.judging import first_difference
from penstock.rdf.elements import Element

EX = "http://ex.org/"
NODES = [NamedNode(f"{EX}{name}") for name in "abc"]
TERMS = [*NODES, Literal(1), Literal("x"), BlankNode("n")]
P, Q = NamedNode(f"{EX}p"), NamedNode(f"{EX}q")

ASKED = (
    "?a :q ?b",
    "?a :q ?b OPTIONAL { ?b :q ?c }",
    "{ ?a :q ?b } UNION { ?b :q ?c }",
    "?a :q+ ?b",
    "?a :q ?b FILTER (isIRI(?b))",
    "SELECT ?a (COUNT(?x) AS ?b) { ?a :q ?x } GROUP BY ?a",
    ":a :q :b",
)
PLACES = (
    "?a :p ?d . HERE",
    "?a :p ?b . HERE",
    "?a :p ?d OPTIONAL { HERE }",
    "?a :p ?d MINUS { HERE }",
    "?a :p ?d FILTER EXISTS { HERE }",
    "?a :p ?d FILTER NOT EXISTS { HERE }",
    "{ ?a :p ?d } UNION { HERE }",
    "OPTIONAL { ?a :p ?b } HERE",
    "?a :p ?d { SELECT DISTINCT ?a { HERE } }",
)
ENGINE = DuckDBStore()

triples = st.builds(Triple, st.sampled_from(NODES), st.just(Q), st.sampled_from(TERMS))
streamed_triples = st.builds(Triple, st.sampled_from(NODES), st.just(P), st.sampled_from(TERMS))


@given(
    st.sets(triples, max_size=6),
    st.lists(streamed_triples, min_size=1, max_size=5),
    st.sampled_from(ASKED),
    st.sampled_from(PLACES),
    st.sampled_from(("r", "i")),
)
@settings(max_examples=40)
def test_service_is_graph_elsewhere(
    graph: set[Triple], streamed: list[Triple], asked: str, place: str, operator: str
) -> None:
    stream = [Element(2 * number, (triple,)) for number, triple in enumerate(streamed, 1)]
    inputs = Inputs({f"{EX}s": stream}, {f"{EX}g": [GraphTriple(triple) for triple in graph]})
    found = {}
    for name, block in {"graph": f"GRAPH :g {{ {asked} }}", "service": f"SERVICE :g {{ {asked} }}"}.items():
        query = penstock.parse(
            f"PREFIX : <{EX}> REGISTER {operator.upper()}STREAM :q AS SELECT * "
            f"FROM NAMED :g FROM WINDOW ON :s [RANGE PT0.004S STEP PT0.002S] WHERE {{ {place.replace('HERE', block)} }}"
        )
        answers = {call: [_answered(graph, call)] for call in service_calls(build(query).text)}
        given = Inputs(inputs.streams, inputs.graphs, services=answers)
        found[name] = list(run_bounded(query, given, store=ENGINE))
        expected = list(answer(query, given).evaluations)
        difference = first_difference(found[name], expected, False)
        assert difference is None, difference.text
    difference = first_difference(found["service"], found["graph"], False)
    assert difference is None, difference.text


def _answered(graph: set[Triple], call: ServiceCall) -> ServiceAnswer:
    store = Store()
    store.extend(Quad(t.subject, t.predicate, t.object) for t in graph)
    return ServiceAnswer(tuple(tuple(found[name] for name in call.columns) for found in store.query(call.query)))
