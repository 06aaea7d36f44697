"""Rules change no answer: each alone, and all of them, on random queries over random streams."""

from __future__ import annotations

import os

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.bounded import run_bounded
from tests.engines.strategies import Scenario, scenarios

from penstock.algebra import build
from penstock.engines.duckdb.store import DuckDBStore
from penstock.optimizer import RULES, Knowledge, Rule, name_of, optimize
from penstock.oracle import answer
from penstock.oracle.judging import first_difference, is_ordered
from penstock.rdf.results import Evaluation
from penstock.relational import planning

EXAMPLES = int(os.environ.get("PENSTOCK_EXAMPLES", "40"))
trying = settings(derandomize="PENSTOCK_EXAMPLES" not in os.environ, max_examples=EXAMPLES, deadline=None)


@pytest.fixture(scope="module")
def engine() -> DuckDBStore:
    return DuckDBStore(keep_from=0)


def run(engine: DuckDBStore, scenario: Scenario, *, is_optimized: bool) -> list[Evaluation]:
    found = run_bounded(
        scenario.parsed(),
        scenario.inputs(),
        scenario.settings(),
        flush=scenario.flush,
        store=engine,
        is_optimized=is_optimized,
    )
    return [evaluation for evaluation in found if evaluation.says_something]


def changing_rules(scenario: Scenario) -> list[Rule]:
    """Those that have something to do, each by itself."""
    query = build(scenario.parsed(), scenario.settings())
    knowledge = Knowledge.of(query)
    return [rule for rule in RULES if optimize(query.expression, knowledge, (rule,)).steps]


@settings(trying)
@given(scenario=scenarios(), data=st.data())
def test_a_rule_alone_changes_no_answer(engine: DuckDBStore, scenario: Scenario, data: st.DataObject) -> None:
    rules = changing_rules(scenario)
    if not rules:
        return
    rule = data.draw(st.sampled_from(rules), label="rule")
    expected = run(engine, scenario, is_optimized=False)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(planning, "RULES", (rule,))
        found = run(engine, scenario, is_optimized=True)
    difference = first_difference(found, expected, is_ordered(scenario.parsed()))
    assert difference is None, f"{name_of(rule)}: {difference.text}"


@settings(trying, max_examples=EXAMPLES // 2)
@given(scenario=scenarios())
def test_without_the_optimizer_the_answer_is_the_oracles(engine: DuckDBStore, scenario: Scenario) -> None:
    """With it, `tests/engines` says so."""
    expected = list(
        answer(scenario.parsed(), scenario.inputs(), scenario.settings(), flush=scenario.flush).with_solutions()
    )
    difference = first_difference(run(engine, scenario, is_optimized=False), expected, is_ordered(scenario.parsed()))
    assert difference is None, difference.text


SEVERAL_GRAPHS = (
    "SELECT * FROM NAMED STREAM :s [RANGE 5ms TUMBLING] { GRAPH ?g { ?a :p [] . ?a :p ?c } GRAPH ?g { ?c :p ?a } }"
)
"""The order of joins once brought patterns together that merge_patterns leaves apart."""


@settings(trying, max_examples=3 * EXAMPLES)
@given(scenario=scenarios())
@example(Scenario(SEVERAL_GRAPHS, "csparql", {"s": "", "t": ""}, {"": "", "g": "", "h": ""}))
def test_a_rule_leaves_itself_nothing_to_do(scenario: Scenario) -> None:
    query = build(scenario.parsed(), scenario.settings())
    knowledge = Knowledge.of(query)
    for rule in RULES:
        once = rule(query.expression, knowledge)
        assert rule(once, knowledge) == once, name_of(rule)


MARKETS = "FROM NAMED WINDOW :v ON :s [RANGE 6ms STEP 3ms] FROM NAMED WINDOW :w ON :t [RANGE 6ms STEP 3ms]"


@pytest.mark.parametrize(
    "text",
    [
        f"SELECT ?a ?m (SUM(?n) AS ?x) (COUNT(*) AS ?y) {MARKETS} {{ WINDOW ?m {{ ?a :n ?n }} }} GROUP BY ?m ?a",
        f"SELECT ?a ?g (COUNT(*) AS ?x) {MARKETS} FROM NAMED :g {{ GRAPH ?g {{ ?a :p ?b }} }} GROUP BY ?g ?a",
    ],
)
def test_aggregates_of_each_window_are_the_oracles(engine: DuckDBStore, text: str) -> None:
    lines = [f"{time} :{'abc'[time % 3]} :n {time % 4} . :{'ab'[time % 2]} :p :c" for time in range(1, 30)]
    scenario = Scenario(text, "rspql", {"s": "\n".join(lines), "t": "\n".join(lines[::2])}, {"g": "-9 - :a :p :b"})
    assert changing_rules(scenario)
    reference = answer(scenario.parsed(), scenario.inputs(), scenario.settings())
    difference = first_difference(run(engine, scenario, is_optimized=True), list(reference.with_solutions()), False)
    assert difference is None, difference.text
