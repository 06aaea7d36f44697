"""Several queries at once: those that read each other's streams, and those that share them."""

from __future__ import annotations

import contextlib
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.bounded import sources_of
from tests.runtime.chains import TOLL, Scenario, an_element, chain_of, scenarios
from tests.runtime.families import PATTERNS, families
from tests.runtime.live import ListOutlet, micro_batches, write_folder

from penstock.algebra.inputs import InputError, Inputs
from penstock.engines.duckdb.store import DuckDBStore
from penstock.rdf.results import Evaluation
from penstock.runtime.checkpoints import DatabaseCheckpoint, State
from penstock.runtime.history_intake import HistoryIntake
from penstock.runtime.outlets import Callback
from penstock.runtime.queries import QuerySpec
from penstock.runtime.run import Run
from penstock.runtime.settings import RunSettings
from penstock.runtime.source_intake import SourceIntake
from penstock.syntax import parse

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from penstock.runtime.micro_batches import StreamedRun


def ran_to_the_end(scenario: Scenario, batch: int | None) -> tuple[Run, list[Evaluation]]:
    """All queries over the input at once, or in batches; what can be forgotten is, as soon as it can."""
    how = RunSettings(lateness=scenario.lateness, flush=scenario.flush, is_prompt=batch is not None)
    engine = DuckDBStore(rows_between_looks=1)
    run = Run(engine, SourceIntake(), scenario.standing, sources_of(scenario.inputs, batch), how)
    found = list(run.evaluations())
    engine.close()
    return run, found


@settings(max_examples=30)
@given(scenarios(), st.sampled_from((None, 1, 3)))
def test_a_chain_of_three_is_the_oracle_three_times(scenario: Scenario, batch: int | None) -> None:
    run, found = ran_to_the_end(scenario, batch)
    scenario.check(found)
    for query in run.queries:
        times = [evaluation.time for evaluation in found if evaluation.query == query.name]
        assert times == sorted(times)
    if batch is None:
        assert [evaluation.time for evaluation in found] == sorted(evaluation.time for evaluation in found)


@settings(max_examples=5)
@given(scenarios(), st.integers(1, 5))
def test_a_chain_goes_on_where_it_was(scenario: Scenario, step: int) -> None:
    """Each run is ended after some evaluations, and what was written behind the last commit is cut off."""
    how = RunSettings(lateness=scenario.lateness, flush=scenario.flush, is_prompt=True)
    written: list[Evaluation] = []
    with tempfile.TemporaryDirectory() as folder:
        has_finished, starts = False, 0
        while not has_finished:
            checkpoint = DatabaseCheckpoint(Path(folder) / "checkpoint", "this run")
            sources = sources_of(scenario.inputs, 2)
            outlets = dict.fromkeys(chain_of(scenario.standing).queries, ListOutlet(written))
            intake = SourceIntake()
            run = Run(checkpoint.store, intake, scenario.standing, sources, how, outlets=outlets, checkpoint=checkpoint)
            starts += 1
            left = step * starts
            for _ in run.evaluations():
                left -= 1
                if not left:
                    break
            has_finished = checkpoint.has_finished
            checkpoint.close()
    scenario.check(written)


@settings(max_examples=40)
@given(families(), st.sampled_from((None, 2)))
def test_fused_and_shared_is_each_alone(scenario: Scenario, batch: int | None) -> None:
    """What the queries answer together is what the oracle says of each."""
    scenario.check(ran_to_the_end(scenario, batch)[1])


def test_queries_that_count_matches_of_their_own_keep_their_rows() -> None:
    """Their windows are equal; what these count is not."""
    window = "FROM NAMED WINDOW :w ON :toll [ELEMENTS 1 MATCHING REPORT periodic 2000]"
    texts = tuple(
        f"PREFIX : <http://ex.org/> REGISTER RSTREAM :q{gate} AS "
        f"SELECT ?x {window} {{ WINDOW :w {{ :gate{gate} :lets ?x }} }}"
        for gate in (0, 1)
    )
    elements = (an_element(1000, 1, 0), *(an_element(1000 * time, 0, time) for time in range(2, 20)))
    scenario = Scenario(texts, elements, lateness=0, flush=False)
    scenario.check(ran_to_the_end(scenario, 1)[1])


