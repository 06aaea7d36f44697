"""Queries that used to be slower than pyoxigraph, or to take more memory than they should.

    python benchmarks/cliffs.py                    # all of them
    python benchmarks/cliffs.py "OPTIONAL" --check # those whose names contain a text

How it is measured. Each query has its own stream and runs once on the embedded engine and once on pyoxigraph, in
separate processes. Both read the same file and compute every answer. The time begins after all imports and ends with
the last answer. pyoxigraph runs the query at each evaluation instant. It has one store: triples are added when they
enter the window and removed when they leave it. If windows overlap by half or less, each window gets a new store, which
is faster. With ISTREAM its answer is compared with the previous one, as sets. `ratio` is Penstock's time divided by
pyoxigraph's. `CPU` is the same ratio for the processor time of all cores, which is less sensitive to other programs.
`memory` is the peak of Penstock's process. `rows` must be equal on both sides. `--check` exits with status 1 if a ratio
is above 1 or a peak is above 1 GB.

"""

from __future__ import annotations

import argparse
import json
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pyoxigraph import Quad, QuerySolutions, RdfFormat, Store, parse

from penstock.bench.peers import WindowQuery
from penstock.bench.peers.pyoxigraph_windows import PyoxigraphWindows
from penstock.bench.systems import DataFiles, Penstock

STREAM = "http://example.org/stream"
PREFIXES = "PREFIX : <http://example.org/>\n"
MOST_MEGABYTES = 1024

Line = tuple[str, str, str, int]
"""Subject, predicate, object, and the timestamp in milliseconds."""


def readings(count: int, gap: int, things: int = 100) -> Iterator[Line]:
    """`things` that report a value each, one every `gap` milliseconds."""
    chance = random.Random(1)
    for place in range(count):
        yield f":thing{chance.randrange(things)}", ":value", str(chance.randrange(1_000_000)), (place + 1) * gap


def values_and_limits(count: int, gap: int) -> Iterator[Line]:
    chance = random.Random(2)
    for place in range(count):
        kind, least = (":value", 0) if place % 2 else (":limit", 9_000)
        yield f":thing{place % 1000}", kind, str(least + chance.randrange(10_000)), (place + 1) * gap


def values_or_limits(count: int, gap: int, things: int) -> Iterator[Line]:
    """A value or a limit of one of some `things`, one every `gap` milliseconds."""
    chance = random.Random(4)
    for place in range(count):
        number = str(chance.randrange(1_000_000))
        yield f":thing{chance.randrange(things)}", chance.choice((":value", ":limit")), number, (place + 1) * gap


def places_of_things(things: int) -> Iterator[Line]:
    """A graph, so its timestamps do not count."""
    for thing in range(things):
        yield f":thing{thing}", ":in", f":place{thing % 10}", 0


def observations(count: int) -> Iterator[Line]:
    """Seven triples about each of them; one in ten is missing."""
    chance = random.Random(3)
    for place in range(count):
        moment = (place + 1) * 2
        yield f":o{place}", ":by", f":sensor{chance.randrange(500)}", moment
        for letter in "abcdef":
            if chance.random() < 0.9:
                yield f":o{place}", f":{letter}", str(chance.randrange(1000)), moment


@dataclass(frozen=True, slots=True)
class Workload:
    """`pattern` and `head` make the query. With `step` None it is evaluated as each element arrives (CQELS).

    `static` is a pattern over the default graph, which `graph` makes.
    """

    name: str
    head: str
    pattern: str
    width: int
    step: int | None
    lines: Callable[[], Iterator[Line]]
    tail: str = ""
    operator: Literal["rstream", "istream"] = "rstream"
    static: str = ""
    graph: Callable[[], Iterator[Line]] = lambda: iter(())

    @property
    def text(self) -> str:
        if self.step is None:
            window = f"STREAM <{STREAM}> [RANGE {self.width}ms] {{ {self.pattern} }} {self.static}"
            return f"{PREFIXES}SELECT {self.head} WHERE {{ {window} }} {self.tail}"
        window = f"[RANGE {self.width}ms STEP {self.step}ms]"
        return f"{PREFIXES}SELECT {self.head} FROM STREAM <{STREAM}> {window} WHERE {{ {self.pattern} }} {self.tail}"

    @property
    def sparql(self) -> str:
        pattern = f"{self.pattern} . {self.static}" if self.static else self.pattern
        return f"{PREFIXES}SELECT {self.head} WHERE {{ {pattern} }} {self.tail}"


def _arriving() -> Iterator[Line]:
    return readings(200_000, 10)


def _arriving_pairs() -> Iterator[Line]:
    return values_or_limits(200_000, 10, 10)


