"""What `penstock` commands take on Spark, each in a process of its own, without any setting.

    python benchmarks/spark_commands.py                # demo, memory and cluster
    python benchmarks/spark_commands.py demo --check   # exit status 1 when a target is missed

demo. `penstock demo`: the seconds until Spark is ready, and from then until the answer. The first round reads programs
and libraries from the disk if the machine has just started.

memory. T3, the self join of penstock/bench/limits, over `--triples`: `penstock run --engine spark` answers it with the
memory that it takes by default, and the answer is that of the embedded engine.

cluster. T1 to T3 on `local-cluster[2,1,2048]`: executors in processes of their own give the same answer.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from targets import Target
from tollgate_spark.answers import Solutions, solutions_of

from penstock.bench.limits.data import STREAM, write_passages, write_streets
from penstock.bench.limits.queries import WORKLOADS
from penstock.rdf.results import from_json_line

MOST_SECONDS = 8
PENSTOCK = (sys.executable, "-m", "penstock")
CLUSTER = "local-cluster[2,1,2048]"

Table = Iterator[str | Target]


def demo(folder: Path, triples: int, rounds: int) -> Table:
    answered = []
    for number in range(1, rounds + 1):
        ended = subprocess.run([*PENSTOCK, "demo"], capture_output=True, text=True, check=True)
        ready, taken = (float(text) for text in re.findall(r"after ([0-9.]+) s", ended.stderr))
        yield f"round {number}: Spark is ready after {ready:.1f} s, and the answer is there {taken:.1f} s later"
        answered.append(taken)
    yield Target("demo, worst round", max(answered), MOST_SECONDS, "s from Spark's start to the answer")


def memory(folder: Path, triples: int, rounds: int) -> Table:
    yield from _compared(folder, triples, "T3", [])


def cluster(folder: Path, triples: int, rounds: int) -> Table:
    for name in ("T1", "T2", "T3"):
        yield from _compared(folder, triples, name, ["--master", CLUSTER])


def _compared(folder: Path, triples: int, name: str, options: list[str]) -> Table:
    (workload,) = (one for one in WORKLOADS if one.name.startswith(name))
    query = folder / f"{name}.rq"
    query.write_text(workload.text)
    stream, graph = write_passages(folder, triples), write_streets(folder)
    given = [str(query), "--stream", f"{STREAM}={stream}", "--graph", str(graph)]
    expected, embedded = _run([*given, "--engine", "duckdb"], folder / "embedded.jsonl")
    found, taken = _run([*given, "--engine", "spark", *options], folder / "spark.jsonl")
    where = " ".join(["Spark", *options])
    yield f"{name}, {triples:,} triples: {taken:.1f} s on {where}, {embedded:.1f} s embedded, start included"
    yield Target(f"{name}, {where}", float(found != expected), 0, "answers that differ")


def _run(arguments: list[str], out: Path) -> tuple[Solutions, float]:
    """The answer, and the seconds that it took."""
    began = time.perf_counter()
    subprocess.run([*PENSTOCK, "run", *arguments, "--quiet", "--out", str(out)], check=True)
    taken = time.perf_counter() - began
    with out.open() as lines:
        return solutions_of(map(from_json_line, lines)), taken


TABLES: dict[str, Callable[[Path, int, int], Table]] = {"demo": demo, "memory": memory, "cluster": cluster}


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("tables", nargs="*", metavar="TABLE", help=f"of {', '.join(TABLES)} (all)")
    parser.add_argument("--check", action="store_true", help="exit 1 when a target is missed")
    parser.add_argument("--triples", type=int, default=2_000_000, metavar="N", help="in a stream (%(default)s)")
    parser.add_argument("--rounds", type=int, default=2, metavar="N", help="of the demo (%(default)s)")
    arguments = parser.parse_args()
    unknown = [name for name in arguments.tables if name not in TABLES]
    if unknown:
        parser.error(f"there is no table {unknown[0]}; there are {', '.join(TABLES)}")
    print(f"load {os.getloadavg()[0]:.1f}")
    targets: list[Target] = []
    with tempfile.TemporaryDirectory() as folder:
        for name in arguments.tables or TABLES:
            print(f"\n{name}")
            for told in TABLES[name](Path(folder), arguments.triples, arguments.rounds):
                print(told, flush=True)
                if isinstance(told, Target):
                    targets.append(told)
    return 1 if arguments.check and not all(target.is_met for target in targets) else 0


if __name__ == "__main__":
    sys.exit(main())
