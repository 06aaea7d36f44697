"""Kills an executor of Spark (SIGKILL) during micro-batches of a live run, and compares the answer with the oracle's.

    python scripts/kill_executor.py [--kills 2] [--work FOLDER]

The cluster is `local-cluster[2,1,1024]`: two executors in separate processes.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
import tempfile
import threading
import time
from pathlib import Path

from kill_live import GRAPH, LATENESS, QUERY, compare_with_oracle, put

from penstock.engines.spark.session import session
from penstock.rdf.results import Evaluation
from penstock.runtime.outlets import Callback
from penstock.runtime.queries import QuerySpec
from penstock.runtime.settings import RunSettings
from penstock.runtime.ways import RunRequest, open_run
from penstock.sources.graph_files import open_graph
from penstock.sources.spark.live import GrowingFolder
from penstock.syntax import parse

FILES = 5
QUICK = {
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.codegen.wholeStage": "false",
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1",
    "spark.executor.extraJavaOptions": "-XX:TieredStopAtLevel=1",
}


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--kills", type=int, default=2)
    parser.add_argument("--work", type=Path, default=None)
    given = parser.parse_args()
    work = given.work or Path(tempfile.mkdtemp(prefix="penstock-executor-"))
    folder = work / "toll"
    folder.mkdir(parents=True)
    (work / "query.rq").write_text(QUERY)
    (work / "graph.ttl").write_text(GRAPH)
    for number in range(FILES):
        put(folder, number)
    found: list[Evaluation] = []

    def take(evaluation: Evaluation) -> None:
        found.append(evaluation)
        print(f"{time.monotonic() - began:.1f} s: answered {evaluation.time}", flush=True)

    began = time.monotonic()
    graph = open_graph(work / "graph.ttl", scope="g")
    request = RunRequest(
        [QuerySpec(parse(QUERY), "q")],
        {"http://ex.org/toll": GrowingFolder(folder, "s1", files_per_batch=1)},
        {None: graph},
        RunSettings(lateness=LATENESS),
        outlets={"q": Callback(take)},
        is_bounded=True,
    )
    run = open_run(request, session("local-cluster[2,1,1024]", QUICK))
    killing = threading.Thread(target=kill_executors, args=(found, given.kills), daemon=True)
    killing.start()
    run.start()
    run.wait()
    run.stop()
    killing.join(1)
    return compare_with_oracle(work, [evaluation for evaluation in found if evaluation.says_something])


def kill_executors(found: list[Evaluation], kills: int) -> None:
    """Kills an executor during the next batch after each of the first batches."""
    for number in range(kills):
        seen = len(found)
        while len(found) == seen:
            time.sleep(0.01)
        time.sleep(0.3 * number)
        executors = executor_processes()
        os.kill(executors[0], signal.SIGKILL)
        print(f"killed executor {executors[0]} of {executors} after {len(found)} evaluations", flush=True)


def executor_processes() -> list[int]:
    """The executors among the child processes."""
    parents: dict[int, int] = {}
    executors = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            status, command = (folder / "stat").read_text(), (folder / "cmdline").read_bytes()
        except OSError:
            continue
        parents[int(folder.name)] = int(status.rpartition(")")[2].split()[1])
        if b"CoarseGrainedExecutorBackend" in command:
            executors.append(int(folder.name))
    return [executor for executor in executors if _descends(executor, os.getpid(), parents)]


def _descends(process: int, ancestor: int, parents: dict[int, int]) -> bool:
    while process not in (0, ancestor):
        process = parents.get(process, 0)
    return process == ancestor


if __name__ == "__main__":
    sys.exit(main())
