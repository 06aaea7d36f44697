"""Kills a live run on Spark (SIGKILL) at random points, starts it again, and compares its output with the oracle's.

    python scripts/kill_live.py [--kills 20] [--seed 1] [--windows driver|cluster|auto] [--work FOLDER]

With `--windows auto`, windows move from the driver to the cluster and back while the run is killed: every other file
has four times as many lines, and its windows are too large for the driver. It fails if windows did not move both ways.

A folder grows while `penstock run --engine spark --stream 'FOLDER?follow' --checkpoint …` follows it. When the output
is complete, or stops growing, it must contain every evaluation exactly once, in time order, and nothing else.
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
import time
from collections.abc import Callable
from itertools import count
from pathlib import Path

from penstock.oracle.judging import first_difference
from penstock.rdf.results import Evaluation, from_json_line

MILLISECONDS_PER_FILE, LATENESS = 4000, 500
FEW, MANY, MOST_ON_DRIVER = 40, 160, 170
QUICK = (
    "spark.sql.shuffle.partitions=2",
    "spark.sql.codegen.wholeStage=false",
    "spark.driver.extraJavaOptions=-XX:TieredStopAtLevel=1",
)
"""Spark compiles little: the processes do not live long enough to benefit from it."""
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
    """The lines of a file; some are out of order, and a few of those are late."""
    drawn = random.Random(number)
    count = MANY if number % 2 else FEW
    times = [
        number * MILLISECONDS_PER_FILE
        + place * MILLISECONDS_PER_FILE // count
        - drawn.choice((*[0] * 12, 300, 300, 300, 2500))
        for place in range(count)
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


LOGGED = """
import logging, sys
logging.basicConfig(filename=sys.argv.pop(1))
logging.getLogger("penstock").setLevel(logging.INFO)
from penstock.__main__ import main
main()
"""


def logged(log: Path, *arguments: str) -> list[str]:
    """The same command, which writes to a log who evaluates windows."""
    return [sys.executable, "-c", LOGGED, str(log), *arguments]


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--windows", choices=("driver", "cluster", "auto"), default="driver")
    parser.add_argument("--work", type=Path, default=None)
    given = parser.parse_args()
    work = given.work or Path(tempfile.mkdtemp(prefix="penstock-kill-"))
    folder, answer = work / "toll", work / "answer.jsonl"
    folder.mkdir(parents=True)
    (work / "query.rq").write_text(QUERY)
    (work / "graph.ttl").write_text(GRAPH)
    common = options(work)
    kept = ["--out", str(answer), "--checkpoint", str(work / "checkpoint")]
    moving = (f"spark.penstock.windows.maxRows={MOST_ON_DRIVER}",)
    settings = [part for setting in (*QUICK, *moving) for part in ("--conf", setting)]
    spark = ["--engine", "spark", "--windows", given.windows, *settings]
    live = logged(work / "log", "run", *common, *spark, "--stream", f"{folder}?follow", *kept)
    survive(live, work, random.Random(given.seed), given.kills)
    if given.windows == "auto":
        check_moves((work / "log").read_text())
    found = [from_json_line(line) for line in answer.read_text().splitlines()]
    # The live run does not know that the stream has ended: its last instants are still to come.
    return compare_with_oracle(work, found, until=found[-1].time)


def check_moves(log: str) -> None:
    moves = [log.count(f"evaluated by {place}") for place in ("Spark SQL", "DuckDB")]
    print("windows moved to the cluster {} times, and back {} times".format(*moves))
    assert all(moves), "windows did not move both ways"


def options(work: Path) -> list[str]:
    return [str(work / "query.rq"), "--graph", str(work / "graph.ttl"), "--lateness", f"{LATENESS}ms"]


def survive(command: list[str], work: Path, chance: random.Random, kills: int) -> None:
    """Each process gets two files: one before it starts, and one after its first batch."""
    files = count()
    for number in range(kills + 1):
        began, known = time.monotonic(), states(work)
        put(work / "toll", next(files))
        process = subprocess.Popen(command, start_new_session=True)
        if number == kills:
            wait_for(process, lambda known=known: states(work) != known and is_read(work))
        else:
            if chance.random() < 0.9:  # the others in the middle of the start
                wait_for(process, lambda known=known: states(work) != known)
                put(work / "toll", next(files))
            time.sleep(chance.uniform(0, 5))
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
    """The batches whose states are stored."""
    return sorted(int(path.stem) for path in (work / "checkpoint" / "state").glob("*.json"))


def is_read(work: Path) -> bool:
    """Whether the last file has been read: the state contains its last timestamps."""
    state = json.loads((work / "checkpoint" / "state" / f"{states(work)[-1]}.json").read_text())
    (query,) = state["run"]["queries"].values()
    (clock,) = query["clock"].values()
    files = len(list((work / "toll").glob("*.tnt")))
    return bool(clock[0] >= files * MILLISECONDS_PER_FILE - LATENESS)


def compare_with_oracle(work: Path, found: list[Evaluation], until: int | None = None) -> int:
    """The exit status: 0 if the answers equal those of the oracle, up to some instant."""
    command = penstock("oracle", *options(work), "--stream", str(work / "toll"))
    lines = subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout.decode().splitlines()
    expected = [evaluation for evaluation in map(from_json_line, lines) if until is None or evaluation.time <= until]
    difference = first_difference(found, expected, False)
    print(f"{len(found)} evaluations up to {found[-1].time} ms, and {len(lines)} of the oracle in all")
    print("they are the same" if difference is None else difference.text)
    return 0 if difference is None else 3


if __name__ == "__main__":
    sys.exit(main())