@pytest.mark.parametrize("pattern", PATTERNS)
def test_what_is_fused(pattern: str) -> None:
    window = "FROM NAMED WINDOW :w ON :toll [RANGE PT4S STEP PT2S]"
    texts = [
        pattern.format(window=window, gate=f"gate{n}", car=f"car{n}", other=f"car{n + 1}", number=n) for n in range(3)
    ]
    standing = [QuerySpec(parse(f"PREFIX : <http://ex.org/> REGISTER RSTREAM :q AS {text}", "rspql")) for text in texts]
    named = [replace(one, name=f"q{n}") for n, one in enumerate(standing)]
    if "CONSTRUCT" in pattern:
        named = [replace(one, query=replace(one.query, register=None)) for one in named]
    run = Run(DuckDBStore(), SourceIntake(), named, sources_of(Inputs({TOLL: []})))
    assert len(run.queries) == (3 if pattern in PATTERNS[-2:] else 1)


@settings(max_examples=3)
@given(scenarios())
def test_a_chain_on_spark_over_history(spark: SparkSession, scenario: Scenario) -> None:
    from penstock.engines.spark.history import HistoryStore
    from penstock.sources.spark.frames import gathered

    engine = HistoryStore(spark)
    streams = {iri: gathered(spark, source) for iri, source in sources_of(scenario.inputs).items()}
    how = RunSettings(lateness=scenario.lateness, flush=scenario.flush)
    scenario.check(list(Run(engine, HistoryIntake(), scenario.standing, streams, how).evaluations()))
    engine.close()


@settings(max_examples=2)
@given(scenarios())
def test_a_chain_on_spark_live(spark: SparkSession, scenario: Scenario) -> None:
    """In micro-batches, the second of which fails when it has been answered, and is repeated."""
    from penstock.sources.spark.live import GrowingFolder

    found: dict[tuple[str, int], Evaluation] = {}

    def note(evaluation: Evaluation) -> None:
        found[evaluation.query, evaluation.time] = evaluation

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_folder(folder / "toll", scenario.elements, files=2)
        for attempt in range(2):
            run = micro_batches(
                spark,
                [(standing, Callback(note)) for standing in scenario.standing],
                {TOLL: GrowingFolder(folder / "toll", "s1", files_per_batch=1)},
                settings=RunSettings(lateness=scenario.lateness, flush=scenario.flush),
                checkpoint=folder / "checkpoint",
                is_bounded=True,
            )
            if attempt == 0 and len(scenario.elements) > 1:
                _fail_at(run, 1)
            run.start()
            with contextlib.suppress(CrashError):
                assert run.wait(300)
            run.stop()
        assert run.run.has_finished
    scenario.check(sorted(found.values(), key=lambda evaluation: evaluation.time))


class CrashError(Exception):
    pass


def _fail_at(run: StreamedRun, number: int) -> None:
    checkpoint = run._checkpoint
    assert checkpoint is not None
    commit = checkpoint.commit

    def failing(batch: int, state: State, *, has_finished: bool) -> None:
        if batch == number:
            raise CrashError
        commit(batch, state, has_finished=has_finished)

    checkpoint.commit = failing  # type: ignore[method-assign]


def _standing(name: str, reads: str, form: str = "CONSTRUCT { ?s ?p ?o }") -> QuerySpec:
    return QuerySpec(
        parse(f"REGISTER STREAM {name} AS {form} FROM STREAM <{reads}> [RANGE 1s STEP 1s] WHERE {{ ?s ?p ?o }}")
    )


def test_a_circle_is_refused() -> None:
    with pytest.raises(InputError, match=r"in a circle: .*a, which is read by"):
        chain_of([_standing("a", "c"), _standing("b", "a"), _standing("c", "b")])
    with pytest.raises(InputError, match="a reads the stream that it produces itself"):
        chain_of([_standing("a", "a")])


def test_a_stream_comes_from_one_query() -> None:
    with pytest.raises(InputError, match="a and a-2 both produce the stream <a>"):
        chain_of([_standing("a", "s"), _standing("a", "t")])


def test_solutions_are_no_stream_to_read() -> None:
    with pytest.raises(InputError, match="which has solutions, not triples"):
        chain_of([_standing("a", "s", "SELECT *"), _standing("b", "a")]).streams_of("b", ["s"])


def test_a_name_is_resolved_on_both_sides() -> None:
    giver, reader = (
        QuerySpec(parse(text, base="http://ex.org/"))
        for text in (
            "REGISTER STREAM cars AS CONSTRUCT { ?s ?p ?o } FROM STREAM <s> [RANGE 1s STEP 1s] WHERE { ?s ?p ?o }",
            "SELECT * FROM STREAM <cars> [RANGE 1s STEP 1s] WHERE { ?s ?p ?o }",
        )
    )
    chain = chain_of([reader, giver])
    assert chain.produced == {"http://ex.org/cars": "cars"}
    assert chain.external == ("http://ex.org/s",)
    assert chain.order == ("cars", "query")
