"""Bad input from end to end: a clear message or a dead letter, never a traceback, never a wrong answer."""

from __future__ import annotations

import gzip
import json
import os
import random
import re
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from penstock.cli import commands

QUERY = """
PREFIX : <http://e/>
SELECT ?gate ?car FROM STREAM :toll [RANGE 10ms STEP 5ms] WHERE { ?gate :sees ?car FILTER (?car > 0) }
"""
EMBEDDED = ("--engine", "duckdb")
FULL = Path("/dev/full")
needs_full = pytest.mark.skipif(not FULL.exists(), reason="there is no /dev/full")


def line(car: object, time: object) -> bytes:
    return f'<http://e/g> <http://e/sees> "{car}"^^<http://www.w3.org/2001/XMLSchema#integer> "{time}" .\n'.encode()


GOOD = line(1, 1) + line(2, 7) + line(3, 22)
ANSWER = {10: ["1", "2"], 15: ["2"]}

BAD_LINES = {
    "a line that is cut off": (b'<http://e/g> <http://e/sees> "7"^^<http://www.w3.org/2001/X', "is it cut off?"),
    "bytes that are not UTF-8": (line("caf", 8).replace(b"caf", b"caf\xe9"), "UTF-8"),
    "a timestamp that is no number": (line(7, "soon"), '"soon" is not a timestamp'),
    "a timestamp without quotes": (b'<http://e/g> <http://e/sees> "7" 8 .\n', 'write "8"'),
    "no timestamp at all": (b'<http://e/g> <http://e/sees> "7" .\n', "the timestamp is missing"),
    "a timestamp beyond all times": (line(7, 10**18), "too far from 1970"),
    "no triple": (b"hello\n", "a full stop"),
    "a literal as a subject": (b'"g" <http://e/sees> "7" "8" .\n', ""),
}


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "q.rq").write_text(QUERY)
    (tmp_path / "toll.tnt").write_bytes(GOOD)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*arguments: str, stream: str = "toll.tnt", command: str = "run") -> Result:
    engine = () if command == "oracle" else EMBEDDED
    given = [command, "q.rq", *engine, "--stream", stream, *arguments]
    return CliRunner().invoke(commands, given, catch_exceptions=False, prog_name="penstock")


def answer(text: str) -> dict[int, list[str]]:
    lines = [json.loads(result) for result in text.splitlines()]
    return {line["time"]: sorted(binding["car"]["value"] for binding in line["results"]["bindings"]) for line in lines}


def test_good_input_has_its_answer(files: Path) -> None:
    assert answer(run().stdout) == ANSWER


@pytest.mark.parametrize("bad", BAD_LINES)
def test_a_bad_line_is_a_dead_letter(files: Path, bad: str) -> None:
    text, reason = BAD_LINES[bad]
    (files / "toll.tnt").write_bytes(line(1, 1) + text.removesuffix(b"\n") + b"\n" + line(2, 7) + line(3, 22))
    result = run("--late", "late.jsonl")
    assert (result.exit_code, answer(result.stdout)) == (0, ANSWER)
    (letter,) = [json.loads(letter) for letter in (files / "late.jsonl").read_text().splitlines()]
    assert letter["place"] == "toll.tnt:2"
    assert reason in letter["reason"]
    assert "toll.tnt:2: warning: skipped" in result.stderr
    strict = run("--strict")
    assert (strict.exit_code, strict.stdout) == (2, "")
    assert "--strict stops there" in strict.stderr


def test_a_stream_that_ends_within_a_line(files: Path) -> None:
    (files / "toll.tnt").write_bytes(GOOD + line(4, 23)[:30])
    result = run()
    assert answer(result.stdout) == ANSWER
    assert "toll.tnt:4: warning: skipped: the line does not end with a full stop: is it cut off?" in result.stderr


def test_a_damaged_archive(files: Path) -> None:
    random.seed(1)
    packed = gzip.compress(GOOD + b"".join(line(random.random(), 23) for _ in range(5000)))
    (files / "toll.tnt.gz").write_bytes(packed[: len(packed) - 20])
    result = run("--strict", stream="toll.tnt.gz")
    assert result.exit_code == 2
    assert "toll.tnt.gz" in result.stderr


def test_ill_formed_literals_are_terms_but_no_numbers(files: Path) -> None:
    """`"x"^^xsd:integer` is RDF: it can be matched, and to compare it is an error, which a filter takes for no."""
    (files / "toll.tnt").write_bytes(line(1, 1) + line("x", 2) + line("1.5", 3) + line(2, 7) + line(3, 22))
    assert answer(run().stdout) == ANSWER
    assert "agree" in run(command="verify").stdout


