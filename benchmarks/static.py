"""How long an update takes as the static graph grows: the CQELS experiment (Le-Phuoc et al. 2011, §5, Figure 8).

    python benchmarks/static.py                       # 10^4, 10^5 and 10^6 triples
    python benchmarks/static.py --triples 10000 10000000 --check

How it is measured. The stream has people with RFID tags who walk through a building, an element each second. The
building is a named graph of a hundred rooms. The default graph is one of papers, with as many people as SP2Bench's has
authors (about one for six triples): titles, years, types, one to four creators, proceedings with an editor, names. The
queries are Q1 to Q5 of the paper, as tests/papers/cqels has them, with the name of a person who walks around; and three
that ask for all people, so that what is static is not narrowed by a name.

Elements come one by one, and each is answered before the next one is taken. After some updates to warm up, `--updates`
of them are measured: the median by the clock, and the processor time of all threads, which says more on a machine that
is doing something else too. Loading and the first answer, for which what is static is computed, are told apart.
`--check` ends with status 1 when an update takes more than twice as long with the largest graph as with the smallest.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from penstock import parse
from penstock.engines.duckdb import DuckDBEngine
from penstock.runtime.registry import Registry
from penstock.runtime.running import RunSettings, Standing
from penstock.sources.files import TntFile
from penstock.sources.graph_files import open_graph

PAPERS = Path(__file__).parent.parent / "tests" / "papers" / "cqels"
STREAM, FLOORPLAN = "http://deri.org/streams/rfid", "http://deri.org/floorplan/"
PERSON, PAPER = "http://example.org/person/", "http://example.org/paper/"
ROOMS, WALKERS, WARM_UP = 100, 50, 30
NAME = "Person 7"

EVERYONE = {
    "co-authors of all": """SELECT ?coAuthName WHERE {
        STREAM <http://deri.org/streams/rfid> [TRIPLES 1] {?auth lv:detectedAt ?loc}
        STREAM <http://deri.org/streams/rfid> [RANGE 5s] {?coAuth lv:detectedAt ?loc}
        ?paper dc:creator ?auth. ?paper dc:creator ?coAuth. ?coAuth foaf:name ?coAuthName
        FILTER (?auth != ?coAuth) }""",
    "names of all": """SELECT ?person ?name WHERE {
        STREAM <http://deri.org/streams/rfid> [NOW] {?person lv:detectedAt ?loc} ?person foaf:name ?name }""",
    "no paper": """SELECT ?person ?title WHERE {
        STREAM <http://deri.org/streams/rfid> [NOW] {?person lv:detectedAt ?loc}
        OPTIONAL { ?paper dc:creator ?person. ?paper dc:title ?title }
        FILTER NOT EXISTS { ?proceeding swrc:editor ?person } }""",
}


class Figures(NamedTuple):
    load: float
    first: float
    update: float
    processor: float
    solutions: int


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--triples", type=int, nargs="+", default=[10**4, 10**5, 10**6], help="sizes of the graph")
    options.add_argument("--updates", type=int, default=200, help="how many updates are measured")
    options.add_argument("--check", action="store_true", help="exit status 1 when an update takes twice as long")
    given = options.parse_args()
    found: dict[int, dict[str, Figures]] = {}
    with tempfile.TemporaryDirectory() as folder:
        stream, floorplan = written_stream(Path(folder), given.updates + WARM_UP), written_floorplan(Path(folder))
        for triples in given.triples:
            graph = written_graph(Path(folder), triples)
            found[triples] = {name: measured(text, stream, graph, floorplan) for name, text in queries().items()}
            graph.unlink()
            show(triples, found[triples])
    return compare(found, given.check)


def queries() -> dict[str, str]:
    prefixes = json.loads((PAPERS / "prefixes.json").read_text())
    header = "".join(f"PREFIX {prefix}: <{iri}>\n" for prefix, iri in prefixes.items())
    files = [path for path in sorted(PAPERS.glob("q*.rq")) if ".misprint" not in path.name]
    listed = {path.name[:2].upper(): path.read_text().replace("$Name$", NAME) for path in files}
    return {name: header + text for name, text in {**listed, **EVERYONE}.items()}


