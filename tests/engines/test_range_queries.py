"""Complete streams answered by ranges: the answer of the embedded engine, whatever the ranges and slices are."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from pyoxigraph import NamedNode, Triple
from tests.bounded import graphs_of, run_bounded
from tests.engines.strategies import Scenario, scenarios
from tests.oracle.asking import EX
from tests.ways import NO_SESSION, NotByRangesError, run_tasks_here

import penstock
from penstock.algebra import Settings
from penstock.algebra.chaining import registered_name
from penstock.algebra.inputs import GraphTriple, Inputs
from penstock.engines.duckdb.store import DuckDBStore
from penstock.engines.protocol import WindowStore
from penstock.oracle.judging import first_difference, is_ordered
from penstock.rdf.elements import Element
from penstock.rdf.results import Evaluation
from penstock.runtime.history_intake import HistoryIntake
from penstock.runtime.intake import Intake
from penstock.runtime.queries import QuerySpec
from penstock.runtime.run import Run
from penstock.runtime.settings import RunSettings
from penstock.runtime.source_intake import SourceIntake
from penstock.sources import open_source
from penstock.syntax import ast

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from penstock.engines.spark.history import HistoryStore

TRIALS = 60


def write_streams(folder: Path, inputs: Inputs) -> dict[str, Path]:
    paths = {}
    for number, (iri, elements) in enumerate(inputs.streams.items()):
        paths[iri] = folder / f"{number}.tnt"
        lines = [f'{triple} "{element.time}" .\n' for element in elements for triple in element.triples]
        paths[iri].write_text("".join(lines), encoding="utf-8")
    return paths


def run_by_ranges(
    spark: SparkSession,
    query: ast.Query,
    inputs: Inputs,
    how: Settings,
    *,
    flush: bool = False,
    store: HistoryStore | None = None,
) -> list[Evaluation]:
    """The answer over the same streams, written to files."""
    from penstock.engines.spark.history import HistoryStore

    store = store or HistoryStore(spark)
    try:
        return run_over_files(store, HistoryIntake(), query, inputs, how, flush=flush)
    finally:
        store.close()


def run_over_files(
    store: WindowStore[Any], intake: Intake[Any], query: ast.Query, inputs: Inputs, how: Settings, *, flush: bool
) -> list[Evaluation]:
    with TemporaryDirectory() as name:
        sources = {iri: open_source(path, scope=iri) for iri, path in write_streams(Path(name), inputs).items()}
        for iri, graph in graphs_of(inputs).items():
            store.load_graph(iri, graph)
        spec = QuerySpec(query, registered_name(query) or "q", how)
        run = Run(store, intake, [spec], sources, RunSettings(lateness=inputs.lateness, flush=flush))
        return [evaluation for evaluation in run.evaluations() if evaluation.says_something]


@settings(max_examples=TRIALS, suppress_health_check=[*HealthCheck])
@given(scenario=scenarios())
def test_random_queries(monkeypatch: pytest.MonkeyPatch, scenario: Scenario) -> None:
    run_tasks_here(monkeypatch)
    scenario = replace(scenario, t0=0 if scenario.t0 == "first" else scenario.t0, report=None)
    query, inputs, how = scenario.parsed(), scenario.inputs(), scenario.settings()
    try:
        found = run_by_ranges(NO_SESSION, query, inputs, how, flush=scenario.flush)
    except NotByRangesError:
        assume(False)
    expected = run_over_files(DuckDBStore(), SourceIntake(), query, inputs, how, flush=scenario.flush)
    difference = first_difference(found, expected, is_ordered(query))
    assert difference is None, difference.text


TOLL = EX + "toll"
COUNTS = """
    SELECT ?place (COUNT(?car) AS ?cars) FROM NAMED WINDOW :w ON :toll [RANGE 10s STEP 5s] FROM :city
    WHERE { WINDOW :w { ?gate :sees ?car } ?gate :in ?place } GROUP BY ?place ORDER BY ?place