@pytest.mark.parametrize("command", ["run", "oracle", "verify"])
class TestSources:
    def test_a_missing_file(self, files: Path, command: str) -> None:
        result = run(stream="tol.tnt", command=command)
        assert (result.exit_code, result.stdout) == (2, "")
        assert "tol.tnt: there is no such file or folder: did you mean toll.tnt?" in result.stderr

    def test_an_empty_folder(self, files: Path, command: str) -> None:
        (files / "folder").mkdir()
        result = run(stream="folder", command=command)
        assert result.exit_code == 2
        assert "there is no stream in this folder" in result.stderr

    def test_no_permission(self, files: Path, command: str, monkeypatch: pytest.MonkeyPatch) -> None:
        """The superuser may read everything, so that the system's word is taken for it."""
        (files / "folder").mkdir()
        monkeypatch.setattr("os.access", lambda path, mode: False)
        for name, kind in (("toll.tnt", "file"), ("folder", "folder")):
            result = run(stream=name, command=command)
            assert result.exit_code == 2
            assert f"{name}: this {kind} cannot be read (permission denied)" in result.stderr


@pytest.mark.parametrize(
    ("stream", "others", "sentence"),
    [
        ("nowhere?follow", (), "nowhere: there is no such folder to follow"),
        ("folder?follow&colour=red", (), "there is no option colour"),
        ("-", ("--checkpoint", "state"), "<stdin> cannot be read again after a restart"),
        ("tcp://localhost", (), "tcp://HOST:PORT"),
        ("tcp://localhost:7700", ("--checkpoint", "state"), "cannot be read again after a restart"),
    ],
)
def test_a_stream_that_spark_cannot_follow(files: Path, stream: str, others: tuple[str, ...], sentence: str) -> None:
    """It is said before Spark is started."""
    (files / "folder").mkdir()
    result = run("--engine", "spark", *others, stream=stream)
    assert (result.exit_code, result.stdout) == (2, "")
    assert sentence in result.stderr


class TestOutput:
    @needs_full
    @pytest.mark.parametrize("command", ["run", "oracle"])
    def test_a_full_disk(self, files: Path, command: str) -> None:
        for option in ("--out", "--late"):
            (files / "toll.tnt").write_bytes(GOOD + b"no triple\n")
            result = run(option, str(FULL), command=command)
            assert result.exit_code == 1
            assert "/dev/full: the disk is full" in result.stderr

    @needs_full
    def test_a_full_disk_behind_standard_output(self, files: Path) -> None:
        with FULL.open("wb") as full:
            command = [sys.executable, "-m", "penstock", "run", "q.rq", *EMBEDDED, "--stream", "toll.tnt"]
            process = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, timeout=60)
        assert process.returncode == 1
        assert process.stderr.decode().startswith("q.rq: error: <stdout>: the disk is full")
        assert len(process.stderr.splitlines()) == 1

    @pytest.mark.parametrize("command", ["run", "oracle"])
    @pytest.mark.parametrize("option", ["--out", "--late"])
    def test_a_folder_that_is_not_there(self, files: Path, command: str, option: str) -> None:
        result = run(option, "nowhere/answer", command=command)
        assert result.exit_code == 2
        assert f"'{option}': nowhere/answer: the folder of this file does not exist" in result.stderr


