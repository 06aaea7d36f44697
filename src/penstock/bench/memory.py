"""Tollgates: memory over time.

A separate process runs a query on the embedded engine over a stream, evaluation by evaluation, and over a stream that
is ten times as long. After each evaluation it records the number of triples read and its memory; the operating system
reports the peak at the end. The figure shows the longer streams. If the growth is about 1, memory depends on the
windows and not on the length of the stream.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
from pathlib import Path

from penstock.bench.context import ExperimentContext
from penstock.bench.results import Axis, Cell, Figure, Panel, Result, Series, Table
from penstock.bench.systems import DataFiles, Penstock
from penstock.bench.tollgates.data import FIRST, STREAM, write_districts, write_stream
from penstock.bench.tollgates.queries import PAIRS, PASSAGES, Query

WORKLOADS: dict[str, Query] = {
    "COUNT, tumbling 10s": PASSAGES,
    "COUNT, RANGE 10s STEP 1s": PASSAGES.over(10, 1),
    "pairs, RANGE 10s STEP 5s": PAIRS.over(10, 5),
}
MOST_POINTS = 200
_MEGABYTE = 1 << 20


def run(context: ExperimentContext) -> Result:
    triples, rounds = context.size(500_000, 250_000), context.repeats(2, 1)
    graph = write_districts(context.folder)
    rows: list[tuple[Cell, ...]] = []
    lines: list[Series] = []
    for name, query in WORKLOADS.items():
        peaks = []
        for length in (triples, 10 * triples):
            stream = write_stream(context.folder, "passages", length)
            context.say(f"{name}, {length:,} triples")
            seen = min((_watched(query, stream, graph) for _ in range(rounds)), key=lambda one: one.peak)
            peaks.append(seen.peak)
        rows.append((name, *peaks, peaks[1] / peaks[0]))
        lines.append(Series(name, tuple(seen.points)))
    columns = ("workload", f"peak, {triples:,} triples [MB]", f"peak, {10 * triples:,} triples [MB]", "growth")
    panel = Panel("", Axis("triples read, in millions"), Axis("memory of the process [MB]"), tuple(lines))
    return Result(
        (Table("Peak memory of a run, the least of the rounds", columns, tuple(rows)),),
        (Figure("memory", f"Memory over time on DuckDB, over a stream of {10 * triples:,} triples", (panel,)),),
        tuple(context.remarks),
    )


class _Watched:
    """The report of a process: its peak in MB, and points of millions of triples and MB."""

    def __init__(self, told: str) -> None:
        noted = json.loads(told)
        self.peak: float = noted["peak"]
        points: list[tuple[float, float]] = [(count / 1e6, size) for count, size in noted["points"]]
        self.points = points[:: max(1, len(points) // MOST_POINTS)]


def _watched(query: Query, stream: Path, graph: Path) -> _Watched:
    command = [sys.executable, "-m", __name__, query.rspql, str(stream), str(graph)]
    return _Watched(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def watch(text: str, stream: Path, graph: Path) -> str:
    """Runs the query in this process; what it took, as JSON."""
    evaluations = Penstock().evaluations(text, DataFiles({STREAM: stream}, {None: graph}))
    points = [(evaluation.time - FIRST + 1, resident()) for evaluation in evaluations]
    return json.dumps({"peak": peak(), "points": points})


def resident() -> float:
    """What this process has now, in MB; where the system does not say, its peak so far."""
    statement = Path("/proc/self/statm")
    if not statement.exists():
        return peak()
    return int(statement.read_text().split()[1]) * resource.getpagesize() / _MEGABYTE


def peak() -> float:
    """The peak of this process, in MB.

    Linux counts what a process had before it became this program into `getrusage`, but not into VmHWM.
    """
    status = Path("/proc/self/status")
    if status.exists():
        fields = dict(line.split(":", 1) for line in status.read_text().splitlines())
        return int(fields["VmHWM"].split()[0]) / 1024
    units = _MEGABYTE if sys.platform == "darwin" else 1 << 10
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / units


if __name__ == "__main__":
    sys.stdout.write(watch(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])))
