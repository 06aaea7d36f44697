"""The time for an update with a growing static graph: the CQELS experiment (Le-Phuoc et al. 2011, §5, Figure 4).

    python benchmarks/static.py                       # 10^4, 10^5 and 10^6 triples
    python benchmarks/static.py --triples 10000 10000000 --formats nt parquet --check

How it is measured. Stream, floor plan and publications are those of `penstock bench cqels` (src/penstock/bench/cqels):
an RFID tag is detected every 100 ms; the floor plan is a named graph, and the default graph has the given number of
triples about publications. The queries are Q1 to Q5 of the paper, about the visitor with the most papers, and some
queries over all people, whose static part is not restricted by a name. All of them have results, about as many in a
small graph as in a large one. For the last query the stream contains names as well, so that its patterns are neither
purely static nor purely streaming.

Elements arrive one by one, and each is answered before the next one is read. After some warm-up updates, `--updates`
updates are measured: the median wall time, and the processor time of all threads, which is more reliable on a busy
machine. Loading, and the first answer, which includes computing the static parts, are reported separately. Each
query has a process of its own, whose peak memory is told. `--formats` says what file the graph is read from; the first
of them is for the queries, of others loading alone is measured. `--check` ends with status 1 when an update takes more
than twice as long with the largest graph as with the smallest.

`--engine spark`: an update is a micro-batch of ten elements, from its trigger to its commit, by the clock alone; the
memory of Spark's own process is not told.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import resource
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from penstock import parse
from penstock.bench.cqels.data import (
    FLOORPLAN,
    PREFIXES,
    RFID,
    name_of,
    publications,
    write_detections,
    write_floorplan,
    write_publications,
)
from penstock.bench.cqels.experiment import AUTHORS
from penstock.bench.cqels.queries import PROLOGUE, TEMPLATES, Instance
from penstock.engines.duckdb.store import DuckDBStore
from penstock.rdf.results import Evaluation
from penstock.runtime.queries import QuerySpec
from penstock.runtime.run import Run
from penstock.runtime.settings import RunSettings
from penstock.runtime.source_intake import SourceIntake
from penstock.runtime.ways import RunRequest, open_run
from penstock.sources.files import TntFile
from penstock.sources.graph_files import open_graph

WARM_UP = {"duckdb": 50, "spark": 5}
PER_BATCH = 10
TIMES = 2
"""An update may take so many times as long with the largest graph."""

EVERYONE = {
    "co-authors of all": """SELECT ?coAuthName WHERE {
        STREAM <http://deri.org/streams/rfid> [TRIPLES 1] {?auth lv:detectedAt ?loc}
        STREAM <http://deri.org/streams/rfid> [RANGE 5s] {?coAuth lv:detectedAt ?loc}
        ?paper dc:creator ?auth. ?paper dc:creator ?coAuth. ?coAuth foaf:name ?coAuthName
        FILTER (?auth != ?coAuth) }""",
    "names of all": """SELECT ?person ?name WHERE {
        STREAM <http://deri.org/streams/rfid> [NOW] {?person lv:detectedAt ?loc} ?person foaf:name ?name }""",
    "no editors": """SELECT ?person ?title WHERE {
        STREAM <http://deri.org/streams/rfid> [NOW] {?person lv:detectedAt ?loc}
        OPTIONAL { ?paper dc:creator ?person. ?paper dc:title ?title }
        FILTER NOT EXISTS { ?proceeding swrc:editor ?person } }""",
    "minus editors": """SELECT ?person ?loc WHERE {
        STREAM <http://deri.org/streams/rfid> [RANGE 5s] {?person lv:detectedAt ?loc}
        MINUS { ?proceeding swrc:editor ?person } }""",
    "names from both": """SELECT ?person ?name FROM STREAM <http://deri.org/streams/rfid> [RANGE 1s STEP 100ms] WHERE {
        ?person lv:detectedAt ?loc . ?person foaf:name ?name }""",
}


class Figures(NamedTuple):
    load: float
    first: float
    update: float
    processor: float
    solutions: int
    memory: float


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--triples", type=int, nargs="+", default=[10**4, 10**5, 10**6], help="sizes of the graph")
    options.add_argument("--formats", nargs="+", default=["nt"], choices=["nt", "parquet"], help="files of the graph")
    options.add_argument("--queries", nargs="+", default=[*queries()], help="some of the queries")
    options.add_argument("--updates", type=int, default=300, help="how many updates are measured")
    options.add_argument("--engine", choices=("duckdb", "spark"), default="duckdb")
    options.add_argument("--check", action="store_true", help="exit status 1 when an update takes twice as long")
    given = options.parse_args()
    found: dict[int, dict[str, Figures]] = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        per_update, measure = (1, measured) if given.engine == "duckdb" else (PER_BATCH, measured_on_spark)
        stream = write_detections(folder, (given.updates + WARM_UP[given.engine]) * per_update)
        floorplan = write_floorplan(folder)
        with_names = written_names(stream)
        for triples in given.triples:
            graph, *others = (written_graph(folder, triples, ending) for ending in given.formats)
            print(f"\n{triples:,} triples")
            for path in (graph, *others):
                if given.engine == "duckdb":
                    seconds, memory = apart(loaded, path)
                    print(f"{path.suffix:18} loaded in {seconds:.1f} s, at most {memory:.1f} GiB of memory", flush=True)
            print(f"{'':18} {TITLES}", flush=True)
            for name in given.queries:
                seen = with_names if name == "names from both" else stream
                found.setdefault(triples, {})[name] = apart(measure, queries()[name], seen, graph, floorplan)
                show(name, found[triples][name])
            for path in (graph, *others):
                path.unlink()
    return compare(found, given.check)


