"""`penstock run` on Spark over folders that grow, and with checkpoints."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from click.testing import CliRunner

from penstock.cli import commands

QUERY = """
PREFIX : <http://e/>
SELECT ?gate (COUNT(?car) AS ?n) FROM STREAM :toll [RANGE 10ms STEP 5ms] WHERE { ?gate :sees ?car } GROUP BY ?gate
"""
ANSWER = "time,gate,n\n10,http://e/g1,2\n15,http://e/g1,1\n"
SHORT_LIFE = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"


def line(gate: str, car: str, time: int) -> str:
    return f'<http://e/{gate}> <http://e/sees> <http://e/{car}> "{time}" .\n'


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "q.rq").write_text(QUERY)
    (tmp_path / "toll").mkdir()
    (tmp_path / "toll" / "1.tnt").write_text(line("g1", "c1", 1) + line("g1", "c2", 6) + line("g2", "c1", 12))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_run_with_a_checkpoint_is_run_once(files: Path, spark: object) -> None:
    (files / "toll" / "2.tnt").write_text("no triple\n" + line("g1", "c2", 2) + line("g2", "c3", 16))
    command = ["run", "q.rq", "--stream", "toll", "--out", "answer.csv", "--format", "csv", "--checkpoint", "state"]
    first = CliRunner().invoke(commands, command)
    assert first.exit_code == 0
    assert (files / "answer.csv").read_text() == ANSWER.replace("g1,1\n", "g1,1\n15,http://e/g2,1\n")
    assert "2.tnt:1: warning: skipped" in first.stderr
    assert "dropped 1 element that arrived too late" in first.stderr
    again = CliRunner().invoke(commands, command)
    assert again.exit_code == 0
    assert "this run is already finished" in again.stderr


def test_a_folder_is_followed_until_ctrl_c(files: Path) -> None:
    options = ["--stream", "toll?follow", "--out", "answer.csv", "--format", "csv", "--master", "local[2]"]
    process = subprocess.Popen(
        [sys.executable, "-m", "penstock", "run", "q.rq", *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "JAVA_TOOL_OPTIONS": SHORT_LIFE},
    )
    try:
        wait_for(files / "answer.csv", "10,http://e/g1,2\n")
        (files / "2.tnt").write_text(line("g1", "c3", 36))
        (files / "2.tnt").rename(files / "toll" / "2.tnt")
        wait_for(files / "answer.csv", "20,http://e/g2,1\n")
        process.send_signal(signal.SIGINT)
        out, error = process.communicate(timeout=60)
    finally:
        process.kill()
        process.wait()
    assert (process.returncode, out, error.decode().strip()) == (130, b"", "penstock: error: interrupted")
    assert (files / "answer.csv").read_text().startswith("time,gate,n\n10,http://e/g1,2\n15,http://e/g1,1\n")


def wait_for(path: Path, text: str, seconds: float = 200) -> None:
    until = time.monotonic() + seconds
    while not path.exists() or text not in path.read_text():
        assert time.monotonic() < until, "nothing came"
        time.sleep(0.1)
