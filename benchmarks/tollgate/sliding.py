"""Sliding is free: the time of a query whose windows overlap more and more."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from tollgate.data import write_districts, write_stream
from tollgate.measuring import Target, measure
from tollgate.queries import PASSAGES, SPEEDS, TOLLS, UNPAID, Query
from tollgate.running import evaluations

Window = tuple[int, int]
"""RANGE and STEP, in seconds."""

_GROUPED: list[Window] = [(10, 10), (10, 1), (60, 1), (300, 1)]
_MATCHED: list[Window] = [(60, 60), (60, 6), (60, 1), (300, 1)]

WORKLOADS: dict[str, tuple[Query, list[Window], Window, float]] = {
    "COUNT": (PASSAGES, _GROUPED, (300, 1), 1.5),
    "AVG": (SPEEDS, _GROUPED, (300, 1), 1.5),
    "OPTIONAL, ISTREAM": (TOLLS, _MATCHED, (60, 1), 2),
    "NOT EXISTS, ISTREAM": (UNPAID, _MATCHED, (60, 1), 2),
}
"""The query, its windows, and the one that may take so many times the time of the first."""


def sliding(folder: Path, triples: int, rounds: int) -> tuple[str, list[Target]]:
    graph = write_districts(folder)
    lines = [f"{'':22}{'window':>14}{'overlap':>9}{'rows':>12}{'wall':>10}{'ratio':>8}{'processor':>12}{'ratio':>8}"]
    targets: list[Target] = []
    for name, (query, windows, judged, bound) in WORKLOADS.items():
        stream = write_stream(folder, query.kind, triples)
        rows: dict[Window, int] = {}
        ways = {
            f"{width}s/{step}s": partial(_consume, rows, query.over(width, step), stream, graph)
            for width, step in windows
        }
        times = measure(ways, rounds)
        first = next(iter(times.values()))
        for (width, step), (window, taken) in zip(windows, times.items(), strict=True):
            ratio = taken.wall / first.wall
            lines.append(
                f"{name:22}{window:>14}{width // step:>7}:1{rows[width, step]:12,}"
                f"{taken.wall:8.3f} s{ratio:8.2f}{taken.processor:10.3f} s{taken.processor / first.processor:8.2f}"
            )
            if (width, step) == judged:
                targets.append(Target(f"{name} at {width // step}:1", ratio, bound, "times the time of 1:1"))
    return "\n".join(lines), targets


def _consume(rows: dict[Window, int], query: Query, stream: Path, graph: Path) -> None:
    found = sum(len(evaluation.rows or ()) for evaluation in evaluations(query.rspql, stream, graph))
    rows[query.width, query.step] = found
