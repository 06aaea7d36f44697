"""Triples per second, beside pyoxigraph driven window by window."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path

from peers import pyoxigraph_windows as peer

from tollgate.data import STREAM, write_districts, write_stream
from tollgate.measuring import Target, Time, measure
from tollgate.queries import PAIRS, PASSAGES, Query
from tollgate.running import evaluations

TRIAL = 100_000
"""So many triples show which way of the peer is the best, and that its answers are Penstock's."""

WORKLOADS: dict[str, tuple[Query, str, float]] = {
    "COUNT, tumbling 10s": (PASSAGES, f"{PASSAGES.known} {PASSAGES.seen}", 4),
    "COUNT, RANGE 10s STEP 1s": (PASSAGES.over(10, 1), f"{PASSAGES.known} {PASSAGES.seen}", 25),
    "pairs, RANGE 10s STEP 5s": (
        PAIRS.over(10, 5),
        "?gate :district ?district . ?gate :registers ?car . ?other :registers ?car . ?other :district ?district . "
        "FILTER (?gate != ?other)",
        8,
    ),
}
"""The query, its patterns in the order that suits the peer best, and how many times the peer's speed is wanted."""

OWN, PEER, BY_HAND, COMMAND = "penstock", "pyoxigraph", "pyoxigraph, by hand", "penstock run"


def throughput(folder: Path, triples: int, rounds: int) -> tuple[str, list[Target]]:
    graph, stream = write_districts(folder), write_stream(folder, "passages", triples)
    trial = write_stream(folder, "passages", min(triples, TRIAL))
    lines = [f"{'':26}{'':22}{'way':>9}{'wall':>10}{'triples/s':>12}{'ratio':>8}{'processor':>12}{'ratio':>8}"]
    targets: list[Target] = []
    for name, (query, patterns, wanted) in WORKLOADS.items():
        texts = {PEER: query.sparql, BY_HAND: query.reordered(patterns)}
        windows = {who: peer.Windows(text, query.width * 1000, query.step * 1000) for who, text in texts.items()}
        best = {who: _best_way(query, asked, trial, graph) for who, asked in windows.items()}
        ways: dict[str, Callable[[], object]] = {OWN: partial(_consume, query, stream, graph)}
        for who, asked in windows.items():
            ways[who] = partial(_consume_peer, best[who], asked, stream, graph)
        ways[COMMAND] = partial(_command, query, stream, graph, folder)
        times = measure(ways, rounds)
        for who, taken in times.items():
            lines.append(_line(name, who, best.get(who, ""), taken, times[OWN], triples))
        ratio = times[PEER].wall / times[OWN].wall
        targets.append(Target(f"{name}, beside pyoxigraph", ratio, wanted, "times its triples/s", is_least=True))
    return "\n".join(lines), targets


def _line(name: str, who: str, way: str, taken: Time, own: Time, triples: int) -> str:
    line = f"{name:26}{who:22}{way:>9}{taken.wall:8.3f} s{triples / taken.wall:12,.0f}{taken.wall / own.wall:8.1f}"
    if who == COMMAND:  # another process, whose processor time is not this one's
        return line
    return f"{line}{taken.processor:10.3f} s{taken.processor / own.processor:8.1f}"


def _best_way(query: Query, windows: peer.Windows, stream: Path, graph: Path) -> str:
    """The quickest of the peer's ways, all of which have to give Penstock's answers."""
    answers = {e.time: Counter(e.rows or ()) for e in evaluations(query.rspql, stream, graph)}
    for way in peer.WAYS:
        found = {time: Counter(rows) for time, rows in peer.evaluate(way, windows, stream, graph)}
        assert found == answers, f"{way}: other answers than Penstock's to {windows.query}"
    ways = {way: partial(_consume_peer, way, windows, stream, graph) for way in peer.WAYS}
    times = measure(ways, 2)
    return min(times, key=lambda way: times[way].processor)


def _consume(query: Query, stream: Path, graph: Path) -> int:
    return sum(len(evaluation.rows or ()) for evaluation in evaluations(query.rspql, stream, graph))


def _consume_peer(way: str, windows: peer.Windows, stream: Path, graph: Path) -> int:
    return sum(len(rows) for _, rows in peer.evaluate(way, windows, stream, graph))


def _command(query: Query, stream: Path, graph: Path, folder: Path) -> None:
    text = folder / "query.rq"
    text.write_text(query.rspql)
    command = [sys.executable, "-m", "penstock", "run", text, "--stream", f"{STREAM}={stream}", "--graph", graph]
    subprocess.run([*map(str, command), "--out", str(folder / "answers.jsonl")], check=True)
