"""Tollgates: triples per second, compared with other systems.

A stream of passages, one triple a millisecond of event time, joined with a static graph of the gates' districts; three
queries. The clock runs from the text of the query and the files to all rows. It includes parsing, planning and starting
the engine, but not Java: Spark's session has answered a short stream before. All systems take turns; the best round of
each counts. Slow peers run once, over a shorter stream, and are compared with Penstock over the same stream.

Before any time is measured, all answers over a short stream are compared with Penstock's. pyoxigraph is queried window
by window, and its store is filled in the fastest of three ways for each query. The join order of Oxigraph depends on
the text of the query: for `pyoxigraph, by hand` the patterns are in the best order. `penstock run` is the command on
DuckDB, including its start and its result lines; peers that are commands are measured the same way.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TypeVar

from penstock.bench.answers import Answer, AnswerMismatchError, compare
from penstock.bench.context import ExperimentContext
from penstock.bench.peers import SHORT, Peer, answer_of_peer
from penstock.bench.peers.commands import PeerError
from penstock.bench.peers.pyoxigraph_windows import WAYS, PyoxigraphWindows
from penstock.bench.peers.selection import window_peers
from penstock.bench.results import Axis, Cell, Figure, Panel, Result, Series, Table, faster_ones, times_as_long
from penstock.bench.stopwatch import Time
from penstock.bench.systems import DataFiles, Penstock, run_command
from penstock.bench.tollgates.data import STREAM, write_districts, write_stream
from penstock.bench.tollgates.queries import PAIRS, PASSAGES, Query

TRIAL = 20_000
"""The number of triples for comparing answers and for finding the fastest way of pyoxigraph."""

WORKLOADS: dict[str, tuple[Query, str]] = {
    "COUNT, tumbling 10s": (PASSAGES, f"{PASSAGES.known} {PASSAGES.seen}"),
    "COUNT, RANGE 10s STEP 1s": (PASSAGES.over(10, 1), f"{PASSAGES.known} {PASSAGES.seen}"),
    "pairs, RANGE 10s STEP 5s": (
        PAIRS.over(10, 5),
        "?gate :district ?district . ?gate :registers ?car . ?other :registers ?car . ?other :district ?district . "
        "FILTER (?gate != ?other)",
    ),
}
"""The query, and its patterns in the order that suits pyoxigraph best."""

COMMAND = "penstock run"
COLUMNS = (
    "workload",
    "triples",
    "system",
    "wall [s]",
    "triples/s",
    "processor [s]",
    "time ÷ Penstock's",
    "beside Penstock",
)


def run(context: ExperimentContext) -> Result:
    triples, rounds = context.size(500_000, 100_000), context.repeats(3, 2)
    rows: list[tuple[Cell, ...]] = []
    ratios: list[tuple[str, float]] = []
    bars: dict[str, list[tuple[str, float]]] = {}
    own = ""
    for name, (query, patterns) in WORKLOADS.items():
        context.say(f"{name}: comparing answers")
        workload = _Workload(context, name, query, patterns)
        for length, ways in workload.ways(triples).items():
            taken_by = context.measure(ways, rounds if length == triples else 1)
            times = {who: taken for who, taken in taken_by.items() if who not in workload.failed}
            own = next(iter(times))
            for who, taken in times.items():
                ratio = taken.wall / times[own].wall
                rows.append((name, length, who, *_figures(taken, length), *_compared(who, own, ratio)))
                if who != own:
                    ratios.append((f"{who} at {name}", ratio))
                if who != own or length == triples:
                    bars.setdefault(who, []).append((_broken(name), length / taken.wall))
    series = tuple(Series(who, tuple(points)) for who, points in bars.items())
    shown = f"over {triples:,} triples" + (f", slow peers over {SHORT:,}" if triples > SHORT else "")
    panel = Panel(shown, Axis("query"), Axis("triples per second", is_logarithmic=True), series, "bars")
    peers_only = [(who, ratio) for who, ratio in ratios if not who.startswith(("Penstock", COMMAND))]
    return Result(
        (Table("Triples a second; times are wall times, best of the rounds", COLUMNS, tuple(rows)),),
        (Figure("throughput", "Tollgates: how many triples a second each system answers", (panel,)),),
        (faster_ones(peers_only, own), *context.remarks),
    )


def _figures(taken: Time, triples: int) -> tuple[Cell, ...]:
    return taken.wall, round(triples / taken.wall), taken.processor


def _compared(who: str, own: str, ratio: float) -> tuple[Cell, ...]:
    return ratio, "" if who == own else times_as_long(ratio)


def _broken(name: str) -> str:
    return name.replace(", ", ",\n")


Some = TypeVar("Some", bound=Peer)


class _Workload:
    """A query, the systems whose answers to it are the same, and how they are run over streams of several lengths."""

    def __init__(self, context: ExperimentContext, name: str, query: Query, patterns: str) -> None:
        self.context, self.name, self.query = context, name, query
        self.graph = write_districts(context.folder)
        self.trial = self._stream(TRIAL)
        self.systems = context.systems()
        self._answers: dict[int, Answer] = {}
        self.failed: set[str] = set()
        """Peers that gave an answer, and then, when they were timed, none."""
        self.peers = self._trustworthy([PyoxigraphWindows(way) for way in WAYS])
        self.by_hand = [PyoxigraphWindows(peer.way, query.reordered(patterns)) for peer in self.peers]
        self.others = self._trustworthy(window_peers(context))

    def ways(self, triples: int) -> dict[int, dict[str, Callable[[], object]]]:
        """By the length of the stream; what others are compared with comes first."""
        chosen: list[Peer] = [self._quickest(peers) for peers in (self.peers, self.by_hand) if peers]
        lengths = {triples: self._own(triples, self.systems)}
        for peer in [*chosen, *self.others]:
            length = min(triples, peer.most_triples or triples)
            ways = lengths.setdefault(length, self._own(length, self.systems[:1]))
            ways[peer.name] = partial(self._run, peer, self._stream(length))
        if "duckdb" in self.context.engines:
            lengths[triples][COMMAND] = partial(self._command, self._stream(triples))
        return lengths

    def _run(self, peer: Peer, stream: Path) -> None:
        if peer.name in self.failed:
            return
        try:
            peer.run(self.query.asked, stream, self.graph)
        except PeerError as error:
            self.failed.add(peer.name)
            self.context.remark(f"{peer.name} was skipped at {self.name}: {error}.")

    def _own(self, length: int, systems: list[Penstock]) -> dict[str, Callable[[], object]]:
        inputs = self._inputs(self._stream(length))
        return {system.name: partial(system.run, self.query.rspql, inputs) for system in systems}

    def _trustworthy(self, peers: Sequence[Some]) -> list[Some]:
        """Those that answer as Penstock does."""
        trusted: list[Some] = []
        for peer in peers:
            length = min(TRIAL, peer.most_triples or TRIAL)
            expected = self._expected(length)
            self.context.say(f"comparing {peer.name}")
            try:
                compare(peer.name, answer_of_peer(peer, self.query.asked, self._stream(length), self.graph), expected)
                trusted.append(peer)
            except (AnswerMismatchError, PeerError) as error:
                self.context.remark(f"{peer.name} is not timed at {self.name}: {error}.")
        return trusted

    def _expected(self, length: int) -> Answer:
        """Penstock's answer, which is the same on all engines. Raises AnswerMismatchError where it is not."""
        if length not in self._answers:
            inputs = self._inputs(self._stream(length))
            first, *others = [(system.name, system.answer(self.query.rspql, inputs)) for system in self.systems]
            for name, answer in others:
                compare(name, answer, first[1])
            self._answers[length] = first[1]
        return self._answers[length]

    def _quickest(self, peers: list[PyoxigraphWindows]) -> PyoxigraphWindows:
        ways = {
            f"{peer.name}, by {peer.way}": partial(peer.run, self.query.asked, self.trial, self.graph) for peer in peers
        }
        times = self.context.measure(ways, 1)
        return min(peers, key=lambda peer: times[f"{peer.name}, by {peer.way}"].processor)

    def _stream(self, length: int) -> Path:
        return write_stream(self.context.folder, "passages", length)

    def _inputs(self, stream: Path) -> DataFiles:
        return DataFiles({STREAM: stream}, {None: self.graph})

    def _command(self, stream: Path) -> None:
        text, out = self.context.folder / "query.rq", self.context.folder / "answers.jsonl"
        text.write_text(self.query.rspql)
        asked = [str(text), "--engine", "duckdb", "--stream", f"{STREAM}={stream}", "--graph", str(self.graph)]
        run_command([*asked, "--out", str(out)])
