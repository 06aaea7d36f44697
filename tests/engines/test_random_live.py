"""Random queries over windows of live runs on Spark: the oracle's answer, however the input comes.

The windows are beside the driver, and are read from the log again every other batch, as when they come back from the
cluster; so no Spark job is needed. Nightly, some queries also move between the driver and Spark SQL.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.bounded import run_in
from tests.engines.strategies import Scenario, scenarios
from tests.engines.strategies_elements import named_scenarios
from tests.nightly import IS_NIGHTLY
from tests.ways import Commuting, Reread, live_windows

from penstock.engines.spark.live_store import LiveStore
from penstock.oracle import answer
from penstock.oracle.judging import first_difference, is_ordered

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TRIALS = 100
ON_SPARK = 200 if IS_NIGHTLY else 4


def assert_right(store: LiveStore, scenario: Scenario, batch: int) -> None:
    query, inputs, how = scenario.parsed(), scenario.inputs(), scenario.settings()
    expected = list(answer(query, inputs, how, flush=scenario.flush).with_solutions())
    evaluations = run_in(store, query, inputs, how, flush=scenario.flush, batch_elements=batch)
    found = [evaluation for evaluation in evaluations if evaluation.says_something]
    difference = first_difference(found, expected, is_ordered(query))
    assert difference is None, difference.text


@settings(max_examples=TRIALS)
@given(scenario=st.one_of(scenarios(), named_scenarios()), batch=st.sampled_from((7, 3, 1)))
def test_windows_that_are_read_from_the_log_again(scenario: Scenario, batch: int) -> None:
    with live_windows("driver", kind=Reread) as store:
        assert_right(store, scenario, batch)


@settings(max_examples=ON_SPARK, suppress_health_check=[*HealthCheck])
@given(scenario=scenarios(), batch=st.sampled_from((9, 4)))
def test_windows_that_move_to_the_cluster_and_back(spark: SparkSession, scenario: Scenario, batch: int) -> None:
    with live_windows("auto", spark, Commuting) as store:
        assert_right(store, scenario, batch)
