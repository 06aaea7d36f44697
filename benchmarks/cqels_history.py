"""CQELS's Q1 to Q5 over a history of detections, each evaluated, on DuckDB, next to pyoxigraph asked at each detection.

Penstock's time is that of a run in this process, from the files to all answers in columns: best of the rounds, by the
processor and by the clock. pyoxigraph has the static data loaded, and does the first detections one by one, in one
thread. Systems are compared by detections per second, by the processor's time and by the clock. `--check` exits with
status 1 where Penstock is not as many times as fast as it should be, by the clock.

    python benchmarks/cqels_history.py [--detections 300000] [--triples 100000] [--queries Q1 Q5] [--check]
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from penstock.bench.cqels.arrivals import pyoxigraph_times
from penstock.bench.cqels.data import FLOORPLAN, RFID, write_detections, write_floorplan, write_publications
from penstock.bench.cqels.queries import TEMPLATES, Instance
from penstock.bench.systems import DataFiles, Penstock

TARGETS = {"Q1": 15, "Q2": 30, "Q3": 20, "Q4": 40, "Q5": 10}
FEW = 3_000
"""pyoxigraph does so many detections: each takes as long as any other."""

COLUMNS = ("solutions", "clock [s]", "cpu [s]", "per s", "pyoxigraph", "÷ clock", "÷ cpu", "target")


def main() -> int:
    options = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    options.add_argument("--detections", type=int, default=300_000)
    options.add_argument("--triples", type=int, default=100_000, help="static triples")
    options.add_argument("--queries", nargs="+", choices=list(TEMPLATES), default=list(TEMPLATES))
    options.add_argument("--rounds", type=int, default=2)
    options.add_argument("--check", action="store_true", help="exit status 1 where a target is missed")
    given = options.parse_args()
    print(f"{'':3}", *(f"{name:>10}" for name in COLUMNS))
    has_missed = False
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        publications, floorplan = write_publications(folder, given.triples), write_floorplan(folder)
        inputs = DataFiles(
            {RFID: write_detections(folder, given.detections)}, {None: publications, FLOORPLAN: floorplan}
        )
        for template in given.queries:
            few = min(FEW, given.detections)
            asked = partial(pyoxigraph_times, Instance(template, 0), publications, floorplan)
            answered = partial(Penstock().answer_in_columns, Instance(template, 0).text, inputs)
            rounds = [timed(answered) for _ in range(given.rounds)]
            solutions = rounds[0][0]
            clock, processor = (min(each) for each in list(zip(*rounds, strict=True))[1:])
            _, loading_clock, loading_processor = timed(partial(asked, 0))
            _, peer_clock, peer_processor = timed(partial(asked, few))
            own, peer = given.detections / clock, few / (peer_clock - loading_clock)
            ratio, target = own / peer, TARGETS[template]
            by_processor = given.detections / processor * (peer_processor - loading_processor) / few
            numbers = f"{solutions:10} {clock:10.2f} {processor:10.2f} {own:10.0f} {peer:10.0f}"
            print(f"{template:3} {numbers} {ratio:10.1f} {by_processor:10.1f} {target:10}", flush=True)
            has_missed = has_missed or ratio < target
    return int(given.check and has_missed)


def timed(action: Callable[[], Any]) -> tuple[Any, float, float]:
    """What it returns, and the seconds by the clock and of the processor."""
    clock, processor = time.perf_counter(), time.process_time()
    found = action()
    return found, time.perf_counter() - clock, time.process_time() - processor


if __name__ == "__main__":
    sys.exit(main())
