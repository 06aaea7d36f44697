"""The gain of aggregating windows before the join with static data (C-SPARQL §5.2), on Spark.

    python benchmarks/split_aggregates.py [--elements 100000] [--rounds 3] [--aggregates COUNT SUM]

Cars pass gates within one window, and a static graph assigns several zones to each gate. The query computes an
aggregate for each zone, with and without the rule split_aggregates, in turns; the best round of each counts. `rule`
shows what the optimizer does by itself; its thresholds were chosen with this benchmark.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from unittest import mock

from penstock import parse
from penstock.bench.data_files import write_once
from penstock.engines.spark.session import session
from penstock.runtime.queries import QuerySpec
from penstock.runtime.ways import RunRequest, open_run
from penstock.sources.files import TntFile
from penstock.sources.graph_files import open_graph

RULE = import_module("penstock.optimizer.split_aggregates")  # the package has a function of that name
STREAM = "http://ex.org/passages"
SHAPES = ((500, 200), (500, 100), (500, 50), (500, 20), (500, 1), (20_000, 8))
"""Gates, and zones of each."""

QUERY = """PREFIX : <http://ex.org/>
    SELECT ?zone (%s(?toll) AS ?found) FROM NAMED WINDOW :w ON :passages [RANGE PT100S STEP PT100S]
    WHERE { WINDOW :w { ?gate :takes ?toll } ?gate :in ?zone } GROUP BY ?zone"""


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--elements", type=int, default=100_000, help="so many of them in the window")
    options.add_argument("--rounds", type=int, default=3)
    options.add_argument("--aggregates", nargs="+", default=["COUNT"], choices=["COUNT", "MIN", "MAX", "SUM", "AVG"])
    given = options.parse_args()
    print(f"{'':6} {'gates':>7} {'zones each':>11} {'split s':>9} {'unsplit s':>10} {'ratio':>6}  rule")
    with tempfile.TemporaryDirectory() as name:
        for gates, zones in SHAPES:
            stream = write_once(Path(name) / f"passages-{gates}.tnt", passages(given.elements, gates))
            graph = write_once(Path(name) / f"zones-{gates}-{zones}.nt", zones_of(gates, zones))
            for aggregate in given.aggregates:
                best = {True: float("inf"), False: float("inf")}
                answers = {}
                for _ in range(given.rounds):
                    for is_split in best:
                        seconds, answers[is_split] = measured(QUERY % aggregate, stream, graph, is_split)
                        best[is_split] = min(best[is_split], seconds)
                if not answers[True] or answers[True] != answers[False]:
                    print("the answers differ, or there are none", file=sys.stderr)
                    return 1
                enough = RULE._PARTNERS_OF_COUNTS if aggregate == "COUNT" else RULE._PARTNERS
                chosen = "splits" if zones >= enough and gates <= RULE._VALUES else "leaves it"
                times = f"{best[True]:9.2f} {best[False]:10.2f} {best[True] / best[False]:6.2f}"
                print(f"{aggregate:6} {gates:7} {zones:11} {times}  {chosen}", flush=True)
    return 0


def measured(text: str, stream: Path, graph: Path, is_split: bool) -> tuple[float, list[str]]:
    """Seconds from the start of the run to its end, and what came out."""
    partners, values = (0, sys.maxsize) if is_split else (sys.maxsize, 0)
    spark = session(None, {"spark.driver.memory": "4g"})
    streams = {STREAM: TntFile(stream, "passages", 10_000)}
    with mock.patch.multiple(RULE, _PARTNERS=partners, _PARTNERS_OF_COUNTS=partners, _VALUES=values):
        opened = open_run(
            RunRequest([QuerySpec(parse(text))], streams, {None: open_graph(graph, scope="zones")}), spark
        )
        run = opened.run
        began = time.perf_counter()
        found = sorted(str(row) for evaluation in run.evaluations() for row in evaluation.rows or ())
        seconds = time.perf_counter() - began
    opened.stop()
    return seconds, found


def passages(count: int, gates: int) -> Iterator[str]:
    """The last one closes the window."""
    chance = random.Random(1)
    for number in range(count):
        toll = f'"{chance.randrange(100)}"^^<http://www.w3.org/2001/XMLSchema#integer>'
        gate, ts = chance.randrange(gates), 1 + number * 90_000 // count if number + 1 < count else 150_000
        yield f'<http://ex.org/gate{gate}> <http://ex.org/takes> {toll} "{ts}" .\n'


def zones_of(gates: int, zones: int) -> Iterator[str]:
    chance = random.Random(2)
    for gate in range(gates):
        for zone in chance.sample(range(200), zones):
            yield f"<http://ex.org/gate{gate}> <http://ex.org/in> <http://ex.org/zone{zone}> .\n"


if __name__ == "__main__":
    sys.exit(main())
