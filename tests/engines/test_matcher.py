"""The pattern matcher finds who wants a triple, and queries for which nothing has come are not asked."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from pyoxigraph import Literal, NamedNode, Triple
from tests.bounded import sources_of
from tests.runtime.live import micro_batches, run_to_the_end, write_folder

from penstock import parse
from penstock.algebra.inputs import Inputs
from penstock.engines.duckdb.statements import DuckDBQuery
from penstock.engines.duckdb.store import DuckDBStore
from penstock.engines.matcher import PatternMatcher
from penstock.engines.protocol import Slice
from penstock.engines.spark.statements import SparkQuery
from penstock.rdf.elements import Element
from penstock.rdf.results import Evaluation
from penstock.relational.matching import TripleConditions
from penstock.runtime.outlets import Callback
from penstock.runtime.queries import QuerySpec
from penstock.runtime.run import Run
from penstock.runtime.settings import RunSettings
from penstock.runtime.source_intake import SourceIntake
from penstock.sources.spark.live import GrowingFolder

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

STREAM = "http://ex.org/s"
PATTERNS = {
    "anything": TripleConditions(),
    "speed": TripleConditions((("p", "Ispeed"),)),
    "stop": TripleConditions((("p", "Istop"),)),
    "this car": TripleConditions((("s", "Icar1"),)),
    "this speed": TripleConditions((("p", "Ispeed"), ("o", "L100"))),
    "this stop": TripleConditions((("p", "Istop"), ("o", "L100"))),
    "that very triple": TripleConditions((("s", "Icar1"), ("p", "Ispeed"), ("o", "L100"))),
}


def rows(*triples: tuple[str | None, str | None, str | None], ts: int) -> pa.Table:
    columns = {part: pa.array([triple[n] for triple in triples], pa.string()) for n, part in enumerate("spo")}
    return pa.table({**columns, "ts": pa.array([ts] * len(triples), pa.int64())})


def test_who_wants_what() -> None:
    matcher = PatternMatcher()
    watched = {name: matcher.watch(STREAM, asked) for name, asked in PATTERNS.items()}

    def latest() -> dict[str, int]:
        return {name: pattern.latest for name, pattern in watched.items() if pattern.latest is not None}

    matcher.note(STREAM, rows((None, None, None), ts=5), set())
    assert latest() == {}
    matcher.note(STREAM, rows(("Icar2", "Ispeed", "L100"), ("Icar1", "Ispeed", "L90"), ts=10), {"Ispeed"})
    assert latest() == dict.fromkeys(["anything", "speed", "this car", "this speed"], 10)
    matcher.note(STREAM, rows(("Icar1", "Ispeed", "L100"), ts=20), {"Ispeed"})
    assert latest() == dict.fromkeys(["anything", "speed", "this car", "this speed", "that very triple"], 20)
    matcher.note(STREAM, rows(("Icar1", "Ispeed", "L100"), ts=15), {"Ispeed"})  # late
    assert set(latest().values()) == {20}
    matcher.note_predicates(STREAM, {"Istop"}, 30)  # more is not known
    assert [name for name, time in latest().items() if time == 30] == ["anything", "stop", "this car", "this stop"]
    matcher.note_anything(STREAM, 40)
    assert latest() == dict.fromkeys(PATTERNS, 40)


def test_of_what_was_there_before_all_may_match() -> None:
    matcher = PatternMatcher()
    matcher.note(STREAM, rows(("Icar1", "Ispeed", "L100"), ts=10), {"Ispeed"})
    assert matcher.watch(STREAM, PATTERNS["stop"]).latest == 10
    assert matcher.watch("http://ex.org/other", PATTERNS["stop"]).latest is None


def query(pattern: str, window: str = "RANGE PT2S STEP PT2S", select: str = "*") -> str:
    windows = f"FROM NAMED WINDOW :w ON <{STREAM}> [{window}]"
    return f"PREFIX : <http://ex.org/> SELECT {select} {windows} WHERE {{ {pattern} }}"


def reading(second: int, predicate: str, value: int = 1) -> Element:
    car, on = NamedNode("http://ex.org/car"), NamedNode(f"http://ex.org/{predicate}")
    return Element(second * 1000, (Triple(car, on, Literal(value)),))


SPEEDS = [reading(second, "speed", second) for second in range(1, 21)]
STOPS_ONCE = [*SPEEDS[:15], reading(15, "stop"), *SPEEDS[15:]]


@pytest.mark.parametrize(
    ("asked", "times"),
    [
        (query("WINDOW :w { ?car :speed ?speed }"), 10),
        (query("WINDOW :w { ?car :brake ?force }"), 0),
        (query("WINDOW :w { ?car :stop ?how }"), 1),
        (query("WINDOW :w { ?car :stop ?how . ?car :speed ?speed }"), 1),
        (query("WINDOW :w { ?car :speed 7 }"), 2),  # that it came after the first of them is not looked at
        (query("WINDOW :w { { ?car :stop ?how } UNION { ?car :brake ?how } }"), 1),
        (query("WINDOW :w { ?car :speed ?speed OPTIONAL { ?car :brake ?force } }"), 10),
        (query("WINDOW :w { ?car :brake ?force OPTIONAL { ?car :speed ?speed } }"), 0),
        (query("WINDOW :w { ?car :brake ?force }", select="(count(*) AS ?n)"), 10),
        (query("WINDOW :w { ?car :brake ?force }", select="?car (count(*) AS ?n)") + " GROUP BY ?car", 0),
        (query("WINDOW ?w { ?car :stop ?how }"), 1),
        (query("WINDOW :w { ?car :stop ?how }", window="RANGE PT4S STEP PT2S"), 2),
    ],
)
def test_a_query_is_asked_when_something_has_come_for_it(
    asked: str, times: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One element at a time; each window that closes is a statement, or none."""
    asked_at: list[int] = []
    ask = DuckDBQuery._statement_for

    def noted(self: DuckDBQuery, part: Slice) -> object:
        asked_at.extend(part.instants)
        return ask(self, part)

    monkeypatch.setattr(DuckDBQuery, "_statement_for", noted)
    engine = DuckDBStore()
    how = RunSettings(is_prompt=True, instants_per_slice=1, has_empty=True)
    sources = sources_of(Inputs({STREAM: STOPS_ONCE}), 1)
    run = Run(engine, SourceIntake(), [QuerySpec(parse(asked), "q")], sources, how)
    evaluations = list(run.evaluations())
    engine.close()
    assert len(evaluations) >= 9
    assert set(asked_at) >= {evaluation.time for evaluation in evaluations if evaluation.rows}
    assert len(asked_at) == times


