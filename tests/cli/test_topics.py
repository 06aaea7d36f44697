"""`penstock run` and `verify` over Kafka topics, on the embedded engine."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner
from tests.brokers import Message, new_topic
from tests.cli.test_following import ANSWER, QUERY, line, wait_for

from penstock.cli import commands


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "q.rq").write_text(QUERY)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_topic_until_now(kafka: dict[str, str], folder: Path) -> None:
    topic = new_topic(kafka["address"], 2)
    lines = [line("g1", "c1", 1), line("g1", "c2", 6), line("g2", "c1", 12), line("g1", "c2", 2), line("g2", "c3", 16)]
    topic.write([*(Message(text, number % 2) for number, text in enumerate(lines)), Message("oops", 1)])
    stream = ["--stream", f"{topic.address}?until=now", "--late", "late.jsonl"]
    command = ["run", "q.rq", "--engine", "duckdb", *stream]
    done = CliRunner().invoke(commands, [*command, "--format", "csv"])
    assert (done.exit_code, done.stdout) == (0, ANSWER.replace("g1,1\n", "g1,1\n15,http://e/g2,1\n"))
    assert f"{topic.address}, partition 1, offset 2: warning: skipped: the line" in done.stderr
    assert f"{topic.address}, partition 1, offset 2" in Path("late.jsonl").read_text()
    verified = CliRunner().invoke(commands, ["verify", "q.rq", "--engine", "duckdb", *stream[:2]])
    assert "duckdb and the oracle agree" in verified.stdout


def test_a_run_over_a_topic_continues_after_a_kill(kafka: dict[str, str], folder: Path) -> None:
    topic = new_topic(kafka["address"], 3)
    topic.write([Message(line("g1", "c1", 1)), Message(line("g1", "c2", 6), 1), Message(line("g2", "c1", 12), 2)])
    command = [sys.executable, "-m", "penstock", "run", "q.rq", "--engine", "duckdb", "--stream", topic.address]
    command += ["--out", "answer.csv", "--format", "csv", "--checkpoint", "state"]

    def run(until: str, end: signal.Signals) -> int:
        process = subprocess.Popen(command, stderr=subprocess.PIPE, env={**os.environ})
        try:
            wait_for(folder / "answer.csv", until)
            process.send_signal(end)
            process.communicate(timeout=30)
        finally:
            process.kill()
            process.wait()
        return process.returncode

    assert run("10,http://e/g1,2\n", signal.SIGKILL) == -signal.SIGKILL
    topic.write([Message(line("g1", "c3", 36), 1)])
    assert run("20,http://e/g2,1\n", signal.SIGINT) == 130
    answer = (folder / "answer.csv").read_text()
    assert answer == "time,gate,n\n10,http://e/g1,2\n15,http://e/g1,1\n15,http://e/g2,1\n20,http://e/g2,1\n"


@pytest.mark.parametrize("command", ["run", "verify", "oracle"])
def test_a_topic_that_does_not_exist(kafka: dict[str, str], folder: Path, command: str) -> None:
    engine = [] if command == "oracle" else ["--engine", "duckdb"]
    stream = ["--stream", f"kafka://{kafka['address']}/nowhere?until=now"]
    done = CliRunner().invoke(commands, [command, "q.rq", *engine, *stream])
    assert (done.exit_code, done.stdout) == (2, "")
    assert "/nowhere: there is no such topic: create it, or check its name" in done.stderr


@pytest.mark.parametrize("command", ["verify", "oracle"])
@pytest.mark.parametrize("stream", [".?follow", "tcp://localhost:7700", "kafka://localhost/toll", "ws://localhost/"])
def test_a_stream_without_end(folder: Path, command: str, stream: str) -> None:
    done = CliRunner().invoke(commands, [command, "q.rq", "--stream", stream])
    assert (done.exit_code, done.stdout) == (2, "")
    assert "has no end, and this command needs the whole stream: name a file or folder" in done.stderr
