"""From a window's closing to its rows, over a stream that comes live."""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

import pyarrow as pa

from penstock.rdf.elements import Malformed
from penstock.sources.batches import Batch, Position
from penstock.sources.tnt import decode_tnt
from tollgate.data import FIRST, stream_lines, write_districts
from tollgate.measuring import Target
from tollgate.queries import PAIRS, PASSAGES, Query
from tollgate.running import run_over

MOST_MS = 20
LINES = 1_000
PACE = 0.05
"""Seconds from one batch to the next: 20 times as fast as the stream's own time."""

BATCHES = 300
WARM_UP = 20_000
"""Milliseconds of the stream's time: windows that close earlier have fewer triples, or meet code that has never run."""

WORKLOADS: dict[str, tuple[Query, bool]] = {
    "COUNT, tumbling 10s": (PASSAGES, True),
    "COUNT, RANGE 10s STEP 1s": (PASSAGES.over(10, 1), True),
    "pairs, RANGE 10s STEP 5s": (PAIRS.over(10, 5), False),
}
"""The query, and whether the target is meant for it."""


@dataclass(slots=True)
class Live:
    """Lines that come at a pace; `arrived` tells when the batch came with which a second of event time was over."""

    name: str = "live"
    is_live: bool = True
    can_resume: bool = False
    arrived: dict[int, float] = field(default_factory=dict)

    def batches(self, position: Position | None = None) -> Iterator[Batch]:
        lines = stream_lines("passages", LINES * BATCHES)
        due = time.perf_counter()
        for number in range(BATCHES):
            encoded = pa.array([line.rstrip("\n").encode() for line in islice(lines, LINES)], pa.large_binary())
            due += PACE
            time.sleep(max(0, due - time.perf_counter()))
            self.arrived[FIRST - 1 + number * LINES] = time.perf_counter()
            first_line = 1 + number * LINES
            table = decode_tnt(encoded, name="live", first_line=first_line, scope="live", on_malformed=_refuse)
            yield Batch(table, {})


def _refuse(malformed: Malformed) -> None:
    raise ValueError(malformed)


def latency(folder: Path, triples: int, rounds: int) -> tuple[str, list[Target]]:
    """The round with the least median counts."""
    graph = write_districts(folder)
    lines = [f"{'':26}{'windows':>9}{'p50':>11}{'p95':>11}{'p99':>11}"]
    targets: list[Target] = []
    for name, (query, is_judged) in WORKLOADS.items():
        delays = min((_delays(query, graph) for _ in range(rounds)), key=statistics.median)
        percentiles = statistics.quantiles(delays, n=100, method="inclusive")
        figures = [percentiles[place - 1] for place in (50, 95, 99)]
        lines.append(f"{name:26}{len(delays):9}" + "".join(f"{figure:8.1f} ms" for figure in figures))
        if is_judged:
            targets.append(Target(f"{name}, from closing to rows, p50", figures[0], MOST_MS, "ms"))
    return "\n".join(lines), targets


def _delays(query: Query, graph: Path) -> list[float]:
    """In milliseconds, from the batch that moves the watermark past a closing instant to the evaluation's rows."""
    live = Live()
    delays: list[float] = []
    for evaluation in run_over(query.rspql, live, graph).evaluations():
        came = live.arrived.get(evaluation.time)
        if came is not None and evaluation.time > FIRST + WARM_UP:
            delays.append((time.perf_counter() - came) * 1000)
    return delays
