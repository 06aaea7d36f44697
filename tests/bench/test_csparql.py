"""C-SPARQL's stock exchange: the data, and that pushing filters changes no answer."""

from __future__ import annotations

from pathlib import Path

import pytest

from penstock.bench.context import ExperimentContext
from penstock.bench.csparql import experiment
from penstock.bench.csparql.market import DAY, QUERY, VARIANTS, brokers, transactions

LISTING = Path(__file__).parents[1] / "papers" / "csparql" / "total-amount-per-day-and-broker.repaired.rq"


def test_the_query_is_the_papers() -> None:
    assert LISTING.read_text() == QUERY


def test_every_variant_is_another() -> None:
    assert len(set(VARIANTS.values())) == 4


def test_a_twentieth_is_from_switzerland() -> None:
    assert sum('"CH"' in line for line in brokers(200)) == 10


def test_days_are_over() -> None:
    lines = list(transactions(2, 5, 10))
    assert len(lines) == 2 * (2 * 5 + 1)
    assert lines[-1].endswith(f'"{2 * DAY + 1}" .\n')
    assert lines == list(transactions(2, 5, 10))


def test_the_experiment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(experiment, "DAYS", 1)
    monkeypatch.setattr(experiment, "PARTS", (1,))
    result = experiment.run(ExperimentContext(tmp_path, True, 0.02, 1, ("duckdb",)))
    [table] = result.tables
    assert len(table.rows) == 2 * 4
    assert [row[4] for row in table.rows[:4]] == list(VARIANTS)
    assert [figure.name for figure in result.figures] == ["csparql-figure-7-duckdb"]
    assert result.remarks[0].startswith("Penstock on DuckDB: the optimizer's query takes between")
