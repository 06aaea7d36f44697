"""Windows of live runs on Spark: beside the driver, on the cluster, and moving between both."""

from __future__ import annotations

import logging
import os
import random
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from pyoxigraph import NamedNode, Triple
from tests.bounded import graphs_of
from tests.runtime.live import ListOutlet, micro_batches, run_to_the_end, write_folder

from penstock.algebra import Settings
from penstock.algebra.inputs import GraphTriple, Inputs
from penstock.oracle import answer
from penstock.oracle.judging import first_difference
from penstock.rdf.changes import Change
from penstock.rdf.elements import Element, Malformed
from penstock.rdf.result_batches import ResultBatch
from penstock.rdf.results import Evaluation
from penstock.runtime.micro_batches import StreamedRun
from penstock.runtime.outlets import Callback
from penstock.runtime.queries import QuerySpec
from penstock.runtime.settings import RunSettings, Windows
from penstock.sources.graph_updates import GraphUpdates
from penstock.sources.spark.live import GrowingFolder, StreamedRows
from penstock.syntax import parse

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

EX = "http://ex.org/"
TOLL = f"{EX}toll"
LATENESS = 300
FILES = 6
TEXTS = {
    "counted": "SELECT ?gate (COUNT(?car) AS ?cars) FROM NAMED WINDOW :w ON :toll [RANGE PT2S STEP PT1S] "
    "WHERE { WINDOW :w { ?gate :lets ?car } ?gate :in :centre } GROUP BY ?gate",
    "new": "REGISTER ISTREAM :new AS SELECT ?car FROM NAMED WINDOW :w ON :toll [RANGE PT3S STEP PT1S] "
    "WHERE { WINDOW :w { ?gate :lets ?car } }",
    "last": "SELECT ?gate (COUNT(*) AS ?n) FROM NAMED WINDOW :w ON :toll [ELEMENTS 7 STEP 3] "
    "WHERE { WINDOW :w { ?gate :lets ?car } } GROUP BY ?gate",
}
GATES = [Triple(NamedNode(f"{EX}gate{n}"), NamedNode(f"{EX}in"), NamedNode(f"{EX}centre")) for n in range(3)]
CHANGES = [Change(3500, False, GATES[0]), Change(8000, True, GATES[2])]


