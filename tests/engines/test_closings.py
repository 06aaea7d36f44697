"""What batches tell of closing windows is what a statement over all rows finds."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock import parse
from penstock.algebra import ContinuousQuery, Settings, build
from penstock.engines.duckdb.statements import DuckDBReport
from penstock.engines.duckdb.store import DuckDBStore
from penstock.engines.noted_reports import NotedReport
from penstock.engines.protocol import Seen
from penstock.relational.reporting import compile_instants, compile_last_end

STREAM = "http://ex.org/s"

Row = tuple[int, int | None, bool]
"""A timestamp, how far it is behind the watermark if it is late, and whether the element has a triple."""

rows = st.lists(st.tuples(st.integers(-20, 60), st.none() | st.integers(1, 9), st.booleans()), max_size=6)


@pytest.fixture(scope="module")
def engine() -> DuckDBStore:
    return DuckDBStore()


def query_over(window: str, origin: int = 0) -> ContinuousQuery:
    windows = f"FROM NAMED WINDOW :w ON <{STREAM}> [{window}]"
    text = f"PREFIX : <http://ex.org/> SELECT * {windows} {{ WINDOW :w {{ ?s ?p ?o }} }}"
    return build(parse(text), Settings(origin=origin))


def batch(rows: list[Row]) -> pa.Table:
    return pa.table(
        {
            **{
                part: pa.array([f"I{part}" if has_triple else None for *_, has_triple in rows], "string")
                for part in "spo"
            },
            "ts": pa.array([time for time, *_ in rows], "int64"),
            "element": pa.array(range(len(rows)), "int64"),
            "since": pa.array([None if delay is None else time + delay for time, delay, _ in rows], "int64"),
        }
    )


def append(engine: DuckDBStore, rows: list[Row]) -> None:
    """Rows as they are when it is known which of them are late."""
    engine.append_stamped(STREAM, batch(rows), Seen(len(rows), None, None, has_late=False))


@given(
    batches=st.lists(rows, min_size=1, max_size=4),
    width=st.integers(1, 12),
    step=st.integers(1, 12),
    origin=st.integers(-15, 15),
    steps=st.lists(st.integers(1, 30), min_size=1, max_size=4),
    appended_before=st.integers(0, 2),
)
def test_the_instants_are_those_of_the_statement(
    engine: DuckDBStore,
    batches: list[list[Row]],
    width: int,
    step: int,
    origin: int,
    steps: list[int],
    appended_before: int,
) -> None:
    engine.clear()
    engine.add_stream(STREAM)
    query = query_over(f"RANGE {width}ms STEP {step}ms", origin)
    for number in range(min(appended_before, len(batches))):
        append(engine, batches[number])
    report = engine.compile_report(query)
    assert isinstance(report, NotedReport)
    for later in batches[appended_before:]:
        append(engine, later)
    statement = DuckDBReport(
        engine, compile_instants(query, engine.tables), lambda: compile_last_end(query, engine.tables)
    )
    first = -25
    for length in steps:
        last = first + length
        assert report.instants(first, last, None) == statement.instants(first, last, None)
        first = last + 1
    ends = [
        found if found is not None and found > first else None
        for found in (report.last_end(first), statement.last_end(first))
    ]
    assert ends[0] == ends[1]


def test_what_else_a_policy_asks_is_left_to_the_statement(engine: DuckDBStore) -> None:
    engine.clear()
    engine.add_stream(STREAM)
    assert isinstance(engine.compile_report(query_over("ELEMENTS 2")), DuckDBReport)
