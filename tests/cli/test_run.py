"""`penstock run` as a user meets it: formats, live streams, Ctrl-C, pipes, dead letters, progress."""

from __future__ import annotations

import csv
import io
import json
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import pytest
from click.testing import CliRunner, Result

from penstock.cli import commands

QUERY = """
PREFIX : <http://e/>
SELECT ?gate (COUNT(?car) AS ?n) FROM STREAM :toll [RANGE 10ms STEP 5ms] WHERE { ?gate :sees ?car } GROUP BY ?gate
"""
CONSTRUCT = """
PREFIX : <http://e/>
CONSTRUCT { ?car :at ?gate } FROM STREAM :toll [RANGE 10ms STEP 5ms] WHERE { ?gate :sees ?car }
"""
EMBEDDED = ("--engine", "duckdb")


def line(gate: str, car: str, time: int) -> str:
    return f'<http://e/{gate}> <http://e/sees> <http://e/{car}> "{time}" .\n'


STREAM = line("g1", "c1", 1) + line("g1", "c2", 6) + line("g2", "c1", 16)


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "q.rq").write_text(QUERY)
    (tmp_path / "toll.tnt").write_text(STREAM)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*arguments: str, stdin: str | bytes | None = None, stream: str = "toll.tnt") -> Result:
    given = ["run", "q.rq", *EMBEDDED, "--stream", stream, *arguments]
    return CliRunner().invoke(commands, given, input=stdin, catch_exceptions=False, prog_name="penstock")


@contextmanager
def started(*arguments: str, env: dict[str, str] | None = None) -> Iterator[subprocess.Popen[bytes]]:
    """The command in a process of its own, which reads and writes pipes; it is gone afterwards."""
    process = subprocess.Popen(
        [sys.executable, "-m", "penstock", "run", "q.rq", *EMBEDDED, *arguments],
        bufsize=0,  # so that `select` sees whether there is another line
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, **(env or {})},
    )
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def read_line(stream: IO[bytes] | None, seconds: float = 20) -> bytes:
    """A line that comes within some seconds, while the process goes on."""
    assert stream is not None
    assert select.select([stream], [], [], seconds)[0], "nothing came"
    return stream.readline()


@pytest.mark.usefixtures("files")
class TestFormats:
    def test_csv_has_the_instant_before_each_solution(self) -> None:
        rows = list(csv.reader(io.StringIO(run("--format", "csv").stdout)))
        assert rows == [["time", "gate", "n"], ["10", "http://e/g1", "2"], ["15", "http://e/g1", "1"]]

    @pytest.mark.parametrize("command", ["run", "oracle"])
    @pytest.mark.parametrize(("format", "header"), [("csv", "time,gate,n\r\n"), ("tsv", "?time\t?gate\t?n\n")])
    def test_an_empty_answer_has_a_header(self, files: Path, format: str, header: str, command: str) -> None:
        (files / "toll.tnt").write_text(line("g1", "c1", 1))
        engine = EMBEDDED if command == "run" else ()
        given = [command, "q.rq", *engine, "--stream", "toll.tnt", "--format", format, "--out", "answer"]
        assert CliRunner().invoke(commands, given, catch_exceptions=False).exit_code == 0
        assert (files / "answer").read_bytes().decode() == header

    def test_tables_shorten_iris_by_the_prefixes_of_the_query(self) -> None:
        shown = run("--format", "table").stdout
        assert "10  1 solution" in shown
        assert ":g1" in shown
        assert "http://e/g1" not in shown

    def test_a_constructed_stream_is_a_stream(self, files: Path) -> None:
        (files / "q.rq").write_text(CONSTRUCT)
        for format in ("tnt", "nquads", "trig"):
            ending = {"nquads": "nq"}.get(format, format)
            assert run("--format", format, "--out", f"at.{ending}").exit_code == 0
            (files / "again.rq").write_text(CONSTRUCT.replace("?gate :sees ?car", "?car :at ?gate"))
            again = CliRunner().invoke(commands, ["run", "again.rq", *EMBEDDED, "--stream", f"at.{ending}"])
            assert [json.loads(result)["time"] for result in again.stdout.splitlines()] == [10, 15]

    def test_a_format_that_does_not_fit_the_query(self, files: Path) -> None:
        (files / "answer.trig").write_text("precious")
        result = run("--format", "trig", "--out", "answer.trig")
        assert result.exit_code == 2
        assert "choose jsonl, table, csv, tsv or parquet" in result.stderr
        assert (files / "answer.trig").read_text() == "precious"


