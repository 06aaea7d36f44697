"""Two versions of Penstock on the same commands: their time and memory, side by side, and whether they answer the same.

    git worktree add ../before 976e91b
    python benchmarks/versions.py ../before .                   # the embedded engine
    python benchmarks/versions.py ../before . --engine spark

Each argument is a checkout; its `src` is put on the path of Python, so that both versions run with the installed
dependencies. The commands are `penstock run` over files: tollgates (penstock/bench/tollgates), with RSP-QL. The
versions take turns for `--rounds` rounds, and the best round of each counts. Times are those of the whole process,
start included: `cpu` is its processor time with that of its children, `wall` the elapsed time. `same` compares the
lines of the answers, sorted. The exit status is 1 if answers differ.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from penstock.bench.tollgates.data import STREAM, write_districts, write_stream
from penstock.bench.tollgates.queries import PAIRS, PASSAGES, SPEEDS, TOLLS, UNPAID

WORKLOADS = {
    "grouped COUNT, tumbling 10 s": PASSAGES,
    "grouped COUNT, RANGE 10s STEP 1s": PASSAGES.over(10, 1),
    "grouped COUNT, RANGE 300s STEP 1s": PASSAGES.over(300, 1),
    "grouped AVG, RANGE 300s STEP 1s": SPEEDS.over(300, 1),
    "pairs, RANGE 10s STEP 5s": PAIRS.over(10, 5),
    "OPTIONAL, ISTREAM, RANGE 60s STEP 1s": TOLLS.over(60, 1),
    "NOT EXISTS, ISTREAM, RANGE 60s STEP 1s": UNPAID.over(60, 1),
    "SELECT of all rows, tumbling 10 s": replace(PASSAGES, select="?gate ?car", known="", ending=""),
}


class Measured(NamedTuple):
    wall: float
    cpu: float
    megabytes: float


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("versions", nargs=2, type=Path, metavar="CHECKOUT")
    parser.add_argument("--engine", choices=("duckdb", "spark"), default="duckdb")
    parser.add_argument("--triples", type=int, default=200_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", default="", help="workloads whose name contains this")
    given = parser.parse_args()
    print(f"{'':40} {'before':>22} {'now':>22}   now ÷ before")
    print(f"{'':40} {'wall    cpu     MB':>22} {'wall    cpu     MB':>22}   wall   cpu   MB   same")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        agree = [_compared(given, folder, workload) for workload in WORKLOADS if given.only in workload]
    return 0 if all(agree) else 1


def _compared(given: argparse.Namespace, folder: Path, workload: str) -> bool:
    query = WORKLOADS[workload]
    (folder / "query.rq").write_text(query.rspql)
    stream, graph = write_stream(folder, query.kind, given.triples), write_districts(folder)
    found: list[list[Measured]] = [[], []]
    answers: list[list[str]] = [[], []]
    for _ in range(given.rounds):
        for place, version in enumerate(given.versions):
            found[place].append(_measured(version, given.engine, folder, stream, graph))
            answers[place] = sorted((folder / "answers.jsonl").read_text().splitlines())
    before, now = (Measured(*map(min, zip(*rounds, strict=True))) for rounds in found)
    ratios = "  ".join(f"{later / earlier:4.2f}" for earlier, later in zip(before, now, strict=True))
    figures = " ".join(f"{f'{one.wall:.2f}  {one.cpu:5.2f}  {one.megabytes:5.0f}':>22}" for one in (before, now))
    same = answers[0] == answers[1]
    print(f"{workload:40} {figures}   {ratios}   {'yes' if same else 'NO'}", flush=True)
    return same


def _measured(version: Path, engine: str, folder: Path, stream: Path, graph: Path) -> Measured:
    command = [
        sys.executable, "-m", "penstock", "run", "--engine", engine, str(folder / "query.rq"), "--quiet",
        "--stream", f"{STREAM}={stream}", "--graph", str(graph), "--out", str(folder / "answers.jsonl"),
    ]  # fmt: skip
    environment = {**os.environ, "PYTHONPATH": str((version / "src").resolve())}
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    process = subprocess.Popen(command, env=environment)
    _, status, used = os.wait4(process.pid, 0)
    wall, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    if status:
        raise SystemExit(f"{version}: {' '.join(command)} failed")
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Measured(wall, cpu, used.ru_maxrss / 1024)


if __name__ == "__main__":
    sys.exit(main())
