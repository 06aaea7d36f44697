"""Complete streams answered by ranges: the answer of the embedded engine, whatever the ranges and slices are."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, assume, given, settings
from penstock.runtime.bounded import graphs_of, run_bounded
from tests.engines.strategies import Scenario, scenarios

from penstock.algebra import Settings
from penstock.algebra.chaining import registered_name
from penstock.algebra.inputs import Inputs
from penstock.oracle.judging import first_difference, is_ordered
from penstock.rdf.results import Evaluation
from penstock.runtime.history_intake import HistoryIntake
from penstock.runtime.queries import QuerySpec
from penstock.runtime.run import Run
from penstock.runtime.settings import RunSettings
from penstock.sources import open_source
from penstock.syntax import ast

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from penstock.engines.spark.history import HistoryStore

TRIALS = 60


class NotByRangesError(Exception):
    """Spark SQL would have to answer."""


class ReadHere:
    """A DataFrame as far as stores need it; what executors do is done in this process."""

    def __init__(self, parts: Sequence[Any], read: Callable[[Any], Iterable[pa.RecordBatch]], schema: str) -> None:
        self._parts, self._read = parts, read
        self._columns = [column.partition(" ")[0] for column in schema.split(", ")]

    def toArrow(self) -> pa.Table:  # noqa: N802
        batches = [batch for part in self._parts for batch in self._read(part)]
        return pa.Table.from_batches(batches) if batches else pa.table({name: [] for name in self._columns})


@pytest.fixture
def in_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ranges of a few lines, slices of a few rows, and no Spark job."""
    from penstock.engines.spark import range_queries, survey
    from penstock.engines.spark.history import HistoryStore
    from penstock.engines.spark.statements import SparkQuery, SparkReport
    from penstock.sources.spark import ranges

    def read_here(spark: object, parts: Sequence[Any], read: Any, schema: str) -> ReadHere:
        return ReadHere(parts, read, schema)

    def refuse(*arguments: object) -> None:
        raise NotByRangesError

    def none_late(store: object, query: object, stream: str) -> pa.Table:
        return pa.table({"arrival": [], "element": []})

    for module in (range_queries, survey):
        monkeypatch.setattr(module, "read_in_executors", read_here)
    monkeypatch.setattr(ranges, "bytes_per_range", lambda spark, files: 120)
    monkeypatch.setattr(range_queries, "_ROWS_PER_SLICE", 4)
    monkeypatch.setattr(SparkQuery, "evaluate", refuse)
    monkeypatch.setattr(SparkReport, "instants", refuse)
    monkeypatch.setattr(SparkReport, "last_end", refuse)
    monkeypatch.setattr(HistoryStore, "uncounted", none_late)


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
        with TemporaryDirectory() as name:
            sources = {iri: open_source(path, scope=iri) for iri, path in write_streams(Path(name), inputs).items()}
            for iri, graph in graphs_of(inputs).items():
                store.load_graph(iri, graph)
            spec = QuerySpec(query, registered_name(query) or "q", how)
            run = Run(store, HistoryIntake(), [spec], sources, RunSettings(lateness=inputs.lateness, flush=flush))
            return [evaluation for evaluation in run.evaluations() if evaluation.says_something]
    finally:
        store.close()


@settings(max_examples=TRIALS, suppress_health_check=[*HealthCheck])
@given(scenario=scenarios())
def test_random_queries(spark: SparkSession, in_this_process: None, scenario: Scenario) -> None:
    scenario = replace(scenario, t0=0 if scenario.t0 == "first" else scenario.t0, report=None)
    query, inputs, how = scenario.parsed(), scenario.inputs(), scenario.settings()
    try:
        found = run_by_ranges(spark, query, inputs, how, flush=scenario.flush)
    except NotByRangesError:
        assume(False)
    expected = run_bounded(query, inputs, how, flush=scenario.flush)
    difference = first_difference(found, [e for e in expected if e.says_something], is_ordered(query))
    assert difference is None, difference.text
