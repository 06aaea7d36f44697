"""Queries that come and go while others run: each answers as if it were alone, over what is after its coming."""

from __future__ import annotations

from dataclasses import dataclass, replace

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.runtime.chains import Scenario
from tests.runtime.families import families

from penstock.engines.duckdb import DuckDBEngine
from penstock.rdf.results import Evaluation
from penstock.runtime.bounded import sources_of
from penstock.runtime.registry import Registry
from penstock.runtime.running import RunSettings


@dataclass(frozen=True)
class Stay:
    """After how many evaluations a query comes, None being before the run, and after how many more it goes, if at all."""

    comes: int | None
    goes: int | None


STAYS = st.builds(Stay, st.none() | st.integers(1, 12), st.none() | st.integers(1, 8))


@settings(max_examples=60)
@given(families(), st.data(), st.sampled_from((None, 1, 3)))
def test_whoever_comes_and_goes_changes_nothing_for_others(
    scenario: Scenario, data: st.DataObject, batch: int | None
) -> None:
    """The first query stays; others come and go at evaluations of the run, whosever they are."""
    how = RunSettings(lateness=scenario.lateness, flush=scenario.flush, is_prompt=batch is not None)
    stays = [Stay(None, None), *(data.draw(STAYS) for _ in scenario.texts[1:])]
    standing = {f"http://ex.org/q{n}": query for n, query in enumerate(scenario.standing)}
    waiting = dict(zip(standing, stays, strict=True))
    there = [name for name, stay in waiting.items() if stay.comes is None]
    engine = DuckDBEngine(rows_between_looks=1)
    sources = sources_of(scenario.inputs, batch)
    run = Registry(engine, [standing[name] for name in there], sources, how)
    came: dict[str, int | None] = dict.fromkeys(there)
    went: dict[str, int] = {}
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
                went[name] = evaluation.time
    engine.close()
    for name, after in came.items():
        alone = replace(
            scenario,
            texts=(scenario.texts[list(standing).index(name)],),
            elements=tuple(element for element in scenario.elements if after is None or element.time > after),
        )
        own = [evaluation for evaluation in found if evaluation.query == name]
        alone.check(own, until=went.get(name))
