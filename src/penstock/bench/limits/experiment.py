"""Tollgates: how far Penstock is from SQL on DuckDB that is written by hand for one query.

2 million passages (with --quick, 200,000), 1,000 per second of event time, joined with a static graph of gates, streets
and districts; three queries. Before any time is measured, all answers over a shorter stream are compared.

text to answer: from the files to a file with the answer, including the start of the process. `penstock run` writes
result lines. By hand, DuckDB reads the stream with its own CSV reader, a blank between two columns, and writes rows as
JSON. pyoxigraph fills a new store for each window from the text of the stream; the start of its process does not count.
It gets a tenth of the stream, and systems are compared by triples per second.

evaluation: the rows are in memory, as Arrow tables, and the answer stays in columns. The process has started.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from pyoxigraph import Literal, NamedNode

from penstock.bench.answers import Answer, compare
from penstock.bench.context import ExperimentContext
from penstock.bench.limits import by_hand
from penstock.bench.limits.data import STREAM, write_passages, write_streets
from penstock.bench.limits.queries import WORKLOADS, Workload
from penstock.bench.peers import answer_of_peer
from penstock.bench.peers.pyoxigraph_windows import PyoxigraphWindows
from penstock.bench.results import Axis, Cell, Figure, Panel, Result, Series, Table
from penstock.bench.stopwatch import Time
from penstock.bench.systems import DUCKDB, DataFiles, Penstock, run_command
from penstock.engines.duckdb.store import DuckDBStore
from penstock.rdf.elements import Node, Row
from penstock.runtime.queries import QuerySpec
from penstock.runtime.run import Run
from penstock.runtime.source_intake import SourceIntake
from penstock.sources import open_source
from penstock.sources.batches import Batch, Position, Source
from penstock.sources.graph_files import open_graph
from penstock.sources.graphs import Graph
from penstock.syntax import parse

TRIAL = 40_000
"""The number of triples for comparing answers."""

COMMAND, BY_HAND, OXIGRAPH = "penstock run", "SQL by hand", "pyoxigraph"
COLUMNS = ("workload", "measured", "system", "triples", "wall [s]", "triples/s", "processor [s]", "time ÷ by hand")
_INTEGER = NamedNode("http://www.w3.org/2001/XMLSchema#integer")


def run(context: ExperimentContext) -> Result:
    triples, rounds = context.size(2_000_000, 200_000), context.repeats(3, 2)
    few = max(triples // 10, min(triples, TRIAL))
    graph = write_streets(context.folder)
    trial, stream, part = (write_passages(context.folder, count) for count in (TRIAL, triples, few))
    rows: list[tuple[Cell, ...]] = []
    bars: dict[str, list[tuple[str, float]]] = {}
    for workload in WORKLOADS:
        context.say(f"{workload.name}: comparing answers")
        _compare(workload, trial, graph, context.folder)
        whole = _texts(workload, stream, graph, context.folder)
        peer = {OXIGRAPH: partial(PyoxigraphWindows("text").run, workload.asked, part, graph)}
        times = context.measure(whole, rounds)
        found = [(who, triples, taken) for who, taken in times.items()]
        found += [(who, few, taken) for who, taken in context.measure(peer, 1).items()]
        alone = context.measure(_evaluations(workload, stream, graph), rounds)
        rows += _lines(workload, "text to answer", found)
        rows += _lines(workload, "evaluation", [(who, triples, taken) for who, taken in alone.items()])
        for who, count, taken in found:
            bars.setdefault(who, []).append((workload.name.partition(":")[0], count / taken.wall))
    series = tuple(Series(who, tuple(points)) for who, points in bars.items())
    panel = Panel("", Axis("query"), Axis("triples per second", is_logarithmic=True), series, "bars")
    return Result(
        (Table("From text to answer, and the evaluation alone; best of the rounds", COLUMNS, tuple(rows)),),
        (Figure("limits", "Tollgates: Penstock and SQL by hand, from text to answer", (panel,)),),
        tuple(context.remarks),
    )


def _lines(workload: Workload, measured: str, found: list[tuple[str, int, Time]]) -> Iterator[tuple[Cell, ...]]:
    each = {who: taken.wall / count for who, count, taken in found}
    for who, count, taken in found:
        speed = round(count / taken.wall)
        yield workload.name, measured, who, count, taken.wall, speed, taken.processor, each[who] / each[BY_HAND]


# Text to answer


def _texts(workload: Workload, stream: Path, graph: Path, folder: Path) -> dict[str, Callable[[], object]]:
    query = folder / "query.rq"

    def command() -> None:
        query.write_text(workload.text)
        files = ["--stream", f"{STREAM}={stream}", "--graph", str(graph), "--out", str(folder / "answers.jsonl")]
        run_command([str(query), "--engine", "duckdb", *files])

    return {COMMAND: command, BY_HAND: partial(_by_hand, workload, stream, graph, folder / "rows.jsonl")}


def _by_hand(workload: Workload, stream: Path, graph: Path, out: Path) -> None:
    arguments = [workload.statement, str(stream), str(graph), str(out)]
    subprocess.run([sys.executable, by_hand.__file__, *arguments], check=True)


def _compare(workload: Workload, stream: Path, graph: Path, folder: Path) -> None:
    """Raises AnswerMismatchError."""
    expected = Penstock().answer(workload.text, DataFiles({STREAM: stream}, {None: graph}))
    peer = answer_of_peer(PyoxigraphWindows("text"), workload.asked, stream, graph)
    compare(OXIGRAPH, peer, expected)
    out = folder / "rows.jsonl"
    _by_hand(workload, stream, graph, out)
    compare(BY_HAND, _answer_of_rows(out, workload.variables), expected)


def _answer_of_rows(path: Path, variables: tuple[str, ...]) -> Answer:
    answer: Answer = {}
    for line in path.read_text().splitlines():
        values = json.loads(line)
        row: Row = tuple(_term(values[name]) for name in sorted(variables))
        answer.setdefault(values["time"], Counter())[row] += 1
    return answer


def _term(value: str | int) -> Node:
    return NamedNode(value[1:-1]) if isinstance(value, str) else Literal(str(value), datatype=_INTEGER)


# Evaluation alone


@dataclass(frozen=True, slots=True)
class _InMemory:
    """A stream whose batches have been read."""

    name: str
    read: list[Batch]
    is_live: bool = False
    can_resume: bool = True

    def batches(self, position: Position | None = None) -> Iterator[Batch]:
        yield from self.read


def _evaluations(workload: Workload, stream: Path, graph: Path) -> dict[str, Callable[[], object]]:
    source = _InMemory("passages", list(open_source(stream, scope="passages").batches()))
    rows = by_hand.rows_of(str(stream))
    return {
        DUCKDB: partial(_evaluate, workload.text, source, open_graph(graph, scope="streets")),
        BY_HAND: partial(by_hand.evaluate, workload.statement, rows, str(graph)),
    }


def _evaluate(text: str, source: Source, graph: Graph) -> int:
    store = DuckDBStore()
    store.load_graph(None, graph)
    run = Run(store, SourceIntake(), [QuerySpec(parse(text), "answers")], {STREAM: source})
    found = sum(batch.bounds[which.stop] - batch.bounds[which.start] for batch, which in run.answers())
    store.close()
    return int(found)
