"""The instants at which elements enter windows, from appended rows, are what a statement over all rows finds."""

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

rows = st.lists(st.tuples(st.integers(0, 12), st.none() | st.integers(1, 4), st.booleans()), min_size=1, max_size=6)

WINDOWS = ("NOW", "RANGE 3ms", "ALL", "TRIPLES 1", "TRIPLES 2")


@pytest.fixture(scope="module")
def engine() -> DuckDBStore:
    return DuckDBStore()


def query_over(*windows: str) -> ContinuousQuery:
    blocks = " ".join(f"STREAM <{STREAM}> [{window}] {{ ?s ?p{n} ?o{n} }}" for n, window in enumerate(windows))
    return build(parse(f"SELECT * WHERE {{ {blocks} }}", "cqels"), Settings())


def append(engine: DuckDBStore, rows: list[Row]) -> None:
    """Rows as they are when it is known which of them are late."""
    terms = {
        part: pa.array([f"I{part}" if has_triple else None for *_, has_triple in rows], "string") for part in "spo"
    }
    since = [None if delay is None else time + delay for time, delay, _ in rows]
    times = {"ts": pa.array([time for time, *_ in rows], "int64"), "element": pa.array(range(len(rows)), "int64")}
    table = pa.table({**terms, **times, "since": pa.array(since, "int64")})
    engine.append_stamped(STREAM, table, Seen(len(rows), None, None, has_late=False))


@given(
    batches=st.lists(rows, min_size=1, max_size=4),
    windows=st.lists(st.sampled_from(WINDOWS), min_size=1, max_size=2),
    steps=st.lists(st.integers(1, 9), min_size=1, max_size=4),
    appended_before=st.integers(0, 2),
)
def test_the_instants_are_those_of_the_statement(
    engine: DuckDBStore, batches: list[list[Row]], windows: list[str], steps: list[int], appended_before: int
) -> None:
    engine.clear()
    engine.add_stream(STREAM)
    query = query_over(*windows)
    for earlier in batches[:appended_before]:
        append(engine, earlier)
    report = engine.compile_report(query)
    assert isinstance(report, NotedReport)
    for later in batches[appended_before:]:
        append(engine, later)
    statement = DuckDBReport(
        engine, compile_instants(query, engine.tables), lambda: compile_last_end(query, engine.tables)
    )
    first = -2
    for length in steps:
        last = first + length
        assert report.instants(first, last, None) == statement.instants(first, last, None)
        first = last + 1
    if not any(window.startswith("TRIPLES") for window in windows):
        assert report.last_end(first) == statement.last_end(first)
