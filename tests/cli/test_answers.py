"""`penstock oracle`, `penstock run` and `penstock verify`, as a user meets them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from penstock.cli import commands

QUERY = """
PREFIX : <http://e/>
SELECT ?gate (COUNT(?car) AS ?n) FROM STREAM :toll [RANGE 10ms STEP 5ms] WHERE { ?gate :sees ?car } GROUP BY ?gate
"""
STREAM = """
<http://e/g1> <http://e/sees> <http://e/c1> "1" .
<http://e/g1> <http://e/sees> <http://e/c2> "6" .
this is no triple
<http://e/g2> <http://e/sees> <http://e/c1> "16" .
"""


@pytest.fixture
def files(tmp_path: Path) -> Path:
    (tmp_path / "q.rq").write_text(QUERY)
    (tmp_path / "toll.tnt").write_text(STREAM)
    return tmp_path


def run(folder: Path, command: str, *arguments: str) -> Result:
    """The command on the embedded engine, unless the arguments name another."""
    query, stream = str(folder / "q.rq"), str(folder / "toll.tnt")
    engine = () if command == "oracle" else ("--engine", "duckdb")
    return CliRunner().invoke(commands, [command, query, *engine, "--stream", stream, *arguments])


def counts(result: Result) -> dict[int, dict[str, int]]:
    lines = [json.loads(line) for line in result.stdout.splitlines()]
    return {
        line["time"]: {b["gate"]["value"][-2:]: int(b["n"]["value"]) for b in line["results"]["bindings"]}
        for line in lines
    }


@pytest.mark.parametrize("command", ["oracle", "run"])
class TestAnswers:
    def test_a_line_per_evaluation(self, files: Path, command: str) -> None:
        """The windows (0, 10] and (5, 15] close before the stream ends at 16."""
        result = run(files, command)
        assert result.exit_code == 0
        assert counts(result) == {10: {"g1": 2}, 15: {"g1": 1}}
        first = json.loads(result.stdout.splitlines()[0])
        assert list(first) == ["query", "time", "head", "results"]
        assert first["query"] == "q"
        assert first["head"] == {"vars": ["gate", "n"]}

    def test_malformed_input_is_told_and_kept(self, files: Path, command: str) -> None:
        late = files / "late.txt"
        result = run(files, command, "--late", str(late))
        assert result.exit_code == 0
        assert "toll.tnt:4: warning: skipped" in result.stderr
        assert "this is no triple" in late.read_text()

    def test_strict_stops(self, files: Path, command: str) -> None:
        result = run(files, command, "--strict")
        assert (result.exit_code, result.stdout) == (2, "")

    def test_flush_reports_the_windows_still_open(self, files: Path, command: str) -> None:
        assert counts(run(files, command, "--flush")) == {
            10: {"g1": 2}, 15: {"g1": 1}, 20: {"g2": 1}, 25: {"g2": 1},
        }  # fmt: skip

    def test_settings_from_outside(self, files: Path, command: str) -> None:
        assert counts(run(files, command, "--t0", "1", "--report", "window-close")) == {11: {"g1": 1}, 16: {"g2": 1}}
        assert counts(run(files, command, "--operator", "istream")) == {10: {"g1": 2}, 15: {"g1": 1}}
        assert counts(run(files, command, "--t0", "first")) == {10: {"g1": 2}, 15: {"g1": 1}}

    def test_empty_evaluations_on_request(self, files: Path, command: str) -> None:
        (files / "q.rq").write_text(QUERY.replace(":sees", ":misses"))
        assert run(files, command).stdout == ""
        assert counts(run(files, command, "--empty")) == {10: {}, 15: {}}

    def test_an_empty_stream_has_no_answer(self, files: Path, command: str) -> None:
        (files / "toll.tnt").write_text("")
        result = run(files, command)
        assert (result.exit_code, result.stdout) == (0, "")

    def test_into_a_file(self, files: Path, command: str) -> None:
        result = run(files, command, "--out", str(files / "answer.jsonl"))
        assert result.stdout == ""
        assert len((files / "answer.jsonl").read_text().splitlines()) == 2

    @pytest.mark.parametrize(
        ("arguments", "sentence"),
        [
            (["--stream", "<http://e/other>=x.tnt"], "the query reads no stream <http://e/other>"),
            (["--t0", "soon"], "'soon' is not an instant"),
            (["--t0", "9223372036854775807"], "'9223372036854775807' is out of range; an instant has at most"),
            (["--report", "window-closed"], "did you mean window-close?"),
            (["--graph", "nowhere.ttl"], "nowhere.ttl"),
            (["--lateness", "a while"], "is not a duration"),
        ],
    )
    def test_mistakes_get_a_sentence(self, files: Path, command: str, arguments: list[str], sentence: str) -> None:
        result = run(files, command, *arguments)
        assert result.exit_code == 2
        assert sentence in result.stderr
        assert result.stdout == ""

    def test_a_stream_that_is_not_bound(self, files: Path, command: str) -> None:
        result = CliRunner().invoke(commands, [command, str(files / "q.rq")])
        assert result.exit_code == 2
        assert "the query reads the stream <http://e/toll>, which is not bound" in result.stderr


@pytest.mark.parametrize(("command", "option"), [("verify", "--answer"), ("oracle", "--judge")])
class TestJudge:
    """Answers that some engine has recorded."""

    def test_right_for_one_origin(self, files: Path, command: str, option: str) -> None:
        answer = files / "answer.jsonl"
        run(files, "oracle", "--t0", "2", "--out", str(answer))
        result = run(files, command, option, str(answer))
        assert result.exit_code == 0
        assert result.stdout.startswith("right for t0 = 2 ")

    def test_wrong_for_every_origin(self, files: Path, command: str, option: str) -> None:
        answer = files / "answer.jsonl"
        answer.write_text(run(files, "oracle").stdout.replace('"value": "2"', '"value": "3"'))
        result = run(files, command, option, str(answer))
        assert result.exit_code == 3
        assert result.stdout.startswith("wrong: this is not the answer for any t0")

    def test_windows_still_open(self, files: Path, command: str, option: str) -> None:
        answer = files / "answer.jsonl"
        run(files, "run", "--flush", "--out", str(answer))
        assert run(files, command, option, str(answer), "--flush").stdout.startswith("right for t0 = 0 ")
        assert run(files, command, option, str(answer)).exit_code == 3

    def test_numbers_are_compared_by_value(self, files: Path, command: str, option: str) -> None:
        answer = files / "answer.jsonl"
        answer.write_text(run(files, "oracle").stdout.replace('"value": "2"', '"value": "02"'))
        assert run(files, command, option, str(answer)).exit_code == 0

    def test_datatypes_of_numbers_do_not_count_when_asked(self, files: Path, command: str, option: str) -> None:
        answer = files / "answer.jsonl"
        answer.write_text(run(files, "oracle").stdout.replace("XMLSchema#integer", "XMLSchema#double"))
        assert run(files, command, option, str(answer)).exit_code == 3
        result = run(files, command, option, str(answer), "--numbers-by-value")
        assert result.exit_code == 0
        assert result.stdout.startswith("right for t0 = 0 ")

    def test_windows_closed_on_the_left(self, files: Path, command: str, option: str) -> None:
        """An engine that has what is at a boundary in the window that begins there."""
        answer, toll = files / "answer.jsonl", files / "toll.tnt"
        times = [1, 2, 3, 5, 8, 10, 13, 20, 21, 30]
        line = '<http://e/g1> <http://e/sees> <http://e/c{}> "{}" .\n'
        toll.write_text("".join(line.format(time, time + 1) for time in times))
        answer.write_text(run(files, "oracle").stdout)
        toll.write_text("".join(line.format(time, time) for time in times))
        result = run(files, command, option, str(answer))
        assert result.stdout.startswith("right with windows closed on the left for t0 = ")
        assert result.exit_code == 0

    def test_what_is_no_answer(self, files: Path, command: str, option: str) -> None:
        (files / "answer.jsonl").write_text("{")
        result = run(files, command, option, str(files / "answer.jsonl"))
        assert result.exit_code == 2
        assert "not a line of JSON" in result.stderr
        assert option in result.stderr


SUBJECTS = [f"http://ex.org/{number * 7919 % 997}" for number in range(1, 200)]


class TestVerify:
    def test_both_agree(self, files: Path) -> None:
        result = run(files, "verify")
        assert result.exit_code == 0
        assert result.stdout == "duckdb and the oracle agree: 2 evaluations with solutions\n"

    def test_the_order_of_adding_doubles_is_free(self, tmp_path: Path) -> None:
        double = "http://www.w3.org/2001/XMLSchema#double"
        values = [(-1) ** n * n**5 / 7 ** (n % 9) for n in range(1, 200)]
        lines = [f'<{n}> <http://ex.org/n> "{v!r}"^^<{double}> "5" .' for n, v in zip(SUBJECTS, values, strict=False)]
        (tmp_path / "s.tnt").write_text("\n".join(lines))
        query = "SELECT (SUM(?n) AS ?x) FROM STREAM <http://ex.org/s> [RANGE 5ms TUMBLING] { ?a <http://ex.org/n> ?n }"
        (tmp_path / "q.rq").write_text(query)
        given = [str(tmp_path / "q.rq"), "--engine", "duckdb", "--stream", f"http://ex.org/s={tmp_path / 's.tnt'}"]
        result = CliRunner().invoke(commands, ["verify", *given])
        assert result.exit_code == 0
        assert result.stdout.endswith("with solutions; SUM and AVG of doubles within a relative 1e-12\n")

    def test_spark_is_the_default_and_gives_the_same_answer(self, files: Path, spark: object) -> None:
        given = [str(files / "q.rq"), "--stream", str(files / "toll.tnt")]
        on_spark = CliRunner().invoke(commands, ["run", *given])
        assert on_spark.exit_code == 0
        assert on_spark.stdout == run(files, "run").stdout
        verified = CliRunner().invoke(commands, ["verify", *given])
        assert verified.stdout == "spark and the oracle agree: 2 evaluations with solutions\n"


def test_csv_for_spreadsheets(tmp_path: Path) -> None:
    (tmp_path / "s.tnt").write_text('<http://e/a> <http://e/p> "=1+1" "1" .\n<http://e/a> <http://e/p> "=1+1" "9" .\n')
    (tmp_path / "q.rq").write_text("SELECT ?o FROM STREAM <http://e/s> [RANGE 5ms STEP 5ms] { ?s ?p ?o }")
    for command in (["run", "--engine", "duckdb"], ["oracle"]):
        options = [*command, str(tmp_path / "q.rq"), "--stream", str(tmp_path / "s.tnt"), "--csv-safe"]
        assert CliRunner().invoke(commands, options).stdout == "time,o\n5,'=1+1\n"
        refused = CliRunner().invoke(commands, [*options, "--format", "tsv"])
        assert refused.exit_code == 2
        assert "it is for csv, but --format is tsv" in refused.stderr