def test_live_on_spark_predicates_tell(spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of what comes Spark counts predicates; for a query that nothing has come for there is no job."""
    asked: list[tuple[str, ...]] = []
    ask = SparkQuery._frame

    def noted(self: SparkQuery, *arguments: Any) -> Any:
        asked.append(self.variables)
        return ask(self, *arguments)

    monkeypatch.setattr(SparkQuery, "_frame", noted)
    write_folder(tmp_path / "cars", STOPS_ONCE, files=7)
    found: list[Evaluation] = []
    patterns = {"speeds": "?car :speed ?speed", "stops": "?car :stop ?how", "brakes": "?car :brake ?force"}
    run = micro_batches(
        spark,
        [
            (QuerySpec(parse(query(f"WINDOW :w {{ {pattern} }}")), name), Callback(found.append))
            for name, pattern in patterns.items()
        ],
        {STREAM: GrowingFolder(tmp_path / "cars", "cars", files_per_batch=1)},
        settings=RunSettings(windows="cluster"),
        is_bounded=True,
    )
    run_to_the_end(run)
    assert {evaluation.query for evaluation in found if evaluation.rows} == {"speeds", "stops"}
    assert {evaluation.time for evaluation in found if evaluation.query == "stops" and evaluation.rows} == {16000}
    assert ("car", "force") not in asked
    assert asked.count(("car", "how")) == 2  # its batch reaches into the next window
    assert asked.count(("car", "speed")) > 3
