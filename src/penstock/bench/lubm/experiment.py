"""Groppe, Groppe, Kukulenz and Linnemann (2007), Figures 7 to 9: the 14 queries of LUBM over generated universities.

The queries are SPARQL over a stream: Penstock reads timestamped N-Triples, one resource per millisecond, and emits each
solution once. It is measured over a file, on each engine, and `as it comes`: the same lines arrive through a pipe and
are answered as they arrive, so that first results appear early. The other systems have no streams: they load all
triples, from N-Triples without timestamps, into memory and then evaluate the query. The clock runs from the text of the
query and the files to the first and to the last row. All systems take turns, and the best round of each counts; answers
are compared first. Jena runs as a process, including the start of Java; `penstock run`, including the start of Python,
is measured for comparison.

The queries of LUBM expect inference, so the generator also writes the triples that follow from the ontology
(vocabulary.py). The full data is one university, with --scale N one to N; with --quick, a university of three
departments. rdflib and Jena get one department and are compared with Penstock over the same data. Spark runs all
queries at full size, and two with --quick. rdflib does not run Q9, which would take minutes.
"""

from __future__ import annotations

import re
import statistics
import time
from collections import Counter
from collections.abc import Callable, Iterable
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from penstock.bench.answers import Answer, AnswerMismatchError, compare
from penstock.bench.context import ExperimentContext
from penstock.bench.data_files import write_once
from penstock.bench.lubm.generator import write_universities
from penstock.bench.lubm.systems import Command, FilePenstock, Jena, LivePenstock, Pyoxigraph, Rdflib, System
from penstock.bench.peers.commands import PeerError
from penstock.bench.peers.selection import JENA
from penstock.bench.results import Axis, Cell, Figure, Panel, Result, Series, Table, faster_ones, times_as_long
from penstock.bench.systems import SPARK

QUERIES = sorted(Path(__file__).with_name("queries").glob("*.rq"))
ON_SPARK_QUICKLY = ("Q1", "Q14")
TOO_LONG_FOR_RDFLIB = ("Q9",)
FEW_DEPARTMENTS = 3
COLUMNS = ("data", "query", "rows", "system", "first [s]", "last [s]", "last ÷ Penstock's", "beside Penstock")
AVERAGES = (
    "data",
    "triples",
    "system",
    "queries",
    "mean first [s]",
    "mean last [s]",
    "mean last ÷ Penstock's",
    "beside Penstock",
)

_TIMESTAMP = re.compile(r' "\d+" \.$')


class Taken(NamedTuple):
    """Seconds to the first row (to the end if there is none) and to the last row."""

    first: float
    last: float


class Data(NamedTuple):
    name: str
    stream: Path
    triples: Path
    size: int


def run(context: ExperimentContext) -> Result:
    rows: list[tuple[Cell, ...]] = []
    averages: list[tuple[Cell, ...]] = []
    ratios: list[tuple[str, float]] = []
    figures: list[Figure] = []
    for data, systems in _plan(context):
        times = {_name(query): _measured(context, query, data, systems) for query in QUERIES}
        own = systems[0].name
        for query, (count, taken) in times.items():
            for who, (first, last) in taken.items():
                ratio = last / taken[own].last
                words = "" if who == own else times_as_long(ratio)
                rows.append((data.name, query, count, who, first, last, ratio, words))
        for line in _averages(data, own, {query: taken for query, (_, taken) in times.items()}):
            averages.append(line)
            if not str(line[2]).lower().startswith("penstock"):
                ratios.append((f"{line[2]} over {data.name}, on average", float(line[6] or 0)))
        figures.append(_figure(data, len(figures), {query: taken for query, (_, taken) in times.items()}))
    return Result(
        (
            Table("LUBM, averages over the queries that a system was asked", AVERAGES, tuple(averages)),
            Table("LUBM, query by query", COLUMNS, tuple(rows)),
        ),
        tuple(figures),
        (faster_ones(ratios, own), *context.remarks),
    )


