"""`--out`: several sinks, each with its format, and what is said of mistakes."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from tests.documents import ROOT
from tests.sinks.webhooks import webhook

from penstock.cli import commands
from penstock.rdf.results import from_json_line

TOLLGATES = ROOT / "examples" / "tollgates"


def run(*options: str | Path, command: str = "run") -> Result:
    engine = ["--engine", "duckdb"] if command == "run" else []
    given = [command, str(TOLLGATES / "query.rq"), *engine, "--stream", str(TOLLGATES / "tollgates.tnt")]
    return CliRunner().invoke(commands, [*given, *map(str, options)])


@pytest.mark.parametrize("command", ["run", "oracle"])
def test_every_sink_receives_every_answer(command: str, tmp_path: Path) -> None:
    answers, table = tmp_path / "answers.jsonl", f"{tmp_path / 'answers.csv'}?format=csv"
    with webhook() as hook:
        result = run("--out", answers, "--out", table, "--out", hook.address, "--out", "-", command=command)
    assert result.exit_code == 0, result.output
    lines = answers.read_text().splitlines()
    assert [from_json_line(line).time for line in lines] == [600_000, 660_000, 720_000]
    assert result.stdout.splitlines() == lines
    assert [received.value.decode() for received in hook.received] == lines
    assert len((tmp_path / "answers.csv").read_text().splitlines()) == 1 + 6


def test_a_checkpoint_belongs_to_its_sinks(tmp_path: Path) -> None:
    kept = ("--checkpoint", tmp_path / "state")
    assert run("--out", tmp_path / "one", "--out", tmp_path / "two", *kept).exit_code == 0
    again = run("--out", tmp_path / "one", "--out", tmp_path / "two", *kept)
    assert "this run is already finished" in again.output
    other = run("--out", tmp_path / "one", *kept)
    assert other.exit_code == 1
    assert "belongs to another run" in other.output


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--out", "a", "--out", "a"), "'--out': the same target is named twice."),
        (("--out", "a?format=tnt"), "'--format': tnt is for CONSTRUCT or DESCRIBE, but this is SELECT"),
        (("--out", "http://localhost/a", "--format", "table"), "'--format': table cannot be sent as messages"),
        (("--out", "ftp://localhost/a"), "'--out': ftp://localhost/a: there is no sink for ftp://"),
        (("--out", "-", "--format", "parquet"), "parquet is written to a folder: name one, as in --out answers/"),
        (("--out", "sparql+http://localhost/a"), "a SPARQL Update endpoint stores results of CONSTRUCT or DESCRIBE"),
        (("--out", "kafka://127.0.0.1:1/a", "--retry-timeout", "100ms"), "does not answer (connection refused)"),
    ],
)
def test_mistakes(options: tuple[str, ...], message: str) -> None:
    result = run(*options)
    assert result.exit_code == 2, result.output
    assert message in result.output


def test_a_receiver_that_is_away_ends_the_run_after_a_time() -> None:
    result = run("--out", "http://127.0.0.1:1/hook", "--retry-timeout", "300ms")
    assert result.exit_code == 1
    assert "http://127.0.0.1:1/hook does not answer (connection refused); waiting for it" in result.stderr
    assert "(tried for 0.3 s; --retry-timeout sets how long to try)" in result.stderr
