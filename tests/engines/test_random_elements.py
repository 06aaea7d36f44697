"""Random queries over the named elements of windows: the embedded engine gives the oracle's answer."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from tests.engines.strategies_elements import NamedScenario, named_scenarios
from tests.engines.test_random_queries import EXAMPLES, assert_right, batches, reference, slicings, trying

from penstock.engines.duckdb.store import DuckDBStore


@pytest.fixture(scope="module")
def engine() -> DuckDBStore:
    return DuckDBStore(rows_between_looks=1, keep_from=0)


@settings(trying, max_examples=EXAMPLES // 8)
@given(scenario=named_scenarios(), batch=batches, slices=slicings)
def test_elements_are_read_by_their_names_as_the_oracle_reads_them(
    engine: DuckDBStore, scenario: NamedScenario, batch: int, slices: int | None
) -> None:
    assert_right(engine, scenario, reference(scenario), batch, slices)