def _plan(context: ExperimentContext) -> Iterable[tuple[Data, list[System]]]:
    """The data sets and the systems for each; systems are compared with the first one."""
    own: list[System] = [FilePenstock(penstock) for penstock in context.systems()]
    if "duckdb" in context.engines:
        own.insert(1, LivePenstock())
    if context.is_quick:
        few = context.size(FEW_DEPARTMENTS, FEW_DEPARTMENTS)
        yield _data(context, f"{few} departments", 1, few), [*own, Pyoxigraph()]
    else:
        for universities in range(1, context.size(1, 1) + 1):
            name = f"{universities} {'university' if universities == 1 else 'universities'}"
            yield _data(context, name, universities, None), [*own, Pyoxigraph()]
    slow: list[System] = []
    if find_spec("rdflib") is None:
        context.remark("rdflib was skipped: it is not installed (pip install rdflib).")
    else:
        slow.append(Rdflib())
    if JENA in context.peers:
        slow += [Jena(context.peers[JENA]), Command()]
    else:
        context.remark("Jena was skipped: --peer jena=PATH names its command arq.")
    if slow:
        yield _data(context, "1 department", 1, 1), [own[0], *slow]


def _data(context: ExperimentContext, name: str, universities: int, departments: int | None) -> Data:
    context.say(f"{name}: writing data")
    stream = write_universities(context.folder, universities, departments)
    with stream.open() as lines:
        triples = write_once(stream.with_suffix(".nt"), (_TIMESTAMP.sub(" .", line) for line in lines))
    with triples.open() as lines:
        return Data(name, stream, triples, sum(1 for _ in lines))


def _measured(
    context: ExperimentContext, query: Path, data: Data, systems: list[System]
) -> tuple[int, dict[str, Taken]]:
    """The number of rows, and the times of the systems whose answers equal the first one's."""
    context.say(f"{data.name}, {_name(query)}")
    asked = [system for system in systems if _is_asked(context, system, query)]
    expected = _answer(systems[0], query, data)
    best: dict[str, Taken] = {}
    for place in range(context.repeats(3, 1)):
        for system in asked:
            try:
                if place == 0 and system is not systems[0]:
                    compare(system.name, _answer(system, query, data), expected)
                elif system is not systems[0] and system.name not in best:
                    continue
                taken = _taken(system, query, data)
            except (AnswerMismatchError, PeerError) as error:
                context.remark(f"{system.name} is not timed at {_name(query)}: {error}.")
                continue
            best[system.name] = Taken(*map(min, best.get(system.name, taken), taken))
    return sum(rows.total() for rows in expected.values()), best


def _is_asked(context: ExperimentContext, system: System, query: Path) -> bool:
    if system.name == Rdflib().name and _name(query) in TOO_LONG_FOR_RDFLIB:
        context.remark(
            f"rdflib skipped {_name(query)}: it crosses all students, teachers and courses, which takes minutes."
        )
        return False
    return not context.is_quick or system.name != SPARK or _name(query) in ON_SPARK_QUICKLY


def _answer(system: System, query: Path, data: Data) -> Answer:
    """All rows as the rows of one instant, because systems without streams have no instants."""
    rows = (row for portion in system.portions(query, data.stream, data.triples) for row in system.as_terms(portion))
    return {0: Counter(rows)}


def _taken(system: System, query: Path, data: Data) -> Taken:
    began = time.perf_counter()
    first = None
    for portion in system.portions(query, data.stream, data.triples):
        if first is None and portion:
            first = time.perf_counter() - began
    last = time.perf_counter() - began
    return Taken(last if first is None else first, last)


def _averages(data: Data, own: str, times: dict[str, dict[str, Taken]]) -> Iterable[tuple[Cell, ...]]:
    for who in dict.fromkeys(who for taken in times.values() for who in taken):
        both = [(taken[who], taken[own]) for taken in times.values() if who in taken]
        first, last = (statistics.fmean(theirs[place] for theirs, _ in both) for place in (0, 1))
        ratio = last / statistics.fmean(ours.last for _, ours in both)
        words = "" if who == own else times_as_long(ratio)
        yield data.name, data.size, who, len(both), first, last, ratio, words


def _figure(data: Data, number: int, times: dict[str, dict[str, Taken]]) -> Figure:
    systems = list(dict.fromkeys(who for taken in times.values() for who in taken))

    def bars(figure: Callable[[Taken], float]) -> tuple[Series, ...]:
        return tuple(
            Series(who, tuple((query, figure(taken[who])) for query, taken in times.items() if who in taken))
            for who in systems
        )

    queries = Axis("query of LUBM")
    panels = (
        Panel("first result", queries, Axis("time [s]", is_logarithmic=True), bars(lambda taken: taken.first), "bars"),
        Panel("last result", queries, Axis("time [s]", is_logarithmic=True), bars(lambda taken: taken.last), "bars"),
    )
    title = f"LUBM, {data.name} ({data.size:,} triples): time to the first and to the last result"
    return Figure(f"lubm-{number + 1}", title, panels)


def _name(query: Path) -> str:
    return f"Q{int(query.stem[1:])}"
