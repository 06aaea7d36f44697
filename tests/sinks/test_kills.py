"""Runs that are killed (SIGKILL): Kafka contains each answer of the oracle once. scripts/kill_kafka.py kills more."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

from click.testing import CliRunner
from tests.sinks.brokers import consumed, new_topic
from tests.sinks.test_receivers import evaluated

from penstock.cli import commands
from penstock.oracle.judging import first_difference
from penstock.rdf.results import from_json_line

QUERY = """PREFIX : <http://e/>
SELECT ?gate (COUNT(?car) AS ?cars) FROM STREAM :toll [RANGE 100ms STEP 20ms] WHERE { ?gate :sees ?car } GROUP BY ?gate
"""
KILLS = 3


def test_kafka_has_each_answer_once(kafka: dict[str, str], tmp_path: Path) -> None:
    topic = new_topic(kafka["address"])
    (tmp_path / "query.rq").write_text(QUERY)
    stream = tmp_path / "toll.tnt"
    lines = (f'<http://e/g{n % 7}> <http://e/sees> <http://e/c{n}> "{3 * n}" .\n' for n in range(2000))
    stream.write_text("".join(lines))
    run = [sys.executable, "-m", "penstock", "run", str(tmp_path / "query.rq"), "--engine", "duckdb", "--quiet"]
    run += ["--stream", f"replay+{stream}", "--checkpoint", str(tmp_path / "state")]
    run += ["--out", f"kafka://{kafka['address']}/{topic}"]
    codes = []
    for _ in range(KILLS):
        before = len(consumed(kafka["address"], topic))
        process = subprocess.Popen(run)
        while len(consumed(kafka["address"], topic)) == before and process.poll() is None:
            time.sleep(0.1)
        process.kill()
        codes.append(process.wait())
    assert codes[0] == -signal.SIGKILL
    assert set(codes) <= {-signal.SIGKILL, 0}, "on a slow machine the stream may end before the last kill"
    subprocess.run(run, check=True, timeout=120)
    found = evaluated(consumed(kafka["address"], topic))
    asked = CliRunner().invoke(commands, ["oracle", str(tmp_path / "query.rq"), "--stream", str(stream)])
    expected = [from_json_line(line) for line in asked.stdout.splitlines()]
    difference = first_difference(found, expected, False)
    assert difference is None, difference.text
    assert len(found) > 250
