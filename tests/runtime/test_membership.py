"""Queries that come and go while others run: each answers as if it were alone, over what is after its coming."""

from __future__ import annotations

from dataclasses import dataclass, replace

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.bounded import sources_of
from tests.runtime.chains import TOLL, Scenario, an_element, chain_of, scenarios
from tests.runtime.families import families

from penstock.algebra.chaining import elements_of
from penstock.algebra.inputs import Inputs
from penstock.engines.duckdb.store import DuckDBStore
from penstock.oracle import answer
from penstock.oracle.judging import first_difference
from penstock.rdf.results import Evaluation
from penstock.runtime.queries import QuerySpec
from penstock.runtime.run import Run
from penstock.runtime.settings import RunSettings
from penstock.runtime.source_intake import SourceIntake
from penstock.syntax import parse


@dataclass(frozen=True)
class Stay:
    """After how many evaluations a query comes, None: before the run; and after how many more it goes, if at all."""

    comes: int | None
    goes: int | None


STAYS = st.builds(Stay, st.none() | st.integers(1, 5), st.none() | st.integers(1, 8))


@settings(max_examples=30)
@given(families(least_elements=14, least_queries=2), st.data(), st.sampled_from((None, 1, 3)))
def test_whoever_comes_and_goes_changes_nothing_for_others(
    scenario: Scenario, data: st.DataObject, batch: int | None
) -> None:
    """The first query stays; others come and go at evaluations of the run, whosever they are."""
    how = RunSettings(lateness=scenario.lateness, flush=scenario.flush, is_prompt=batch is not None)
    stays = [Stay(None, None), *(data.draw(STAYS) for _ in scenario.texts[1:])]
    standing = {f"http://ex.org/q{n}": query for n, query in enumerate(scenario.standing)}
    waiting = dict(zip(standing, stays, strict=True))
    there = [name for name, stay in waiting.items() if stay.comes is None]
    engine = DuckDBStore(rows_between_looks=1)
    sources = sources_of(scenario.inputs, batch)
    run = Run(engine, SourceIntake(), [standing[name] for name in there], sources, how)
    came: dict[str, int | None] = dict.fromkeys(there)
    went: set[str] = set()
    found: list[Evaluation] = []
    for number, evaluation in enumerate(run.evaluations(), 1):
        assert evaluation.query not in went, "what has been dropped answers no more"
        found.append(evaluation)
        for name, stay in waiting.items():
            if stay.comes == number:
                run.join(name, standing[name], sources)
                came[name] = run.changes.reached
            if name in came and stay.goes is not None and number == (stay.comes or 0) + stay.goes:
                run.drop(name)
                went.add(name)
    engine.close()
    for name, after in came.items():
        alone = replace(
            scenario,
            texts=(scenario.texts[list(standing).index(name)],),
            elements=tuple(element for element in scenario.elements if after is None or element.time > after),
        )
        own = [evaluation for evaluation in found if evaluation.query == name]
        alone.check(own, is_whole=name not in went)


@settings(max_examples=40)
@given(scenarios(least_elements=14), st.integers(1, 5), st.integers(0, 3), st.sampled_from((None, 1, 3)))
def test_whoever_reads_what_a_query_gives_sees_all_of_it_after_its_coming(
    scenario: Scenario, comes: int, later: int, batch: int | None
) -> None:
    """The first query runs; the second, and then the third, come at evaluations of it, whoever reads it by then."""
    how = RunSettings(lateness=scenario.lateness, flush=scenario.flush, is_prompt=batch is not None)
    chain = chain_of(scenario.standing)
    standing = dict(zip(chain.queries, scenario.standing, strict=True))
    first, second, third = chain.order
    coming = {second: comes, third: comes + later}
    engine = DuckDBStore(rows_between_looks=1)
    sources = sources_of(scenario.inputs, batch)
    run = Run(engine, SourceIntake(), [standing[first]], sources, how)
    came: dict[str, int | None] = {}
    found: dict[str, list[Evaluation]] = {name: [] for name in chain.order}
    for evaluation in run.evaluations():
        found[evaluation.query].append(evaluation)
        for name, number in coming.items():
            if evaluation.query == first and number == len(found[first]):
                run.join(name, standing[name], sources)
                came[name] = run.changes.reached
    engine.close()
    given = {
        stream: [element for evaluation in found[giver] for element in elements_of(evaluation)]
        for stream, giver in chain.produced.items()
    }
    for name, after in came.items():
        assert after is not None
        there = {**scenario.inputs.streams, **given}
        seen = {
            stream: [element for element in there[stream] if element.time > after]
            for stream in chain.streams_of(name, scenario.inputs.streams)
        }
        inputs = replace(scenario.inputs, streams=seen)
        expected = answer(standing[name].query, inputs, flush=scenario.flush).with_solutions()
        own = [evaluation for evaluation in found[name] if evaluation.says_something]
        difference = first_difference(own, list(expected), False)
        assert difference is None, f"{name} after {after}: {difference.text}\n{scenario}"


QUERY = """PREFIX : <http://ex.org/> SELECT ?gate FROM NAMED WINDOW :w ON :toll [RANGE PT2S STEP PT1S]
    WHERE {{ WINDOW :w {{ ?gate :lets :car{} }} }}"""


def test_a_copy_is_fused_as_soon_as_it_sees_what_the_others_see() -> None:
    engine = DuckDBStore(rows_between_looks=1)
    elements = [an_element(500 * number, 0, number % 3) for number in range(1, 25)]
    sources = sources_of(Inputs({TOLL: elements}), 1)
    standing = {f"q{car}": QuerySpec(parse(QUERY.format(car), "rspql"), f"q{car}") for car in range(3)}
    run = Run(engine, SourceIntake(), [standing["q0"], standing["q1"]], sources, RunSettings(is_prompt=True))
    groups: dict[int, list[tuple[str, ...]]] = {}
    for evaluation in run.evaluations():
        groups[evaluation.time] = [query.names for query in run.queries]
        if evaluation.time == 4000 and not run.has_changes:
            run.join("q2", standing["q2"], sources)
    assert groups[3000] == [("q0", "q1")]
    assert groups[5000] == [("q0", "q1"), ("q2",)]
    assert groups[9000] == [("q0", "q1", "q2")]
    assert not engine.rows("SELECT view_name FROM duckdb_views() WHERE view_name LIKE 'stream%'")


def test_what_only_a_dropped_query_needed_is_forgotten() -> None:
    engine = DuckDBStore()
    other = "http://ex.org/other"
    elements = [an_element(500 * number, 0, 1) for number in range(1, 25)]
    sources = sources_of(Inputs({TOLL: elements, other: elements}), 1)
    standing = {
        name: QuerySpec(parse(QUERY.format(1).replace(":toll", f"<{stream}>"), "rspql"), name)
        for name, stream in (("stays", TOLL), ("goes", other))
    }
    run = Run(engine, SourceIntake(), list(standing.values()), sources, RunSettings(is_prompt=True))
    for evaluation in run.evaluations():
        if evaluation.time == 6000 and "goes" in run.chain.queries:
            run.drop("goes")
    table = engine.tables.streams[other]
    assert list(run.streams) == [TOLL]
    ((rows,),) = engine.rows(f"SELECT count(*) FROM {table}")
    assert rows <= 1, "a batch may have been taken when nobody read it any more"