"""
NEW = "SELECT ?car FROM NAMED WINDOW :w ON :toll [RANGE 10s STEP 10s] WHERE { WINDOW :w { :gate1 :sees ?car } }"
ANY = "ASK FROM NAMED WINDOW :w ON :toll [RANGE 10s STEP 10s] WHERE { WINDOW :w { ?gate :sees :car3 } }"
QUERIES = {
    "counts": f"REGISTER RSTREAM <counts> AS {COUNTS}",
    "istream": f"REGISTER ISTREAM <new> AS {NEW}",
    "dstream": f"REGISTER DSTREAM <gone> AS {NEW}",
    "ask": f"REGISTER RSTREAM <any> AS {ANY}",
}


def tolls(count: int, behind: int) -> Inputs:
    """Cars at gates, up to so many milliseconds behind their order."""
    draw = Random(1)
    elements = []
    for number in range(count):
        triple = Triple(node(f"gate{draw.randrange(4)}"), node("sees"), node(f"car{draw.randrange(9)}"))
        elements.append(Element(1000 + 300 * number - draw.randrange(behind + 1), (triple,)))
    city = [GraphTriple(Triple(node(f"gate{gate}"), node("in"), node(f"street{gate % 2}"))) for gate in range(4)]
    return Inputs({TOLL: elements}, {EX + "city": city}, lateness=1500)


def node(name: str) -> NamedNode:
    return NamedNode(EX + name)


@pytest.fixture
def small_ranges(monkeypatch: pytest.MonkeyPatch) -> None:
    from penstock.engines.spark import range_queries
    from penstock.sources.spark import ranges

    monkeypatch.setattr(ranges, "bytes_per_range", lambda spark, files: 3000)
    monkeypatch.setattr(range_queries, "_ROWS_PER_SLICE", 100)


@pytest.mark.parametrize("name", QUERIES)
def test_executors_answer(
    spark: SparkSession, small_ranges: None, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:  # fmt: skip
    """Some elements are late for good, and Spark SQL is not asked."""
    from penstock.engines.spark.statements import SparkQuery

    def refuse(*arguments: object) -> None:
        raise NotByRangesError

    monkeypatch.setattr(SparkQuery, "evaluate", refuse)
    query, inputs = penstock.parse(QUERIES[name], "rspql", prefixes={"": EX}, base=EX), tolls(400, 4000)
    found = run_by_ranges(spark, query, inputs, Settings())
    assert found == [e for e in run_bounded(query, inputs, Settings()) if e.says_something]
    assert len(found) > 5


def test_spark_sql_answers_when_asked(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    from penstock.engines.spark import range_queries
    from penstock.engines.spark.history import HistoryStore

    monkeypatch.setattr(range_queries, "answer_intervals", None)
    query, inputs = penstock.parse(QUERIES["counts"], "rspql", prefixes={"": EX}, base=EX), tolls(100, 0)
    found = run_by_ranges(spark, query, inputs, Settings(), store=HistoryStore(spark, windows="cluster"))
    assert found == list(run_bounded(query, inputs, Settings()))


def test_a_window_that_is_too_large_for_a_task(
    spark: SparkSession, small_ranges: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    from penstock.engines.spark import range_queries

    monkeypatch.setattr(range_queries, "_MOST_ROWS", 10)
    query, inputs = penstock.parse(QUERIES["counts"], "rspql", prefixes={"": EX}, base=EX), tolls(100, 0)
    assert run_by_ranges(spark, query, inputs, Settings()) == list(run_bounded(query, inputs, Settings()))


def test_answers_are_a_frame(spark: SparkSession, small_ranges: None, tmp_path: Path) -> None:
    inputs = tolls(300, 0)
    engine = penstock.Engine(spark)
    for iri, path in write_streams(tmp_path, inputs).items():
        engine.stream(iri, path)
    query = engine.register(NEW, prefixes={"": EX})
    rows = sorted(tuple(row) for row in query.to_df().collect())
    embedded = penstock.Engine()
    for iri, path in write_streams(tmp_path, inputs).items():
        embedded.stream(iri, path)
    expected = embedded.register(NEW, prefixes={"": EX}).results()
    assert rows == sorted((e.time, row[0].value) for e in expected for row in e.rows or ())
