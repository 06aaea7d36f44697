"""What is static in a query is computed once on Spark, too: over histories and live, of small graphs and large ones."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from pyoxigraph import NamedNode, Triple
from tests.bounded import graphs_of
from tests.histories import run_on_spark
from tests.relational.test_kept_tables import HEADER, INPUTS, KEPT, NOT_KEPT, SEEN, STREAM
from tests.runtime.live import micro_batches, run_to_the_end, write_folder

import penstock as ps
from penstock.algebra.inputs import GraphTriple
from penstock.oracle import answer
from penstock.oracle.judging import first_difference, is_ordered
from penstock.rdf.changes import Change
from penstock.rdf.results import Evaluation
from penstock.runtime.outlets import Callback
from penstock.runtime.queries import QuerySpec
from penstock.runtime.settings import RunSettings
from penstock.sources.graph_updates import GraphUpdates
from penstock.sources.spark.live import GrowingFolder
from penstock.syntax import parse

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ALL = {**KEPT, **NOT_KEPT}
OF_SEVERAL_PATTERNS = ["a chain", "union", "minus", "an aggregate", "a path of steps", "optional", "not exists"]


def iri(name: str) -> NamedNode:
    return NamedNode(f"http://e/{name}")


SOLD = Triple(iri("gate1"), iri("sold"), iri("yes"))


def views(spark: SparkSession) -> list[str]:
    return [row["viewName"] for row in spark.sql("SHOW VIEWS").collect()]


def kept_views(spark: SparkSession) -> list[str]:
    return [name for name in views(spark) if "_static_" in name]


def persisted(spark: SparkSession) -> list[str]:
    """The plans of all that Spark has computed and kept."""
    return [kept.name() for kept in spark.sparkContext._jsc.getPersistentRDDs().values()]


@pytest.mark.parametrize("is_large", [False, True], ids=["small", "large"])
@pytest.mark.parametrize("name", [*OF_SEVERAL_PATTERNS, "values", *NOT_KEPT])
def test_the_answer_is_the_same(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch, name: str, is_large: bool
) -> None:  # fmt: skip
    if is_large:
        monkeypatch.setattr("penstock.engines.spark.kept._LARGE", 0)
        monkeypatch.setattr("penstock.engines.spark.kept._MOST", 0)
        monkeypatch.setattr("penstock.engines.spark.closures._FEW", 0)
    before = views(spark), persisted(spark)
    query = parse(f"{HEADER} {{ {SEEN} {ALL[name]} }}")
    expected = list(answer(query, INPUTS, name="q").with_solutions())
    found, kept = [], []
    for evaluation in run_on_spark(spark, query, INPUTS):
        kept = kept or kept_views(spark)
        if evaluation.says_something:
            found.append(evaluation)
    assert first_difference(found, expected, is_ordered(query)) is None
    assert bool(kept) == (name in OF_SEVERAL_PATTERNS or (is_large and name in KEPT))
    assert (views(spark), persisted(spark)) == before, "nothing stays behind"


@pytest.mark.parametrize(("most", "place"), [(3, "driver"), (2, "executors")])
def test_what_is_small_is_with_the_driver_however_large_the_graph_is(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch, most: int, place: str
) -> None:
    """So that an update does not read what is large. What the executors have is read, and not computed anew."""
    monkeypatch.setattr("penstock.engines.spark.kept._LARGE", 0)
    monkeypatch.setattr("penstock.engines.spark.kept._MOST", most)
    query = parse(f"{HEADER} {{ {SEEN} {KEPT['a chain']} }}")
    places = set()
    for _ in run_on_spark(spark, query, INPUTS):
        (view,) = kept_views(spark)
        places.add("executors" if spark.table(view).storageLevel.useMemory else "driver")
        has_been_read = any("REPARTITION_BY_COL" in name for name in persisted(spark))
        assert has_been_read == (place == "executors")
    assert places == {place}


OTHERS = [Change(1500, True, Triple(iri("gate0"), iri("open"), iri("yes"))), Change(2900, False, SOLD)]
"""Changes of the graph that the query does not ask for."""


@pytest.mark.parametrize("changes", [[], OTHERS], ids=["static", "other triples change"])
def test_it_is_computed_once_for_all_micro_batches(
    spark: SparkSession, tmp_path: Path, changes: list[Change]
) -> None:  # fmt: skip
    query = parse(f"{HEADER} {{ {SEEN} {KEPT['a chain']} }}")
    write_folder(tmp_path / "s", INPUTS.streams[STREAM], 4)
    found: list[Evaluation] = []
    kept: list[tuple[object, ...]] = []

    def take(evaluation: Evaluation) -> None:
        found.append(evaluation)
        kept.append(tuple(run.run.store.evaluator._static._views.items()))

    graphs = {**INPUTS.graphs, None: [*INPUTS.graphs[None], GraphTriple(SOLD)]}
    run = micro_batches(
        spark,
        [(QuerySpec(query, "q"), Callback(take))],
        {STREAM: GrowingFolder(tmp_path / "s", "s", files_per_batch=1)},
        graphs_of(replace(INPUTS, graphs=graphs)),
        RunSettings(windows="cluster"),
        is_bounded=True,
        updates={None: GraphUpdates(changes)},
    )
    run_to_the_end(run)
    expected = list(answer(query, INPUTS, name="q").with_solutions())
    assert first_difference([e for e in found if e.says_something], expected, is_ordered(query)) is None
    assert len(set(kept)) == 1
    assert len(kept[0]) == 1


def test_explain_tells_what_is_kept_and_by_what(spark: SparkSession, tmp_path: Path) -> None:
    triples = [f"<http://e/{s}> <http://e/in> <http://e/{o}> ." for s, o in (("gate1", "rome"), ("rome", "it"))]
    passages = [("<http://e/car>", "<http://e/at>", "<http://e/gate1>", time) for time in (500, 4000)]
    graph = tmp_path / "gates.nt"
    graph.write_text("\n".join(triples))
    told = []
    for engine in (ps.Engine(spark, windows="cluster"), ps.Engine()):
        engine.graph(graph)
        engine.stream(STREAM, passages)
        query = engine.register(f"{HEADER} {{ {SEEN} {KEPT['a chain']} }}".replace("FROM NAMED <http://e/g>", ""))
        assert "kept" not in query.explain().text
        assert len(list(query.results())) > 0
        told.append(query.explain().text.partition("Static, computed once and kept:\n")[2].splitlines()[0].strip())
    assert told == ["?gate :in ?town . ?town :in ?land, by ?gate, 1 solution"] * 2
