"""Peak memory of a run, in a process of its own, over a stream and over one that is ten times as long.

python -m tollgate.memory QUERY STREAM GRAPH     # the peak in MB
"""

from __future__ import annotations

import resource
import subprocess
import sys
from pathlib import Path

from tollgate.data import write_districts, write_stream
from tollgate.measuring import Target
from tollgate.queries import PAIRS, PASSAGES, Query
from tollgate.running import evaluations

MOST_MB = 1024
MOST_GROWTH = 1.2
"""What still counts as flat."""

WORKLOADS: dict[str, Query] = {
    "COUNT, tumbling 10s": PASSAGES,
    "COUNT, RANGE 10s STEP 1s": PASSAGES.over(10, 1),
    "pairs, RANGE 10s STEP 5s": PAIRS.over(10, 5),
}


def memory(folder: Path, triples: int, rounds: int) -> tuple[str, list[Target]]:
    """The least of the peaks of all rounds counts."""
    graph = write_districts(folder)
    lengths = (triples, 10 * triples)
    streams = [write_stream(folder, "passages", length) for length in lengths]
    lines = [f"{'':26}" + "".join(f"{length:>20,} triples" for length in lengths) + f"{'growth':>10}"]
    targets: list[Target] = []
    for name, query in WORKLOADS.items():
        short, long = (min(_peak_of(query, stream, graph) for _ in range(rounds)) for stream in streams)
        lines.append(f"{name:26}{short:25,.0f} MB{long:25,.0f} MB{long / short:10.2f}")
        targets.append(Target(f"{name}, peak memory", max(short, long), MOST_MB, "MB"))
        targets.append(
            Target(f"{name}, peak memory over a stream 10 times as long", long / short, MOST_GROWTH, "times")
        )
    return "\n".join(lines), targets


def _peak_of(query: Query, stream: Path, graph: Path) -> float:
    command = [sys.executable, "-m", "tollgate.memory", query.rspql, str(stream), str(graph)]
    here = Path(__file__).resolve().parents[1]
    return float(subprocess.run(command, cwd=here, check=True, capture_output=True, text=True).stdout)


def peak() -> float:
    """The peak of this process, in MB.

    Linux counts what a process had before it became this program into `getrusage`, but not into VmHWM.
    """
    status = Path("/proc/self/status")
    if status.exists():
        fields = dict(line.split(":", 1) for line in status.read_text().splitlines())
        return int(fields["VmHWM"].split()[0]) / 1024
    units = 1 << 20 if sys.platform == "darwin" else 1 << 10
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / units


if __name__ == "__main__":
    text, stream, graph = sys.argv[1:]
    for _ in evaluations(text, Path(stream), Path(graph)):
        pass
    print(peak())