@pytest.mark.usefixtures("files")
class TestSources:
    def test_standard_input(self) -> None:
        assert run("--format", "csv", stream="-", stdin=STREAM).stdout == run("--format", "csv").stdout

    def test_a_folder(self, files: Path) -> None:
        (files / "toll").mkdir()
        for number, text in enumerate(STREAM.splitlines(keepends=True)):
            (files / "toll" / f"{number}.tnt").write_text(text)
        assert run(stream="toll").stdout == run().stdout

    def test_a_replay_takes_its_time(self) -> None:
        began = time.monotonic()
        assert run(stream="replay+toll.tnt?speed=0.05").stdout == run().stdout
        assert time.monotonic() - began >= 0.3

    def test_arrival_time_stamps_elements_as_they_come(self, files: Path) -> None:
        (files / "q.rq").write_text(QUERY.replace("GROUP BY ?gate", "").replace("?gate (", "("))
        before = time.time_ns() // 1_000_000
        result = run("--time", "arrival", "--flush")
        times = [json.loads(answer)["time"] for answer in result.stdout.splitlines()]
        assert times
        assert all(before <= instant <= before + 60_000 for instant in times)

    def test_standard_input_is_read_once(self, files: Path) -> None:
        given = ["run", "-", *EMBEDDED, "--stream", "-"]
        result = CliRunner().invoke(commands, given, input=QUERY)
        assert result.exit_code == 2
        assert "which cannot be a stream as well" in result.stderr
        (files / "q.rq").write_text(QUERY.replace("WHERE", "FROM STREAM :other [RANGE 1ms STEP 1ms] WHERE"))
        result = run("--stream", ":other=-", stream=":toll=-")
        assert result.exit_code == 2
        assert "two streams are bound to standard input" in result.stderr

    def test_the_oracle_does_not_wait_for_a_replay(self) -> None:
        given = ["verify", "q.rq", *EMBEDDED, "--stream", "replay+toll.tnt?speed=0.0001"]
        result = CliRunner().invoke(commands, given)
        assert result.stdout == "duckdb and the oracle agree: 2 evaluations with solutions\n"

    def test_verify_reads_standard_input_once_for_both(self) -> None:
        result = CliRunner().invoke(commands, ["verify", "q.rq", *EMBEDDED, "--stream", "-"], input=STREAM)
        assert result.stdout == "duckdb and the oracle agree: 2 evaluations with solutions\n"