class TestCheckpoints:
    def test_a_run_goes_on_after_it_was_killed(self, files: Path) -> None:
        """Killed at any point, and started again until it is done, it has written what an undisturbed run writes."""
        random.seed(2)
        text = b"".join(line(n, n // 3 - random.randrange(4)) for n in range(30, 6_000)) + b"no triple\n"
        (files / "toll.tnt").write_bytes(text)
        undisturbed = run("--lateness", "1ms", "--out", "whole.jsonl", "--late", "whole.late")
        assert undisturbed.exit_code == 0
        options = ("--lateness", "1ms", "--stream", "replay+toll.tnt?speed=1", "--checkpoint", "state")
        outputs = ("--out", "answer.jsonl", "--late", "late.jsonl")
        command = [sys.executable, "-m", "penstock", "run", "q.rq", *EMBEDDED, *options, *outputs]
        for _ in range(2):
            process = subprocess.Popen(command, stderr=subprocess.PIPE)
            wait_until_it_grows(files / "answer.jsonl", process)
            time.sleep(0.3 * random.random())
            process.send_signal(signal.SIGKILL)
            process.communicate()
            assert process.returncode == -signal.SIGKILL, "it has ended before it was killed"
        last = subprocess.run(command, stderr=subprocess.PIPE, timeout=60)
        assert last.returncode == 0, last.stderr
        written, expected = ((files / name).read_text() for name in ("answer.jsonl", "whole.jsonl"))
        assert answer(written) == answer(expected)
        assert len(written.splitlines()) == len(expected.splitlines())
        assert letters(files / "late.jsonl") == letters(files / "whole.late")

    def test_a_finished_run_is_not_run_again(self, files: Path) -> None:
        options = ("--out", "answer.jsonl", "--checkpoint", "state")
        run(*options)
        before = (files / "answer.jsonl").read_bytes()
        again = run(*options)
        assert again.exit_code == 0
        assert "this run is already finished" in again.stderr
        assert (files / "answer.jsonl").read_bytes() == before

    def test_a_checkpoint_is_of_one_run(self, files: Path) -> None:
        run("--out", "answer.jsonl", "--checkpoint", "state")
        other = run("--out", "answer.jsonl", "--checkpoint", "state", "--t0", "1")
        assert other.exit_code == 1
        assert "this checkpoint belongs to another run" in other.stderr

    def test_what_cannot_be_read_again_has_no_checkpoint(self, files: Path) -> None:
        result = run("--checkpoint", "state", stream="-")
        assert result.exit_code == 2
        assert "cannot be read again after a restart" in result.stderr
        assert not (files / "state").exists()

    @pytest.mark.skipif(os.name != "posix", reason="there are no limits to set")
    def test_a_disk_that_is_full(self, files: Path) -> None:
        """Files may not grow beyond some size, which is nearly the same; and then they may, and the run goes on."""
        (files / "toll.tnt").write_bytes(b"".join(line(n, n // 10) for n in range(50_000)))
        options = ["--stream", "toll.tnt", "--checkpoint", "state", "--out", "answer.jsonl"]
        command = [sys.executable, "-m", "penstock", "run", "q.rq", *EMBEDDED, *options]
        limited = f"ulimit -f 300; exec {shlex.join(command)}"
        failed = subprocess.run(["sh", "-c", limited], capture_output=True, timeout=60)
        assert failed.returncode == 1
        assert re.fullmatch(
            "q.rq: error: state: .*(cannot be written|cannot hold a checkpoint).*\n", failed.stderr.decode()
        )
        assert subprocess.run(command, timeout=60).returncode == 0
        run("--out", "whole.jsonl")
        assert answer((files / "answer.jsonl").read_text()) == answer((files / "whole.jsonl").read_text())

    def test_a_folder_that_cannot_be_one(self, files: Path) -> None:
        result = run("--checkpoint", "toll.tnt/state")
        assert result.exit_code == 1
        assert "this folder cannot hold a checkpoint" in result.stderr


def wait_until_it_grows(path: Path, process: subprocess.Popen[bytes]) -> None:
    """Beyond what a run that goes on has cut it to."""
    least = size = path.stat().st_size if path.exists() else 0
    until = time.monotonic() + 30
    while size <= least and process.poll() is None and time.monotonic() < until:
        time.sleep(0.01)
        size = path.stat().st_size if path.exists() else 0
        least = min(least, size)


def letters(path: Path) -> list[str]:
    return sorted(path.read_text().replace("replay+", "").splitlines())


RELATIVE = """
PREFIX : <http://e/>
SELECT ?gate FROM <city> FROM STREAM <toll> [RANGE 10ms STEP 5ms] WHERE { ?gate :sees ?car . ?gate :in :rome }
"""


@pytest.mark.parametrize("base", ["", "BASE <http://b/>"])
@pytest.mark.parametrize("command", ["run", "oracle", "verify"])
def test_relative_names_are_bound_as_the_query_says_them(files: Path, command: str, base: str) -> None:
    (files / "q.rq").write_text(base + RELATIVE)
    (files / "city.ttl").write_text("<http://e/g> <http://e/in> <http://e/rome> .")
    result = run("--graph", "city=city.ttl", stream="toll=toll.tnt", command=command)
    assert result.exit_code == 0, result.stderr
    assert "http://e/g" in result.stdout or "agree: 2" in result.stdout


def test_the_binding_that_a_message_proposes_works(files: Path) -> None:
    (files / "q.rq").write_text(RELATIVE.replace("FROM <city>", ""))
    refused = CliRunner().invoke(commands, ["run", "q.rq", *EMBEDDED])
    assert "bind it with --stream toll=FILE" in refused.stderr
    assert run(stream="toll=toll.tnt").exit_code == 0


@pytest.mark.parametrize("command", ["check", "run", "oracle"])
def test_a_function_that_is_not_there_is_an_error_of_the_query(files: Path, command: str) -> None:
    (files / "q.rq").write_text(QUERY.replace("?car > 0", "<http://e/near>(?car)"))
    result = CliRunner().invoke(commands, ["check", "q.rq"]) if command == "check" else run(command=command)
    assert result.exit_code == 2
    assert "q.rq:3:92: error: there is no function <http://e/near>" in result.stderr
