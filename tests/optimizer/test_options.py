"""What users see of the optimizer: `--no-optimize`, `optimize=False`, and the plan that explain shows."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

import penstock as ps
from penstock.cli import commands

EX = "http://ex.org/"
QUERY = f"""
    PREFIX : <{EX}>
    SELECT ?gate ?car FROM NAMED WINDOW :w ON :toll [RANGE 10s STEP 5s]
    WHERE {{ WINDOW :w {{ ?gate :sees ?car }} GRAPH :city {{ ?gate :in ?district }} FILTER (?district = :north) }}
"""
STREAM = "".join(f'<{EX}g{n % 2}> <{EX}sees> <{EX}c{n}> "{n}000" .\n' for n in range(1, 9))
GRAPH = f"<{EX}g0> <{EX}in> <{EX}north> .\n<{EX}g1> <{EX}in> <{EX}south> .\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, text in (("query.rq", QUERY), ("toll.tnt", STREAM), ("city.nt", GRAPH)):
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def said(*arguments: str) -> str:
    result = CliRunner().invoke(commands, arguments, prog_name="penstock")
    assert result.exit_code == 0, result.output
    return result.stdout


@pytest.mark.usefixtures("folder")
def test_the_answer_is_the_same_without_the_optimizer() -> None:
    options = ("query.rq", "--stream", "toll.tnt", "--graph", f"{EX}city=city.nt", "--engine", "duckdb")
    with_rules, as_written = said("run", *options, "--flush"), said("run", *options, "--flush", "--no-optimize")
    assert with_rules == as_written
    assert with_rules.count("c8") > 0
    assert "agree" in said("verify", *options, "--flush", "--no-optimize")


@pytest.mark.usefixtures("folder")
def test_explain_shows_the_plan_and_the_rules() -> None:
    text = said("explain", "query.rq")
    before, plan = text.split("\nPlan\n")
    assert "The plan that runs, after these rules: push filters" in plan
    assert before.index("Filter") < before.index("Join")
    assert plan.index("Join") < plan.index("Filter ?district = :north")
    record = json.loads(said("explain", "query.rq", "--format", "json"))
    assert "push filters" in [entry["rule"] for entry in record["plan"]["rules"]]
    assert record["plan"]["operators"] == record["plan"]["rules"][-1]["operators"] != record["operators"]
    assert "The plan that runs, after these rules" in said("explain", "query.rq", "--format", "svg")
    assert "After: push filters" in said("explain", "query.rq", "--format", "html")


@pytest.mark.usefixtures("folder")
def test_without_the_optimizer_there_is_no_plan() -> None:
    assert "\nPlan\n" not in said("explain", "query.rq", "--no-optimize")
    assert json.loads(said("explain", "query.rq", "--no-optimize", "--format", "json"))["plan"] is None
    with_rules, as_written = (
        said("explain", "query.rq", "--format", "sql", *more) for more in ((), ("--no-optimize",))
    )
    assert with_rules != as_written


@pytest.mark.usefixtures("folder")
def test_in_python() -> None:
    engine = ps.Engine()
    engine.stream(f"{EX}toll", "toll.tnt")
    engine.graph("city.nt", f"{EX}city")
    query, as_written = engine.register(QUERY), engine.register(QUERY, optimize=False)
    assert query.to_arrow() == as_written.to_arrow()
    assert "\nPlan\n" in query.explain().text
    assert "\nPlan\n" not in as_written.explain().text
