"""Many queries at once: 1 to 1,024 copies of CQELS's Q1, Q3 and Q4, each about another person.

The data is a stream of RFID readings (a person is detected at a place), a floor plan, and the papers that people write.
The copies differ in a name, so they are fused into one statement. The output has the processor seconds for parsing,
registering and running the queries, the total wall time, the peak memory, and ratios to one query: registering and
running (wall time and processor time), the total including parsing, the whole process with its start, and memory.
`--check` exits with status 1 if the largest number of queries takes more than twice the processor time of the process
with one query (on Spark, twice the wall time, most of which is spent in Java), or more than twice its memory.

    python benchmarks/many_queries.py [--engine duckdb|spark] [--most 1024] [--readings 5000] [--check]
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from pyoxigraph import Literal, NamedNode, Triple

from penstock import parse
from penstock.algebra.inputs import GraphTriple
from penstock.rdf.elements import Element
from penstock.runtime.queries import QuerySpec
from penstock.runtime.run import Run
from penstock.sources.files import ElementFile
from penstock.sources.graphs import graph_of_triples

LISTINGS = Path(__file__).parents[1] / "tests/papers/cqels"
QUERIES = {
    "Q1": "q1-location-just-entered.rq",
    "Q3": "q3-co-authors-in-the-same-location.rq",
    "Q4": "q4-editors-nearby.rq",
}
RFID = "http://deri.org/streams/rfid"
FLOOR = "http://deri.org/floorplan/"
PREFIXES: dict[str, str] = json.loads((LISTINGS / "prefixes.json").read_text())
PEOPLE, PLACES = 1100, 60
PARTS = ("parse", "register", "run")
RATIOS = ("wall", "cpu", "all", "process", "memory")


def _iri(name: str) -> NamedNode:
    prefix, local = name.split(":")
    return NamedNode({**PREFIXES, "ex": "http://example.org/"}[prefix] + local)


def readings(count: int) -> list[Element]:
    """The milliseconds between two detections."""
    chance = random.Random(7)
    detected = _iri("lv:detectedAt")
    return [
        Element(
            20 * number,
            (Triple(_iri(f"ex:p{chance.randrange(PEOPLE)}"), detected, _iri(f"ex:l{chance.randrange(PLACES)}")),),
        )
        for number in range(1, count + 1)
    ]


def floor_plan() -> list[Triple]:
    triples = []
    for place in range(PLACES):
        here = _iri(f"ex:l{place}")
        triples.append(Triple(here, _iri("lv:name"), Literal(f"place {place}")))
        triples.append(Triple(here, _iri("lv:desc"), Literal(f"the place number {place}")))
        triples += (
            Triple(here, _iri("lv:connected"), _iri(f"ex:l{(place + step) % PLACES}")) for step in range(-2, 3) if step
        )
    return triples


def library() -> list[Triple]:
    """Names, papers with three authors each, and proceedings with editors."""
    chance = random.Random(8)
    triples = [Triple(_iri(f"ex:p{n}"), _iri("foaf:name"), Literal(f"person {n}")) for n in range(PEOPLE)]
    for paper in range(PEOPLE):
        here = _iri(f"ex:paper{paper}")
        triples += (Triple(here, _iri("dc:creator"), _iri(f"ex:p{n}")) for n in chance.sample(range(PEOPLE), 3))
        triples.append(Triple(here, _iri("dcterms:partOf"), _iri(f"ex:proceedings{paper % 50}")))
    for number in range(50):
        triples += (
            Triple(_iri(f"ex:proceedings{number}"), _iri("swrc:editor"), _iri(f"ex:p{n}"))
            for n in chance.sample(range(PEOPLE), 3)
        )
    return triples


def measure(name: str, copies: int, engine: str, count: int) -> dict[str, float]:
    """One run, in this process: seconds, and the greatest memory in megabytes."""
    text = (LISTINGS / QUERIES[name]).read_text()
    texts = [text.replace("$Name$", f"person {n}") for n in range(copies)]
    store, intake = _store_and_intake(engine)
    for iri, triples in ((FLOOR, floor_plan()), (None, library())):
        store.load_graph(iri, graph_of_triples([GraphTriple(triple) for triple in triples]))
    elements = readings(count)
    source = ElementFile("readings", lambda report: iter(elements), len(elements) + 1)
    times = [time.process_time()]
    wall = time.perf_counter()
    standing = [QuerySpec(parse(text, "cqels", prefixes=PREFIXES), f"q{n}") for n, text in enumerate(texts)]
    times.append(time.process_time())
    run = Run(store, intake, standing, {RFID: source})
    run.begin()
    times.append(time.process_time())
    answers = sum(evaluation.says_something for evaluation in run.evaluations())
    times.append(time.process_time())
    return {
        **{part: end - start for part, start, end in zip(PARTS, times, times[1:], strict=False)},
        "wall": time.perf_counter() - wall,
        "cpu": times[3] - times[1],
        "all": times[3] - times[0],
        "memory": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        "answers": answers,
    }


def _store_and_intake(engine: str) -> tuple[Any, Any]:
    if engine == "duckdb":
        from penstock.engines.duckdb.store import DuckDBStore
        from penstock.runtime.source_intake import SourceIntake

        return DuckDBStore(), SourceIntake()
    from penstock.engines.spark.history import HistoryStore
    from penstock.engines.spark.session import session
    from penstock.runtime.history_intake import HistoryIntake

    return HistoryStore(session(None, {})), HistoryIntake()


TARGETS = {"duckdb": {"process": 2, "memory": 2}, "spark": {"wall": 2, "memory": 2}}


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--engine", choices=("duckdb", "spark"), default="duckdb")
    options.add_argument("--most", type=int, default=1024)
    options.add_argument("--readings", type=int, default=5000)
    options.add_argument("--check", action="store_true", help="exit status 1 where a target is missed")
    options.add_argument("--one", nargs=2, metavar=("QUERY", "COPIES"), help=argparse.SUPPRESS)
    given = options.parse_args()
    if given.one is not None:
        print(json.dumps(measure(given.one[0], int(given.one[1]), given.engine, given.readings)))
        return 0
    missed = False
    seconds = (*PARTS, "wall", "process")
    print(
        f"{'query':<6}{'copies':>7}", *(f"{head:>9}" for head in seconds), f"{'MB':>6}{'answers':>9}  ÷ one:", *RATIOS
    )
    for name in QUERIES:
        first: dict[str, float] | None = None
        copies = 1
        while copies <= given.most:
            found = _in_a_process_of_its_own(name, copies, given)
            first = first or found
            figures = f"{found['memory']:6.0f}{found['answers']:9.0f}         "
            ratios = (f"{found[part] / first[part]:4.2f}" for part in RATIOS)
            print(f"{name:<6}{copies:>7}", *(f"{found[part]:9.2f}" for part in seconds), figures, *ratios, flush=True)
            copies *= 32
        assert first is not None
        missed |= any(found[part] > most * first[part] for part, most in TARGETS[given.engine].items())
    return int(given.check and missed)


def _in_a_process_of_its_own(name: str, copies: int, given: argparse.Namespace) -> dict[str, float]:
    before = _seconds_of_children()
    arguments = ["--engine", given.engine, "--readings", str(given.readings), "--one", name, str(copies)]
    found = subprocess.run(
        [sys.executable, __file__, *arguments], check=True, capture_output=True, text=True, env=dict(os.environ)
    )
    parsed: dict[str, float] = json.loads(found.stdout.splitlines()[-1])
    return {**parsed, "process": _seconds_of_children() - before}


def _seconds_of_children() -> float:
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return children.ru_utime + children.ru_stime


if __name__ == "__main__":
    sys.exit(main())
