"""No input is dropped silently: every run logs what it drops, and says how much on the query and on the result."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

import penstock as ps

TOLL = "http://e/toll"
QUERY = f"SELECT ?car FROM STREAM <{TOLL}> [RANGE 10ms TUMBLING] {{ ?gate <http://e/sees> ?car }}"


def row(number: int, time: int) -> tuple[Any, ...]:
    return "<http://e/g>", "<http://e/sees>", f"<http://e/c{number}>", time


ROWS = [row(1, 1), row(2, 25), row(3, 2), ("oops", "<http://e/sees>", "<http://e/c>", 26), row(4, 31)]
LATE = "dropped 1 element that arrived too late; lateness= waits for late elements"
LEFT_OUT = f"<{TOLL}>:4: skipped: "


@pytest.fixture
def query() -> Any:
    engine = ps.Engine()
    engine.stream(TOLL, ROWS)
    return engine.register(QUERY)


WAYS: dict[str, Callable[[Any], object]] = {
    "results": lambda query: list(query.results()),
    "to_df": lambda query: query.to_df(),
    "to_arrow": lambda query: query.to_arrow(),
}


@pytest.mark.parametrize("way", WAYS)
def test_every_run_says_it_again(query: Any, way: str, caplog: pytest.LogCaptureFixture) -> None:
    for _ in range(3):
        caplog.clear()
        WAYS[way](query)
        assert [record.name for record in caplog.records] == ["penstock", "penstock"]
        assert caplog.messages[0].startswith(LEFT_OUT)
        assert caplog.messages[1] == LATE
        assert (query.counts.late, query.counts.malformed, query.counts.dropped) == (1, 1, 2)


def test_it_is_on_the_result(query: Any) -> None:
    counts = query.to_df().attrs["counts"]
    assert (counts["elements"], counts["rows"], counts["late"], counts["malformed"]) == (4, 2, 1, 1)
    assert json.loads(query.to_arrow().schema.metadata[b"counts"]) == counts


def test_a_run_that_is_left_early_says_it_too(query: Any, caplog: pytest.LogCaptureFixture) -> None:
    for _ in query.results():
        break
    assert LATE in caplog.messages


def test_queries_that_run_together_say_it_each(query: Any, caplog: pytest.LogCaptureFixture) -> None:
    engine = ps.Engine()
    engine.stream(TOLL, ROWS)
    engine.register(QUERY)
    engine.register(QUERY, name="other", flush=False, strict=False, t0=1)
    for _ in range(2):
        caplog.clear()
        list(engine.results())
        assert caplog.messages.count(LATE) == 2


def test_it_is_shown_on_standard_error_by_default(tmp_path: Path) -> None:
    """As a script or a notebook shows it: nothing is configured."""
    (tmp_path / "cell.py").write_text(
        "import penstock as ps\n"
        f"engine = ps.Engine(); engine.stream({TOLL!r}, {ROWS!r}); query = engine.register({QUERY!r})\n"
        "for _ in range(2): query.to_arrow()\n"
    )
    shown = subprocess.run([sys.executable, tmp_path / "cell.py"], capture_output=True, encoding="utf-8", timeout=60)
    assert shown.stderr.splitlines().count(LATE) == 2, shown.stderr


class TestSpark:
    @pytest.fixture
    def query(self, spark: SparkSession, tmp_path: Path) -> Any:
        engine = ps.Engine(spark)
        lines = [f'{s} {p} {o} "{ts}" .\n' for s, p, o, ts in ROWS]
        (tmp_path / "toll").mkdir()
        (tmp_path / "toll" / "1.tnt").write_text("".join(lines))
        engine.stream(TOLL, tmp_path / "toll")
        return engine.register(QUERY)

    def test_every_run_says_it_again(self, query: Any, caplog: pytest.LogCaptureFixture) -> None:
        for way in ("to_df", "to_df", "results"):
            caplog.clear()
            found = WAYS[way](query)
            assert [message for message in caplog.messages if "skipped" in message or "late" in message] == [
                caplog.messages[0],
                LATE,
            ]
            assert (query.counts.late, query.counts.malformed) == (1, 1)
            if way == "to_df":
                counts = found.schema["time"].metadata["counts"]  # type: ignore[attr-defined]
                assert (counts["elements"], counts["late"], counts["malformed"]) == (4, 1, 1)

    def test_a_run_beside_the_program_says_it_when_it_ends(
        self, query: Any, spark: SparkSession, tmp_path: Path, caplog: pytest.LogCaptureFixture
    ) -> None:
        engine = ps.Engine(spark)
        engine.stream(TOLL, f"{tmp_path / 'toll'}?follow")
        query = engine.register(QUERY)
        with query.start(lambda evaluation: None, until_read=True) as run:
            run.wait()
            assert LATE in caplog.messages
            assert run.counts.dropped == 2
        assert caplog.messages.count(LATE) == 1