def measured(text: str, stream: Path, graph: Path, floorplan: Path) -> Figures:
    engine = DuckDBEngine()
    began = time.perf_counter()
    engine.load_graph(None, open_graph(graph, scope="papers"))
    engine.load_graph(FLOORPLAN, open_graph(floorplan, scope="rooms"))
    loaded = time.perf_counter()
    run = Registry(engine, [Standing(parse(text))], {STREAM: TntFile(stream, "rfid", 1)}, RunSettings(is_prompt=True))
    took: list[float] = []
    solutions, processor = 0, 0.0
    before = loaded
    for number, evaluation in enumerate(run.evaluations()):
        now = time.perf_counter()
        took.append(now - before)
        before = now
        solutions += len(evaluation.rows or evaluation.triples or ())
        if number == WARM_UP:
            processor = time.process_time()
    updates = took[WARM_UP:]
    processor = (time.process_time() - processor) / len(updates)
    engine.close()
    return Figures(loaded - began, took[0], statistics.median(updates), processor, solutions)


def show(triples: int, figures: dict[str, Figures]) -> None:
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(f"\n{triples:,} triples; at most {memory:.1f} GiB of memory so far")
    print(f"{'':18} {'load s':>8} {'first s':>8} {'update ms':>10} {'processor ms':>13} {'solutions':>10}")
    for name, (load, first, update, processor, solutions) in figures.items():
        print(f"{name:18} {load:8.2f} {first:8.2f} {update * 1000:10.2f} {processor * 1000:13.2f} {solutions:10}")


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
    return int(check and worst > 2)


def written_stream(folder: Path, elements: int) -> Path:
    chance = random.Random(7)
    path = folder / "rfid.tnt"
    lines = (
        f"<{PERSON}{chance.randrange(WALKERS)}> <{FLOORPLAN}detectedAt> <{FLOORPLAN}room{chance.randrange(ROOMS)}> "
        f'"{(second + 1) * 1000}" .\n'
        for second in range(elements)
    )
    path.write_text("".join(lines))
    return path


def written_floorplan(folder: Path) -> Path:
    path = folder / "floorplan.nt"
    with path.open("w") as file:
        for room in range(ROOMS):
            subject = f"<{FLOORPLAN}room{room}>"
            file.write(f'{subject} <{FLOORPLAN}name> "Room {room}" .\n{subject} <{FLOORPLAN}desc> "A room" .\n')
            for step in (1, 7, 13):
                file.write(f"{subject} <{FLOORPLAN}connected> <{FLOORPLAN}room{(room + step) % ROOMS}> .\n")
    return path


def written_graph(folder: Path, triples: int) -> Path:
    path = folder / f"papers-{triples}.nt"
    with path.open("w") as file:
        file.writelines(graph_lines(triples))
    return path


def graph_lines(triples: int) -> Iterator[str]:
    """Papers with what SP2Bench says of them, and people: those who walk around write as much as any other."""
    chance = random.Random(11)
    people = max(triples // 6, WALKERS)
    dc, terms = "http://purl.org/dc/elements/1.1/", "http://purl.org/dc/terms/"
    for person in range(people):
        yield f'<{PERSON}{person}> <http://xmlns.com/foaf/0.1/name> "Person {person}" .\n'
    left, paper = triples - people, 0
    while left > 0:
        subject, proceeding = f"<{PAPER}{paper}>", f"<{PAPER}proceeding{paper // 30}>"
        yield f'{subject} <{dc}title> "On subject {paper}" .\n'
        yield f"{subject} <{terms}partOf> {proceeding} .\n"
        yield f'{subject} <{terms}issued> "{1950 + paper % 60}"^^<http://www.w3.org/2001/XMLSchema#integer> .\n'
        creators = {chance.randrange(people) for _ in range(chance.randint(1, 4))}
        yield from (f"{subject} <{dc}creator> <{PERSON}{creator}> .\n" for creator in sorted(creators))
        if paper % 30 == 0:
            yield f"{proceeding} <http://swrc.ontoware.org/ontology#editor> <{PERSON}{chance.randrange(people)}> .\n"
        left, paper = left - 3 - len(creators) - (paper % 30 == 0), paper + 1


if __name__ == "__main__":
    sys.exit(main())