def queries() -> dict[str, str]:
    listed = {template: Instance(template, AUTHORS[0]).text for template in TEMPLATES}
    return listed | {name: PROLOGUE + text for name, text in EVERYONE.items()}


def apart(function: Callable[..., Any], *given: object) -> Any:
    """What the function gives in a new process: what others left behind costs it nothing."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(function, given)


def peak() -> float:
    """GiB of memory that this process has had at most."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


def loaded(graph: Path) -> tuple[float, float]:
    engine = DuckDBStore()
    began = time.perf_counter()
    engine.load_graph(None, open_graph(graph, scope="papers"))
    return time.perf_counter() - began, peak()


def measured(text: str, stream: Path, graph: Path, floorplan: Path) -> Figures:
    engine = DuckDBStore()
    began = time.perf_counter()
    engine.load_graph(None, open_graph(graph, scope="papers"))
    engine.load_graph(FLOORPLAN, open_graph(floorplan, scope="rooms"))
    loaded = time.perf_counter()
    settings = RunSettings(is_prompt=True)
    run = Run(engine, SourceIntake(), [QuerySpec(parse(text))], {RFID: TntFile(stream, "rfid", 1)}, settings)
    took: list[float] = []
    solutions, processor = 0, 0.0
    before = loaded
    for number, evaluation in enumerate(run.evaluations()):
        now = time.perf_counter()
        took.append(now - before)
        before = now
        solutions += len(evaluation.rows or evaluation.triples or ())
        if number == WARM_UP["duckdb"]:
            processor = time.process_time()
    updates = took[WARM_UP["duckdb"] :]
    processor = (time.process_time() - processor) / len(updates)
    engine.close()
    return Figures(loaded - began, took[0], statistics.median(updates), processor, solutions, peak())


def measured_on_spark(text: str, stream: Path, graph: Path, floorplan: Path) -> Figures:
    from penstock.engines.spark.session import session
    from penstock.runtime.outlets import Callback
    from penstock.sources.spark.live import GrowingFolder

    solutions = 0

    def count(evaluation: Evaluation) -> None:
        nonlocal solutions
        solutions += len(evaluation.rows or evaluation.triples or ())

    with tempfile.TemporaryDirectory() as name:
        folder, lines = Path(name), stream.read_text().splitlines(keepends=True)
        for number, start in enumerate(range(0, len(lines), PER_BATCH), 1):
            file = folder / f"{number}.tnt"
            file.write_text("".join(lines[start : start + PER_BATCH]))
            os.utime(file, (number, number))
        spark = session(None, {"spark.driver.memory": "8g"})
        began = time.perf_counter()
        request = RunRequest(
            [QuerySpec(parse(text), "q")],
            {RFID: GrowingFolder(folder, "rfid", files_per_batch=1)},
            {None: open_graph(graph, scope="papers"), FLOORPLAN: open_graph(floorplan, scope="rooms")},
            outlets={"q": Callback(count)},
            is_bounded=True,
        )
        run = open_run(request, spark)
        loaded = time.perf_counter()
        run.start()
        (query,) = spark.streams.active
        run.wait()
        batches = [each for each in query.recentProgress if each.numInputRows]
        run.stop()
    took = [each.durationMs["triggerExecution"] / 1000 for each in batches]
    update = statistics.median(took[WARM_UP["spark"] :])
    return Figures(loaded - began, took[0], update, update, solutions, peak())


TITLES = f"{'load s':>8} {'first s':>8} {'update ms':>10} {'processor ms':>13} {'solutions':>10} {'GiB':>5}"


def show(name: str, figures: Figures) -> None:
    load, first, update, processor, solutions, memory = figures
    times = f"{load:8.2f} {first:8.2f} {update * 1000:10.2f} {processor * 1000:13.2f}"
    print(f"{name:18} {times} {solutions:10} {memory:5.1f}", flush=True)


def compare(found: dict[int, dict[str, Figures]], check: bool) -> int:
    sizes = sorted(found)
    smallest, largest = found[sizes[0]], found[sizes[-1]]
    print(f"\n{sizes[-1]:,} triples against {sizes[0]:,}: an update takes so many times as long")
    worst = 0.0
    for name in smallest:
        clock = largest[name].update / smallest[name].update
        processor = largest[name].processor / smallest[name].processor
        worst = max(worst, processor)
        print(f"{name:18} {clock:6.2f} by the clock {processor:6.2f} by the processor")
    return int(check and worst > TIMES)


def written_names(stream: Path) -> Path:
    """The stream with a name every now and then, that the graph has or has not."""
    path = stream.with_name("names.tnt")
    lines = stream.read_text().splitlines(keepends=True)
    for place in range(0, len(lines), 10):
        subject, _, _, end = lines[place].split(" ", 3)
        number = place if place % 20 else int(subject.rpartition("person")[2].rstrip(">"))
        lines[place] = f'{subject} <{PREFIXES["foaf"]}name> "{name_of(number)}" {end}'
    path.write_text("".join(lines))
    return path


def written_graph(folder: Path, triples: int, ending: str) -> Path:
    if ending == "nt":
        return write_publications(folder, triples)
    path = folder / f"publications-{triples}.parquet"
    schema = pa.schema([(name, pa.string()) for name in ("s", "p", "o")])
    lines = islice(publications(), triples)
    with pq.ParquetWriter(path, schema) as writer:
        while some := list(islice(lines, 100_000)):
            terms = zip(*(line.removesuffix(" .\n").split(" ", 2) for line in some), strict=True)
            writer.write_table(pa.table([pa.array(column) for column in terms], schema=schema))
    return path


if __name__ == "__main__":
    sys.exit(main())
