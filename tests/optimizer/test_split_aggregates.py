"""Aggregates of windows before static knowledge comes to them: the answer is that of the query as it is written."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

import pyoxigraph as ox
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.bounded import run_bounded
from tests.histories import run_on_spark

from penstock.algebra import build
from penstock.algebra.inputs import GraphTriple, Inputs
from penstock.engines.duckdb.store import DuckDBStore
from penstock.optimizer import RULES, Knowledge, Sizes, optimize
from penstock.oracle import answer
from penstock.oracle.judging import first_difference, is_ordered
from penstock.rdf.elements import Element
from penstock.syntax import ast, parse

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

EX = "http://e/"
INTEGER, DECIMAL, FLOAT, DOUBLE = (
    ox.NamedNode(f"http://www.w3.org/2001/XMLSchema#{name}") for name in ("integer", "decimal", "float", "double")
)
AGGREGATES = [
    "COUNT(*)",
    "COUNT(?speed)",
    "MIN(?speed)",
    "MAX(?speed)",
    "MIN(?car)",
    "COUNT(?gate)",
    "SUM(?speed)",
    "AVG(?speed)",
]
KEYS = ["?district", "?district ?gate", "?district ?car", "?gate"]
STATIC = ["?gate :in ?district", "?gate :in ?district . ?district :in ?country", "GRAPH :g { ?gate :in ?district }"]


def _iri(name: str) -> ox.NamedNode:
    return ox.NamedNode(EX + name)


def _element(time: int, gate: int, car: int, speed: ox.Literal) -> Element:
    node = _iri(f"car{car}")
    triples = (ox.Triple(_iri(f"gate{gate}"), _iri("sees"), node), ox.Triple(node, _iri("speed"), speed))
    return Element(time, triples)


speeds = st.sampled_from(
    [
        ox.Literal("3"),
        *(ox.Literal(text, datatype=INTEGER) for text in ("1", "2", "10")),
        *(ox.Literal(text, datatype=DECIMAL) for text in ("0.1", "7.25")),
        ox.Literal("2.5", datatype=FLOAT),
        ox.Literal("1.5e0", datatype=DOUBLE),
    ]
)
elements = st.lists(
    st.builds(_element, st.integers(1, 60).map(lambda n: n * 100), st.integers(0, 3), st.integers(0, 3), speeds),
    max_size=12,
)
places = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2)), max_size=10)


def inputs_of(seen: list[Element], within: list[tuple[int, int]]) -> Inputs:
    triples = [ox.Triple(_iri(f"gate{gate}"), _iri("in"), _iri(f"district{district}")) for gate, district in within]
    triples += [ox.Triple(_iri("district0"), _iri("in"), _iri(f"country{n}")) for n in range(2)]
    graph = [GraphTriple(triple) for triple in dict.fromkeys(triples)]
    return Inputs({f"{EX}s": sorted(seen, key=lambda element: element.time)}, {None: graph, f"{EX}g": graph[1:]})


def text_of(keys: str, aggregates: list[str], static: str, step: str = "PT2S") -> str:
    results = " ".join(f"({aggregate} AS ?r{place})" for place, aggregate in enumerate(aggregates))
    window = f"FROM NAMED :g FROM NAMED WINDOW :w ON :s [RANGE PT2S STEP {step}]"
    pattern = f"WINDOW :w {{ ?gate :sees ?car . ?car :speed ?speed }} {static}"
    return f"PREFIX : <{EX}> SELECT {keys} {results} {window} {{ {pattern} }} GROUP BY {keys}"


@pytest.fixture(scope="module")
def engine() -> DuckDBStore:
    return DuckDBStore()


@settings(derandomize=True, max_examples=60, deadline=None)
@given(
    seen=elements,
    within=places,
    keys=st.sampled_from(KEYS),
    aggregates=st.lists(st.sampled_from(AGGREGATES), min_size=1, max_size=3, unique=True),
    static=st.sampled_from(STATIC),
)
def test_the_answer_is_the_same(
    engine: DuckDBStore,
    seen: list[Element],
    within: list[tuple[int, int]],
    keys: str,
    aggregates: list[str],
    static: str,
) -> None:
    query, inputs = parse(text_of(keys, aggregates, static)), inputs_of(seen, within)
    with pytest.MonkeyPatch.context() as patch:
        rule = import_module("penstock.optimizer.split_aggregates")
        patch.setattr(rule, "_PARTNERS", 0)
        patch.setattr(rule, "_PARTNERS_OF_COUNTS", 0)
        meaning = build(query)
        steps = optimize(meaning.expression, Knowledge.of(meaning)).steps
        found = [e for e in run_bounded(query, inputs, store=engine) if e.says_something]
    assert any(step.rule == "split aggregates" for step in steps)
    as_written = [e for e in run_bounded(query, inputs, store=engine, is_optimized=False) if e.says_something]
    assert first_difference(found, as_written, is_ordered(query)) is None
    expected = list(answer(query, inputs).with_solutions())
    assert first_difference(found, expected, is_ordered(query)) is None


def _is_split(query: ast.Query, sizes: Sizes) -> bool:
    meaning = build(query)
    steps = optimize(meaning.expression, Knowledge.of(meaning, sizes), RULES).steps
    return any(step.rule == "split aggregates" for step in steps)


def test_spark_has_them_split_where_gates_have_many_districts(spark: SparkSession) -> None:
    from tests.bounded import graphs_of

    from penstock.engines.spark.history import HistoryStore

    kinds = (INTEGER, INTEGER, DECIMAL, DOUBLE)
    seen = [_element(n * 300, n % 3, n % 4, ox.Literal(str(n), datatype=kinds[n // 8])) for n in range(1, 30)]
    applied = []
    for districts in (2, 80):
        inputs = inputs_of(seen, [(gate, district) for gate in range(3) for district in range(districts)])
        query = parse(text_of("?district", ["COUNT(*)", "MAX(?speed)", "SUM(?speed)", "AVG(?speed)"], STATIC[0]))
        engine = HistoryStore(spark)
        for iri, graph in graphs_of(inputs).items():
            engine.load_graph(iri, graph)
        applied.append(_is_split(query, engine.sizes))
        assert not _is_split(parse(text_of("?district", ["COUNT(*)"], STATIC[0])), engine.sizes), "it costs little"
        engine.close()
        expected = list(answer(query, inputs, name="q").with_solutions())
        found = [e for e in run_on_spark(spark, query, inputs) if e.says_something]
        assert first_difference(found, expected, is_ordered(query)) is None
    assert applied == [False, True]