def elements() -> list[Element]:
    """Few to begin with, then many in the same time, then few again; some are late, and a few of them too late."""
    drawn = random.Random(5)
    per_second = [8] * 4 + [60] * 4 + [8] * 4
    times = [1000 * second + 1000 * n // count for second, count in enumerate(per_second) for n in range(count)]
    late = [time - drawn.choice((0, 0, 0, 0, 250, 900)) for time in times]
    return [_passage(max(time, 1), drawn.randrange(3), drawn.randrange(40)) for time in late]


def _passage(time: int, gate: int, car: int) -> Element:
    names = (f"gate{gate}", "lets", f"car{car}")
    return Element(time, (Triple(*(NamedNode(EX + name) for name in names)),))


def inputs(given: list[Element]) -> Inputs:
    return Inputs({TOLL: given}, {None: [GraphTriple(triple) for triple in GATES[:2]]}, LATENESS)


@contextmanager
def conf(spark: SparkSession, **settings: int) -> Iterator[None]:
    """Settings of Penstock, such as `windows_maxRows`."""
    names = {f"spark.penstock.{name.replace('_', '.')}": value for name, value in settings.items()}
    for name, value in names.items():
        spark.conf.set(name, str(value))
    try:
        yield
    finally:
        for name in names:
            spark.conf.unset(name)


class Noting:
    """The answers of the three queries, and who evaluated when they were taken."""

    def __init__(self) -> None:
        self.found: dict[str, list[Evaluation]] = {name: [] for name in TEXTS}
        self.evaluated_by: list[str] = []
        self.run: StreamedRun | None = None

    def standing(self) -> list[Any]:
        return [(self.spec(name), Callback(self._take)) for name in TEXTS]

    def spec(self, name: str) -> QuerySpec:
        return QuerySpec(parse(f"PREFIX : <{EX}> {TEXTS[name]}", "rspql"), name)

    def _take(self, evaluation: Evaluation) -> None:
        assert self.run is not None
        name = "new" if evaluation.query == f"{EX}new" else evaluation.query
        self.found[name].append(evaluation)
        evaluated_by = self.run.run.store.evaluated_by
        if evaluated_by not in self.evaluated_by[-1:]:
            self.evaluated_by.append(evaluated_by)

    def check(self, given: Inputs, changes: list[Change]) -> None:
        triples = _changing(given.graphs[None], changes)
        for name, found in self.found.items():
            spec = self.spec(name)
            expected = answer(spec.query, replace(given, graphs={None: triples}), Settings(), name=name).evaluations
            told = [replace(evaluation, query=name) for evaluation in expected if evaluation.says_something]
            own = [replace(one, query=name) for one in found if one.says_something]
            difference = first_difference(own, told, False)
            assert difference is None, difference.text
            assert len(own) > 2


def _changing(triples: Any, changes: list[Change]) -> Any:
    from penstock.api.oracle_inputs import with_updates

    return with_updates(triples, changes)


DRIVER, CLUSTER = "DuckDB beside the driver", "Spark SQL on the cluster"


@pytest.mark.parametrize(("windows", "places"), [("driver", [DRIVER]), ("auto", [DRIVER, CLUSTER, DRIVER])])
def test_windows_are_where_they_fit(
    spark: SparkSession,
    windows: Windows,
    places: list[str],
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """They move to the cluster and back between two batches, with a graph that changes meanwhile."""
    given = elements()
    write_folder(tmp_path / "toll", given, files=FILES)
    noting = Noting()
    with conf(spark, windows_maxRows=100), caplog.at_level(logging.INFO, "penstock"):
        noting.run = micro_batches(
            spark,
            noting.standing(),
            {TOLL: GrowingFolder(tmp_path / "toll", "s", files_per_batch=1)},
            graphs_of(inputs(given)),
            RunSettings(lateness=LATENESS, windows=windows),
            is_bounded=True,
            updates={None: GraphUpdates(CHANGES)},
        )
        run_to_the_end(noting.run)
    noting.check(inputs(given), CHANGES)
    assert noting.evaluated_by == places
    assert [record.getMessage().partition("evaluated by ")[2] for record in caplog.records] == [
        f"{place} from now on" for place in places[1:]
    ]


@pytest.mark.parametrize("windows", ["driver", "cluster"])
def test_a_batch_that_is_too_large_for_the_driver(
    spark: SparkSession, windows: Windows, tmp_path: Path
) -> None:  # fmt: skip
    given = elements()
    write_folder(tmp_path / "toll", given, files=3)
    with (tmp_path / "toll" / "2.tnt").open("a") as file:
        file.write("nonsense\n")
    os.utime(tmp_path / "toll" / "2.tnt", (2, 2))
    odd: list[Malformed] = []
    noting = Noting()
    with conf(spark, batch_maxBytes=100):
        noting.run = micro_batches(
            spark,
            noting.standing(),
            {TOLL: GrowingFolder(tmp_path / "toll", "s", files_per_batch=1)},
            graphs_of(inputs(given)),
            RunSettings(lateness=LATENESS, windows=windows),
            is_bounded=True,
            on_malformed=lambda stream, entry: odd.append(entry),
        )
        run_to_the_end(noting.run)
    noting.check(inputs(given), [])
    assert [entry.text for entry in odd] == ["nonsense"]


def test_many_rows_that_spark_streams(spark: SparkSession, tmp_path: Path) -> None:
    """The same batch, decoded by the driver and by executors: rows of a graph are one element."""
    rows = [(f"I{EX}gate{n % 3}", f"I{EX}lets", f"I{EX}car{n}", 100 * n + 1, f"I{EX}g{n // 2}") for n in range(90)]
    shuffled = random.Random(1).sample(rows, len(rows))
    spark.createDataFrame(shuffled, "s string, p string, o string, ts bigint, g string").write.parquet(
        str(tmp_path / "rows")
    )

    def streamed(session: SparkSession) -> DataFrame:
        schema = "s string, p string, o string, ts bigint, g string"
        return session.readStream.schema(schema).parquet(str(tmp_path / "rows"))

    given = [_passage(100 * n + 1, n % 3, n) for n in range(90)]
    for most in (1_000_000, 10):
        noting = Noting()
        with conf(spark, batch_maxRows=most):
            noting.run = micro_batches(
                spark,
                noting.standing(),
                {TOLL: StreamedRows(streamed, is_named=True)},
                graphs_of(inputs(given)),
                is_bounded=True,
            )
            run_to_the_end(noting.run)
        noting.check(replace(inputs(given), lateness=0), [])


@pytest.mark.parametrize("is_durable", [False, True])
def test_a_micro_batch_is_one_job(spark: SparkSession, is_durable: bool, tmp_path: Path) -> None:
    given = elements()
    write_folder(tmp_path / "toll", given, files=FILES)
    noting = Noting()
    noting.run = micro_batches(
        spark,
        noting.standing(),
        {TOLL: GrowingFolder(tmp_path / "toll", "s", files_per_batch=1)},
        graphs_of(inputs(given)),
        RunSettings(lateness=LATENESS),
        is_bounded=True,
        checkpoint=tmp_path / "checkpoint" if is_durable else None,
    )
    noting.run.start()
    (query,) = spark.streams.active
    try:
        assert noting.run.wait(300)
        jobs = spark.sparkContext.statusTracker().getJobIdsForGroup(str(query.runId))
        assert len(jobs) == FILES
    finally:
        noting.run.stop()
    noting.check(inputs(given), [])


class StopError(Exception):
    """A run is to end here."""


@dataclass(frozen=True)
class Stopping(ListOutlet):
    """Ends its run after so many evaluations."""

    most: list[int]

    def write(self, batch: ResultBatch, which: range) -> None:
        if len(self.evaluations) >= self.most[0]:
            raise StopError
        super().write(batch, which)


def test_a_run_continues_with_another_evaluator(spark: SparkSession, tmp_path: Path) -> None:
    """The log alone is enough: each run is ended in the middle, and the next one evaluates elsewhere."""
    given = elements()
    write_folder(tmp_path / "toll", given, files=FILES)
    spec = Noting().spec("last")
    outlet = Stopping([], [5])
    lives: list[tuple[Windows, int]] = [("driver", 20), ("cluster", 60), ("driver", 10_000)]
    for windows, most in lives:
        outlet.most[0] = most
        run = micro_batches(
            spark,
            [(spec, outlet)],
            {TOLL: GrowingFolder(tmp_path / "toll", "s", files_per_batch=1)},
            graphs_of(inputs(given)),
            RunSettings(lateness=LATENESS, windows=windows),
            is_bounded=True,
            checkpoint=tmp_path / "checkpoint",
        )
        run.start()
        try:
            with nullcontext() if most == 10_000 else pytest.raises(StopError):
                run.wait(300)
        finally:
            run.stop()
    expected = answer(spec.query, inputs(given), Settings(), name="last").evaluations
    found = [evaluation for evaluation in outlet.evaluations if evaluation.says_something]
    difference = first_difference(found, [one for one in expected if one.says_something], False)
    assert difference is None, difference.text
    assert len(found) > 60
