"""Kills a live run on Spark (SIGKILL) at random points, starts it again, and compares its output with the oracle's.

    python scripts/kill_live.py [--kills 20] [--seed 1] [--work FOLDER]

A folder grows while `penstock run --engine spark --stream 'FOLDER?follow' --checkpoint …` follows it. When the output
is complete, or stops growing, every evaluation must be there once, in time order, and no other.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path

from penstock.oracle.judging import first_difference
from penstock.rdf.results import from_json_line

FILES, LINES_PER_FILE, STEP = 60, 40, 100
NAMES = "http://ex.org/"
QUERY = """PREFIX : <http://ex.org/>
REGISTER QUERY tolls AS
SELECT ?gate (COUNT(?car) AS ?cars)
FROM STREAM :toll [RANGE 3s STEP 1s]
WHERE { ?gate :lets ?car . ?gate :in :centre }
GROUP BY ?gate
"""
GRAPH = "".join(f"<{NAMES}gate{n}> <{NAMES}in> <{NAMES}centre> .\n" for n in range(0, 7, 2))


def lines(number: int) -> str:
    """The lines of a file; some are out of order, and a few of them too late."""
    drawn = random.Random(number)
    times = [
        (number * LINES_PER_FILE + place) * STEP - drawn.choice((*[0] * 12, 300, 300, 300, 2500))
        for place in range(LINES_PER_FILE)
    ]
    gates = (f"<{NAMES}gate{drawn.randrange(7)}> <{NAMES}lets> <{NAMES}car{drawn.randrange(30)}>" for _ in times)
    return "".join(f'{triple} "{time}" .\n' for triple, time in zip(gates, times, strict=True))


def put(folder: Path, number: int) -> None:
    hidden = folder / f".{number:05}.tnt"
    hidden.write_text(lines(number))
    os.utime(hidden, (number + 1, number + 1))
    hidden.rename(folder / f"{number:05}.tnt")


def penstock(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "penstock", *arguments]


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--work", type=Path, default=None)
    given = parser.parse_args()
    work = given.work or Path(tempfile.mkdtemp(prefix="penstock-kill-"))
    folder, answer = work / "toll", work / "answer.jsonl"
    folder.mkdir(parents=True)
    (work / "query.rq").write_text(QUERY)
    (work / "graph.ttl").write_text(GRAPH)
    common = [str(work / "query.rq"), "--graph", str(work / "graph.ttl"), "--lateness", "500ms"]
    kept = ["--out", str(answer), "--checkpoint", str(work / "checkpoint")]
    settings = ["--conf", "spark.sql.shuffle.partitions=2", "--conf", "spark.sql.codegen.wholeStage=false"]
    live = penstock("run", *common, "--engine", "spark", *settings, "--stream", f"{folder}?follow", *kept)
    Feeding(folder, given.kills).start()
    survive(live, work, random.Random(given.seed), given.kills)
    expected = subprocess.run(penstock("oracle", *common, "--stream", str(folder)), stdout=subprocess.PIPE, check=True)
    return compare(expected.stdout.decode(), answer.read_text())


class Feeding(threading.Thread):
    """Puts a file into the folder from time to time, so that there is always something to come."""

    def __init__(self, folder: Path, kills: int) -> None:
        super().__init__(daemon=True)
        self.folder = folder
        self.pause = 25 * kills / FILES

    def run(self) -> None:
        for number in range(FILES):
            put(self.folder, number)
            time.sleep(self.pause)


def survive(command: list[str], work: Path, chance: random.Random, kills: int) -> None:
    for number in range(kills + 1):
        began = time.monotonic()
        known = states(work)
        process = subprocess.Popen(command, start_new_session=True)
        if number < kills:
            if chance.random() < 0.9:  # once a batch is done; the others in the middle of the start
                wait_for(process, lambda known=known: states(work) != known)
            time.sleep(chance.uniform(0, 6))
        else:
            wait_for(process, lambda: len(list((work / "toll").glob("*.tnt"))) == FILES and is_read(work))
        code = process.poll()
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        assert code is None, f"the run ended by itself, with status {code}"
        print(f"{number}: killed after {time.monotonic() - began:.1f} s, states {states(work)}", flush=True)


def wait_for(process: subprocess.Popen[bytes], is_there: Callable[[], bool]) -> None:
    until = time.monotonic() + 600
    while not is_there() and process.poll() is None and time.monotonic() < until:
        time.sleep(0.05)


def states(work: Path) -> list[int]:
    """The batches whose states are there."""
    return sorted(int(path.stem) for path in (work / "checkpoint" / "state").glob("*.json"))


def is_read(work: Path) -> bool:
    """Whether the last batch has read the last file: its state knows the last timestamp."""
    last = states(work)[-1]
    state = json.loads((work / "checkpoint" / "state" / f"{last}.json").read_text())
    (clock,) = state["run"]["queries"]["query"]["clock"].values()
    return bool(clock[0] >= (FILES * LINES_PER_FILE - 5) * STEP)


def compare(expected: str, found: str) -> int:
    """The live run does not know that the stream has ended: its last instants are still to come."""
    answers = [from_json_line(line) for line in found.splitlines()]
    all_there = [from_json_line(line) for line in expected.splitlines()]
    until = max((answer.time for answer in answers), default=0)
    reached = (FILES * LINES_PER_FILE - 5) * STEP - 500
    difference = first_difference(answers, [answer for answer in all_there if answer.time <= until], False)
    print(f"{len(answers)} evaluations up to {until} ms; the oracle has {len(all_there)}")
    if difference is not None:
        print(difference.text)
        return 3
    return 0 if until >= reached - 1000 else 4


if __name__ == "__main__":
    sys.exit(main())