@pytest.mark.usefixtures("files")
class TestLive:
    def test_results_come_while_the_stream_goes_on_and_ctrl_c_ends_it(self) -> None:
        with started("--stream", "-", "--out", "-") as process:
            assert process.stdin is not None
            process.stdin.write(STREAM.encode())
            process.stdin.flush()
            assert json.loads(read_line(process.stdout))["time"] == 10
            assert json.loads(read_line(process.stdout))["time"] == 15
            process.send_signal(signal.SIGINT)
            out, error = process.communicate(timeout=30)
        assert (process.returncode, out, error.decode().strip()) == (130, b"", "penstock: error: interrupted")

    def test_ctrl_c_ends_a_long_statement(self, files: Path) -> None:
        pattern = " ".join(f"?g{number} :sees ?c{number} ." for number in range(6))
        (files / "q.rq").write_text(QUERY.replace("?gate (COUNT(?car) AS ?n)", "(COUNT(?c0) AS ?n)").replace(
            "{ ?gate :sees ?car } GROUP BY ?gate", f"{{ {pattern} FILTER (STR(?c0) < STR(?c5)) }}"
        ))  # fmt: skip
        (files / "toll.tnt").write_text("".join(line("g", f"c{n}", 1 + n // 100) for n in range(2000)))
        with started("--stream", "toll.tnt") as process:
            time.sleep(4)
            process.send_signal(signal.SIGINT)
            _, error = process.communicate(timeout=30)
        assert process.returncode == 130
        assert b"Traceback" not in error

    def test_a_reader_that_leaves_is_no_failure(self, files: Path) -> None:
        (files / "toll.tnt").write_text("".join(line("g", f"c{n}", n) for n in range(20_000)))
        with started("--stream", "toll.tnt") as process:
            assert process.stdout is not None
            read_line(process.stdout)
            process.stdout.close()
            process.stdout = None
            _, error = process.communicate(timeout=60)
        assert (process.returncode, error) == (0, b"")

    def test_an_idle_stream_does_not_hold_the_other_back(self, files: Path) -> None:
        (files / "q.rq").write_text(
            QUERY.replace("WHERE", "FROM STREAM :other [RANGE 10ms STEP 5ms] WHERE").replace("GROUP BY ?gate", "")
            .replace("?gate (", "(")
        )  # fmt: skip
        with started("--stream", ":toll=toll.tnt", "--stream", ":other=-", "--idle-timeout", "200ms") as process:
            assert json.loads(read_line(process.stdout))["time"] == 10


@pytest.mark.usefixtures("files")
class TestDeadLetters:
    def test_late_and_malformed_elements_with_the_reason(self, files: Path) -> None:
        (files / "toll.tnt").write_text(STREAM + line("g9", "c9", 2) + "no triple\n")
        result = run("--late", "late.jsonl")
        assert result.exit_code == 0
        letters = [json.loads(letter) for letter in (files / "late.jsonl").read_text().splitlines()]
        malformed, late = letters
        assert malformed["place"] == "toll.tnt:5"
        assert malformed["text"] == "no triple"
        assert "the line does not end with a full stop" in malformed["reason"]
        assert late["stream"] == "http://e/toll"
        assert late["time"] == 2
        assert late["triples"] == ["<http://e/g9> <http://e/sees> <http://e/c9> ."]
        assert late["reason"].startswith("it arrived too late")

    def test_they_are_told_at_the_end(self, files: Path) -> None:
        (files / "toll.tnt").write_text(STREAM + line("g9", "c9", 2) + "no triple\n" * 5)
        told = run().stderr
        assert told.count("skipped: ") == 3
        assert "2 more elements are skipped" in told
        assert "q.rq: warning: dropped 1 element that arrived too late; --lateness waits for late elements" in told

    def test_the_oracle_writes_the_same_letters(self, files: Path) -> None:
        (files / "toll.tnt").write_text(STREAM + line("g9", "c9", 2) + "no triple\n")
        run("--late", "one.jsonl")
        CliRunner().invoke(commands, ["oracle", "q.rq", "--stream", "toll.tnt", "--late", "other.jsonl"])
        assert (files / "one.jsonl").read_text() == (files / "other.jsonl").read_text()

    def test_standard_output_is_for_results(self) -> None:
        result = run("--late", "-")
        assert result.exit_code == 2
        assert "standard output carries results only" in result.stderr


@pytest.mark.skipif(os.name != "posix", reason="there are no pseudo-terminals")
@pytest.mark.usefixtures("files")
class TestTerminal:
    def test_tables_and_a_line_that_says_how_far_it_is(self) -> None:
        shown = on_a_terminal("--stream", "toll.tnt")
        assert "1 solution" in shown
        assert "gate" in shown
        assert "3 elements" in shown
        assert "2 evaluations" in shown

    def test_quiet(self) -> None:
        shown = on_a_terminal("--stream", "toll.tnt", "--quiet")
        assert "1 solution" in shown
        assert "3 elements" not in shown

    def test_progress_can_be_asked_for_anywhere(self) -> None:
        assert "3 elements" in run("--progress").stderr
        assert run().stderr == ""


def on_a_terminal(*arguments: str) -> str:
    import pty

    leader, follower = pty.openpty()
    command = [sys.executable, "-m", "penstock", "run", "q.rq", *EMBEDDED, *arguments]
    process = subprocess.Popen(
        command, stdin=follower, stdout=follower, stderr=follower, env={**os.environ, "TERM": "xterm"}
    )
    os.close(follower)
    shown = b""
    try:
        while piece := os.read(leader, 4096):
            shown += piece
    except OSError:  # the other end is closed
        pass
    assert process.wait(timeout=30) == 0
    os.close(leader)
    return shown.decode()


class TestSeveralQueries:
    """Those that read each other's streams, and what can be said of several at once."""

    CARS = "PREFIX : <http://e/> REGISTER STREAM cars AS CONSTRUCT { ?car :at ?gate } " + CONSTRUCT.split("}", 1)[1]
    SEEN = """PREFIX : <http://e/> REGISTER ISTREAM :seen AS CONSTRUCT { ?car :seen ?gate }
        FROM NAMED WINDOW :w ON <cars> [RANGE PT0.01S STEP PT0.005S] WHERE { WINDOW :w { ?car :at ?gate } }"""
    COUNT = """PREFIX : <http://e/> SELECT (COUNT(*) AS ?n) FROM STREAM :seen [RANGE 5ms STEP 5ms]
        WHERE { ?car :seen ?gate }"""
    FILES = ("count.rq", "cars.rq", "seen.rq")

    @pytest.fixture(autouse=True)
    def _queries(self, files: Path) -> None:
        for file, text in zip(self.FILES, (self.COUNT, self.CARS, self.SEEN), strict=True):
            (files / file).write_text(text)

    def ask(self, command: str, *arguments: str) -> Result:
        given = [command, *arguments]
        return CliRunner().invoke(commands, given, catch_exceptions=False, prog_name="penstock")

    def test_a_chain_is_the_oracle_applied_to_what_was_written(self, files: Path) -> None:
        """Query by query, through files; and all at once."""
        self.ask("oracle", "cars.rq", "--stream", "toll.tnt", "--format", "trig", "--out", "cars.trig")
        self.ask("oracle", "seen.rq", "--stream", "cars.trig", "--format", "trig", "--out", "seen.trig")
        expected = self.ask("oracle", "count.rq", "--stream", "seen.trig").stdout
        assert expected.count('"count"') == 1
        for command in (["oracle"], ["run", *EMBEDDED]):
            found = self.ask(*command, *self.FILES, "--stream", "toll.tnt").stdout
            assert "".join(line for line in found.splitlines(keepends=True) if '"count"' in line) == expected
            times = [json.loads(line)["time"] for line in found.splitlines()]
            assert times == sorted(times)

    def test_verify(self) -> None:
        found = self.ask("verify", *EMBEDDED, *self.FILES, "--stream", "toll.tnt")
        assert found.stdout == "duckdb and the oracle agree: 4 evaluations with solutions\n"

    def test_tables_say_whose_they_are(self) -> None:
        found = self.ask("run", *EMBEDDED, *self.FILES, "--stream", "toll.tnt", "--format", "table")
        assert "cars  10  2 triples" in found.stdout

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            (("q.rq", "count.rq", "--stream", "toll.tnt"), "the queries read <http://e/toll> and <http://e/seen>: say"),
            (("cars.rq", "cars.rq", "--stream", "toll.tnt"), "cars and cars-2 both produce the stream <cars>"),
            (("q.rq", "q.rq", "--stream", "toll.tnt", "--format", "csv"), "a single query, but there are 2: choose"),
            (("seen.rq", "q.rq", "--stream", "http://e/toll=toll.tnt"), "<cars>, which is not bound, and no query"),
            ((*FILES, "--stream", "http://e/seen=toll.tnt"), "is produced by http://e/seen, and cannot be toll.tnt"),
        ],
    )
    def test_what_does_not_fit_together(self, arguments: tuple[str, ...], message: str) -> None:
        found = self.ask("run", *EMBEDDED, *arguments)
        assert found.exit_code == 2
        assert message in found.stderr

    def test_equal_names_are_numbered(self) -> None:
        found = self.ask("run", *EMBEDDED, "q.rq", "q.rq", "--stream", "toll.tnt").stdout
        assert {json.loads(line)["query"] for line in found.splitlines()} == {"q", "q-2"}
