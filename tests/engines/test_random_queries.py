"""Random queries over random streams: the embedded engine gives the oracle's answer, however its input comes.

225 examples altogether, the same in every run; `make fuzz` tries 2,000 or more, and new ones each time. What fails is
printed as Python and can be pasted below, into `FOUND_BEFORE`.
"""

from __future__ import annotations

import os
from dataclasses import replace

import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st
from tests.bounded import run_bounded, run_together
from tests.engines.strategies import Scenario, scenarios, scenarios_together

from penstock.engines.duckdb.store import DuckDBStore
from penstock.oracle import answer
from penstock.oracle.judging import first_difference, is_ordered
from penstock.rdf.results import Evaluation
from penstock.runtime.queries import QuerySpec

EXAMPLES = int(os.environ.get("PENSTOCK_EXAMPLES", "200"))
trying = settings(derandomize="PENSTOCK_EXAMPLES" not in os.environ)

FOUND_BEFORE = [
    Scenario(
        "SELECT (COUNT(1.5) AS ?n) FROM STREAM :s { ?a :l ?l }",
        "sparqlstream",
        {"s": "13 :a :p :c"},
    ),
    Scenario(
        "SELECT (SUM(DISTINCT ?b - 5) AS ?n) FROM WINDOW ON :s [NOW] { VALUES ?b { } }",
        "rspql",
        {"s": "12 :c :q :b"},
    ),
    Scenario(
        "SELECT ?n FROM :h FROM WINDOW ON :t [ELEMENTS 1] { GRAPH :g { } }",
        "rspql",
        {"t": "8 :b :n 1"},
        {"g": "", "h": ""},
    ),
    Scenario(
        "SELECT ?a FROM WINDOW ON :t [ELEMENTS 2] { ?a ?b ?c }",
        "rspql",
        {"t": "17 :a :l 1\n26 :b :l 5\n20 :b :q :a"},
    ),
    Scenario(
        "SELECT * FROM STREAM :t { ?a ?b ?c }",
        "sparqlstream",
        {"t": "-2 :a :n 1\n-9 :b :l true"},
        lateness=5,
    ),
    Scenario(
        "SELECT ?n FROM STREAM :t WINDOW ELEMS 5 { ?c ?r ?n }",
        "streaming-sparql",
        {"t": "14 :a :q :b\n17 :a :l 1\n14 :b :n -0.5\n18 :b :q :a\n19 :c :n 1\n24 :a :q :d\n16 :c :n -3"},
    ),
]


@pytest.fixture(scope="module")
def engine() -> DuckDBStore:
    """With one thread, because statements over a few rows mostly wait for the others."""
    return DuckDBStore(rows_between_looks=1, keep_from=0, limits={"threads": 1})


def run(engine: DuckDBStore, scenario: Scenario, batch: int, slices: int | None) -> list[Evaluation]:
    """What the embedded engine says, with so many elements to a batch and so many instants to a slice."""
    found = run_bounded(
        scenario.parsed(),
        scenario.inputs(),
        scenario.settings(),
        flush=scenario.flush,
        store=engine,
        batch_elements=batch,
        instants_per_slice=slices,
    )
    return [evaluation for evaluation in found if evaluation.says_something]


def reference(scenario: Scenario) -> list[Evaluation]:
    found = answer(scenario.parsed(), scenario.inputs(), scenario.settings(), flush=scenario.flush)
    return list(found.with_solutions())


def assert_right(
    engine: DuckDBStore,
    scenario: Scenario,
    expected: list[Evaluation],
    batch: int = 1000,
    slices: int | None = None,
) -> None:
    difference = first_difference(run(engine, scenario, batch, slices), expected, is_ordered(scenario.parsed()))
    assert difference is None, difference.text


batches = st.sampled_from((1000, 1000, 1000, 7, 3, 1))
slicings = st.sampled_from((None, None, None, 9, 2, 1))


@settings(trying, max_examples=EXAMPLES * 3 // 4)
@given(scenario=scenarios(), batch=batches, slices=slicings)
def test_the_answer_is_the_oracles_however_the_input_is_cut(
    engine: DuckDBStore, scenario: Scenario, batch: int, slices: int | None
) -> None:
    expected = reference(scenario)
    event(f"{scenario.dialect}, {'with' if expected else 'without'} solutions")
    assert_right(engine, scenario, expected, batch, slices)


@pytest.mark.parametrize("scenario", FOUND_BEFORE, ids=lambda scenario: scenario.query)
def test_what_was_wrong_before(engine: DuckDBStore, scenario: Scenario) -> None:
    assert_right(engine, scenario, reference(scenario))


@settings(trying, max_examples=EXAMPLES // 4)
@given(scenario=scenarios(), lateness=st.integers(1, 10), batch=batches, data=st.data())
def test_any_order_within_the_lateness_gives_the_same_answer(
    engine: DuckDBStore, scenario: Scenario, lateness: int, batch: int, data: st.DataObject
) -> None:
    """Each element is delayed by up to `lateness`, those of one timestamp alike: count windows tell them apart."""
    ordered = {name: sorted(text.splitlines(), key=_time) for name, text in scenario.streams.items()}
    times = sorted({_time(line) for lines in ordered.values() for line in lines})
    delays = dict(zip(times, data.draw(st.tuples(*[st.integers(0, lateness)] * len(times))), strict=True))
    delayed = {
        name: sorted(lines, key=lambda line: _time(line) + delays[_time(line)]) for name, lines in ordered.items()
    }
    in_order, out_of_order = (
        replace(scenario, streams={name: "\n".join(lines) for name, lines in streams.items()}, lateness=lateness)
        for streams in (ordered, delayed)
    )
    assert_right(engine, out_of_order, reference(in_order), batch)


@settings(trying, max_examples=EXAMPLES // 8)
@given(together=scenarios_together(), batch=batches)
def test_queries_that_run_together_are_answered_as_each_alone(
    engine: DuckDBStore, together: tuple[Scenario, ...], batch: int
) -> None:
    engine.clear()
    specs = [QuerySpec(each.parsed(), f"q{place}", each.settings()) for place, each in enumerate(together)]
    first = together[0]
    found = [*run_together(engine, specs, first.inputs(), flush=first.flush, batch_elements=batch)]
    for spec, scenario in zip(specs, together, strict=True):
        here = [evaluation for evaluation in found if evaluation.query == spec.name and evaluation.says_something]
        difference = first_difference(here, reference(scenario), is_ordered(spec.query))
        assert difference is None, difference.text


def _time(line: str) -> int:
    return int(line.split(maxsplit=1)[0])
