"""`penstock demo`: what it shows, that it is right, and that what it proposes can be done."""

from __future__ import annotations

import gzip
import io
import re
import runpy
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from rich.console import Console

from penstock.cli import commands
from penstock.cli.demo import BUNDLED, GRAPH, QUERY, STREAM, _show_next
from penstock.cli.engines import EngineOptions

SCRIPT = Path(__file__).parent.parent.parent / "scripts" / "demo_data.py"
WIDTH = 80


def penstock(*arguments: str) -> Result:
    return CliRunner().invoke(commands, arguments, catch_exceptions=False, prog_name="penstock")


@pytest.fixture(scope="module")
def shown() -> Result:
    return penstock("demo", "--engine", "duckdb")


def test_it_tells_what_is_asked_and_answers_it(shown: Result) -> None:
    assert shown.exit_code == 0
    assert (BUNDLED / QUERY).read_text() in shown.stdout
    assert re.findall(r"T(\d\d:\d\d):00Z  5 solutions", shown.stdout) == ["07:15", "07:30", "07:45", "08:00"]
    harbour = [int(passages) for passages in re.findall(r"^Harbour +(\d+)", shown.stdout, re.MULTILINE)]
    assert harbour == [1466, 2427, 1014, 94]


def test_it_tells_how_long_that_took(shown: Result) -> None:
    assert re.fullmatch(
        r"DuckDB is ready after \d+\.\d s\.\n\nAnswered after \d+\.\d s\.\n\n", shown.stderr.replace("…", "")
    )


def test_it_fits_a_narrow_terminal(shown: Result) -> None:
    assert [line for line in shown.stdout.splitlines() if len(line) > WIDTH] == []


@pytest.mark.parametrize(
    ("called", "name"),
    [(".venv/bin/penstock", ".venv/bin/penstock"), ("src/penstock/__main__.py", "python -m penstock")],
)
def test_what_comes_next_after_spark_fits_too(called: str, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.argv", [str(Path.cwd() / called)])
    monkeypatch.setenv("PATH", "")
    shown = io.StringIO()
    _show_next(Console(width=WIDTH, file=shown), EngineOptions("spark"))
    proposed = [line.rpartition(": ")[2] for line in shown.getvalue().splitlines()]
    assert proposed == [f"{name} demo --engine duckdb", f"{name} demo --save toll"]


def test_its_data_are_those_of_the_script() -> None:
    script = runpy.run_path(str(SCRIPT))
    assert (BUNDLED / GRAPH).read_text() == "".join(script["graph"]())
    assert gzip.decompress((BUNDLED / STREAM).read_bytes()).decode() == "".join(script["stream"]())


def test_it_runs_on_spark_unless_told_otherwise(shown: Result, spark: object) -> None:
    on_spark = penstock("demo")
    assert on_spark.exit_code == 0
    assert "Spark is ready after" in on_spark.stderr
    tables = shown.stdout.partition("Next,")[0]
    assert on_spark.stdout.startswith(tables)


def test_what_it_proposes_can_be_done(
    shown: Result, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, spark: object
) -> None:
    monkeypatch.chdir(tmp_path)
    proposed = re.findall(r"penstock (demo .*)", shown.stdout)
    assert proposed == ["demo --save toll"]
    saved = penstock(*proposed[0].split())
    monkeypatch.chdir(tmp_path / "toll")
    answers = {command: penstock(*command.split()) for command in re.findall(r"^  penstock (.*)$", saved.stdout, re.M)}
    assert [command.split()[0] for command in answers] == ["run", "verify", "explain"]
    assert [answer.exit_code for answer in answers.values()] == [0, 0, 0]
    ran, verified, _ = answers.values()
    assert len(ran.stdout.splitlines()) == 4
    assert verified.stdout.endswith("and the oracle agree: 4 evaluations with solutions\n")


def test_what_is_there_is_not_written_over(tmp_path: Path) -> None:
    refused = penstock("demo", "--save", str(tmp_path))
    assert refused.exit_code == 2
    assert "already exists; name a new folder" in refused.stderr
    assert list(tmp_path.iterdir()) == []