_BY_THING = "GROUP BY ?thing"
_OPTIONALS = " ".join(f"OPTIONAL {{ ?o :{letter} ?{letter} }}" for letter in "abcdef")
_BEST = "{ SELECT ?thing ?value { ?thing :value ?value } ORDER BY DESC(?value) LIMIT 3 }"
_MEAN = "{ SELECT (AVG(?v) AS ?mean) { ?t :value ?v } } ?thing :value ?value"
WORKLOADS = (
    Workload(
        "product by FILTER",
        "?x ?y",
        "?x :value ?a . ?y :limit ?b FILTER(?a > ?b)",
        10_000,
        5_000,
        lambda: values_and_limits(40_000, 10),
    ),
    Workload("six OPTIONALs", "*", f"?o :by ?s {_OPTIONALS}", 10_000, 10_000, lambda: observations(220_000)),
    Workload("six OPTIONALs, sliding", "*", f"?o :by ?s {_OPTIONALS}", 10_000, 5_000, lambda: observations(110_000)),
    Workload(
        "GROUP_CONCAT, 300:1",
        '?thing (GROUP_CONCAT(?value; SEPARATOR=" ") AS ?values)',
        "?thing :value ?value",
        300_000,
        1_000,
        lambda: readings(20_000, 100),
        "GROUP BY ?thing",
    ),
    Workload("sub-select with LIMIT, 300:1", "*", _BEST, 300_000, 1_000, lambda: readings(20_000, 100)),
    Workload(
        "sub-select with AVG, 300:1",
        "?thing ?value",
        f"{_MEAN} FILTER(?value > ?mean + 490000)",
        300_000,
        1_000,
        lambda: readings(20_000, 100),
    ),
    Workload(
        "MAX on arrival",
        "(MAX(?value) AS ?greatest)",
        "?thing :value ?value",
        60_000,
        None,
        lambda: readings(20_000, 100),
    ),
    Workload(
        "MAX on arrival, by thing",
        "?thing (MAX(?value) AS ?greatest)",
        "?thing :value ?value",
        60_000,
        None,
        lambda: readings(20_000, 100),
        "GROUP BY ?thing",
    ),
    Workload("arrival, few rows", "*", "?thing :value ?value FILTER(?value > 990000)", 100, None, _arriving),
    Workload(
        "arrival, few rows of 1,000", "*", "?thing :value ?value FILTER(?value > 990000)", 10_000, None, _arriving
    ),
    Workload("arrival, all rows", "*", "?thing :value ?value", 100, None, _arriving),
    Workload("arrival, all rows of 100", "*", "?thing :value ?value", 1_000, None, _arriving),
    Workload("arrival, ISTREAM", "*", "?thing :value ?value", 1_000, None, _arriving, operator="istream"),
    Workload("arrival, join", "*", "?thing :value ?value . ?thing :limit ?limit", 100, None, _arriving_pairs),
    Workload(
        "arrival, OPTIONAL", "*", "?thing :value ?value OPTIONAL { ?thing :limit ?limit }", 100, None, _arriving_pairs
    ),
    Workload("arrival, COUNT", "(COUNT(*) AS ?n)", "?thing :value ?value", 100, None, _arriving),
    Workload(
        "arrival, COUNT by thing", "?thing (COUNT(*) AS ?n)", "?thing :value ?value", 1_000, None, _arriving, _BY_THING
    ),
    Workload(
        "arrival, ISTREAM of COUNT",
        "?thing (COUNT(*) AS ?n)",
        "?thing :value ?value",
        1_000,
        None,
        _arriving,
        _BY_THING,
        operator="istream",
    ),
    Workload(
        "arrival, SUM by thing",
        "?thing (SUM(?value) AS ?total)",
        "?thing :value ?value",
        100,
        None,
        _arriving,
        _BY_THING,
    ),
    Workload(
        "arrival, MAX by thing",
        "?thing (MAX(?value) AS ?greatest)",
        "?thing :value ?value",
        100,
        None,
        _arriving,
        _BY_THING,
    ),
    Workload(
        "arrival, static join",
        "*",
        "?thing :value ?value",
        1_000,
        None,
        _arriving,
        static="?thing :in ?place",
        graph=lambda: places_of_things(100),
    ),
)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("names", nargs="*", help="parts of names; without any, all are measured")
    parser.add_argument("--check", action="store_true", help="status 1 when a target is missed")
    parser.add_argument("--side", choices=SIDES, help=argparse.SUPPRESS)
    parser.add_argument("--stream", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    chosen = [w for w in WORKLOADS if not arguments.names or any(name in w.name for name in arguments.names)]
    if arguments.side is not None:
        (workload,) = (w for w in WORKLOADS if w.name == arguments.names[0])
        print(json.dumps(measured(arguments.side, workload, arguments.stream)))
        return
    print(f"{'':32}{'Penstock':>10}{'pyoxigraph':>12}{'ratio':>8}{'CPU':>8}{'memory':>10}{'rows':>12}")
    are_met = True
    with tempfile.TemporaryDirectory() as folder:
        for workload in chosen:
            stream = written(workload, Path(folder))
            ours, theirs = (in_a_process(side, workload, stream) for side in SIDES)
            ratio = ours["seconds"] / theirs["seconds"]
            are_equal = ours["rows"] == theirs["rows"]
            rows = f"{ours['rows']:,}" if are_equal else f"{ours['rows']:,} != {theirs['rows']:,}"
            times = f"{ours['seconds']:9.1f}s{theirs['seconds']:11.1f}s{ratio:8.2f}{ours['cpu'] / theirs['cpu']:8.2f}"
            print(f"{workload.name:32}{times}{ours['megabytes']:8.0f}MB{rows:>12}", flush=True)
            are_met &= are_equal and ratio <= 1 and ours["megabytes"] <= MOST_MEGABYTES
    if arguments.check and not are_met:
        sys.exit(1)


def written(workload: Workload, folder: Path) -> Path:
    path = folder / f"{WORKLOADS.index(workload)}.tnt"
    with path.open("w") as file:
        for *triple, moment in workload.lines():
            file.write(f'{" ".join(map(_term, triple))} "{moment}" .\n')
    with _graph_of(path).open("w") as file:
        for *triple, _ in workload.graph():
            file.write(f"{' '.join(map(_term, triple))} .\n")
    return path


def _graph_of(stream: Path) -> Path:
    return stream.with_suffix(".nt")


def _term(text: object) -> str:
    if isinstance(text, str) and text.startswith(":"):
        return f"<http://example.org/{text[1:]}>"
    return f'"{text}"^^<http://www.w3.org/2001/XMLSchema#integer>'


def in_a_process(side: str, workload: Workload, stream: Path) -> dict[str, float]:
    command = [sys.executable, __file__, workload.name, "--side", side, "--stream", str(stream)]
    found: dict[str, float] = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    return found


def measured(side: str, workload: Workload, stream: Path) -> dict[str, float]:
    began, cpu_before = time.perf_counter(), time.process_time()
    rows = SIDES[side](workload, stream)
    seconds, cpu = time.perf_counter() - began, time.process_time() - cpu_before
    megabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {"seconds": seconds, "cpu": cpu, "megabytes": megabytes, "rows": rows}


def on_penstock(workload: Workload, stream: Path) -> int:
    operator = {"operator": workload.operator} if workload.step is None else {}
    return Penstock().run(workload.text, DataFiles({STREAM: stream}, {None: _graph_of(stream)}), **operator)


def on_pyoxigraph(workload: Workload, stream: Path) -> int:
    if workload.step is None:
        return sum(_on_arrival(workload, stream))
    asked = WindowQuery("", workload.sparql, (), workload.width, workload.step)
    way = "text" if 2 * workload.step >= workload.width else "changes"
    return sum(len(rows) for _, rows in PyoxigraphWindows(way).evaluate(asked, stream, _graph_of(stream)))


def _on_arrival(workload: Workload, stream: Path) -> Iterator[int]:
    """How many rows there are each time. No triple comes twice while it is in the window.

    A store in memory still goes through what was removed from it, so there is a new one whenever that is more than
    what is in the window.
    """
    lines = [line.rsplit(' "', 1) for line in stream.read_text().splitlines()]
    times = [int(moment[:-3]) for _, moment in lines]
    quads = list(parse(" .\n".join(text for text, _ in lines) + " .", RdfFormat.N_TRIPLES))
    graph = list(parse(path=_graph_of(stream), format=RdfFormat.N_TRIPLES))
    store = _store(graph)
    first, removed = 0, 0
    before: set[tuple[object, ...]] = set()
    for place, (quad, moment) in enumerate(zip(quads, times, strict=True)):
        store.add(quad)
        while times[first] <= moment - workload.width:
            store.remove(quads[first])
            first, removed = first + 1, removed + 1
        if removed > place - first + 1:
            store, removed = _store([*graph, *quads[first : place + 1]]), 0
        solutions = store.query(workload.sparql)
        assert isinstance(solutions, QuerySolutions)
        if workload.operator == "rstream":
            yield sum(1 for _ in solutions)
        else:
            now = {tuple(solution) for solution in solutions}
            yield len(now - before)
            before = now


def _store(quads: Sequence[Quad]) -> Store:
    store = Store()
    store.extend(quads)
    return store


SIDES: dict[str, Callable[[Workload, Path], int]] = {"penstock": on_penstock, "pyoxigraph": on_pyoxigraph}


if __name__ == "__main__":
    main()
