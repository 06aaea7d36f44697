"""Tollgates next to SQL by hand: the data, and that all systems give the same answers."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

from penstock.bench.answers import AnswerMismatchError
from penstock.bench.context import ExperimentContext
from penstock.bench.limits import experiment
from penstock.bench.limits.data import write_passages
from penstock.bench.limits.queries import WORKLOADS

TRIPLES = 12_000
"""A window of ten seconds, and slightly more."""


def test_a_thousand_passages_a_second(tmp_path: Path) -> None:
    times = [int(line.split('"')[1]) for line in write_passages(tmp_path, TRIPLES).read_text().splitlines()]
    assert all(earlier <= later for earlier, later in pairwise(times))
    assert times[-1] - times[0] == pytest.approx(TRIPLES, rel=0.05)


def test_the_experiment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(experiment, "TRIAL", TRIPLES)
    result = experiment.run(ExperimentContext(tmp_path, True, TRIPLES / 200_000, 1, ("duckdb",)))
    measured = [
        ("text to answer", "penstock run"),
        ("text to answer", "SQL by hand"),
        ("text to answer", "pyoxigraph"),
        ("evaluation", "Penstock on DuckDB"),
        ("evaluation", "SQL by hand"),
    ]
    assert [row[:3] for row in result.tables[0].rows] == [
        (workload.name, *system) for workload in WORKLOADS for system in measured
    ]
    assert all(row[7] == 1 for row in result.tables[0].rows if row[2] == "SQL by hand")


def test_sql_that_answers_something_else_is_not_measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(experiment, "TRIAL", TRIPLES)
    wrong = replace(WORKLOADS[0], statement=WORKLOADS[0].statement.replace("count(*)", "count(*) + 1"))
    monkeypatch.setattr(experiment, "WORKLOADS", (wrong,))
    with pytest.raises(AnswerMismatchError, match="SQL by hand gives another answer"):
        experiment.run(ExperimentContext(tmp_path, True, TRIPLES / 200_000, 1, ("duckdb",)))
