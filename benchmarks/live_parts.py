"""One detection at a time, live, on DuckDB: CQELS's Q1 to Q5, and the parts of the time.

p50 and p95 are wall times, as in `penstock bench cqels`, from the arrival of a detection to its answer. All other
columns are processor time, in milliseconds a detection, without the first ones: inserting the detection; the query's
statement; the rest, which is Python (the thread that reads, clocks, slices, answers). What DuckDB says about the parts
of the statement comes last, the least of some executions: binding, optimizing, executing. `--check` exits with status 1
if a median is over 3 ms.

    python benchmarks/live_parts.py [--detections 300] [--triples 100000] [--queries Q1 Q5] [--check]
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any
from unittest import mock

from penstock.bench.cqels.arrivals import penstock_times
from penstock.bench.cqels.data import write_floorplan, write_publications
from penstock.bench.cqels.queries import TEMPLATES, Instance
from penstock.engines.duckdb.statements import PreparedStatement
from penstock.engines.duckdb.store import DuckDBStore

MOST = 3.0
"""Milliseconds, at the median."""

WARM_UP = 30
EXPLAINED = 9
COLUMNS = ("p50", "p95", "all", "insert", "statement", "rest", "binding", "optimizing", "executing")


class Calls:
    """The calls of a method: when each of them ended, and for how long each ran, by the processor's time."""

    def __init__(self, method: Callable[..., Any]) -> None:
        self.method = method
        self.ended: list[float] = []
        self.seconds: list[float] = []
        self.last: tuple[Any, ...] = ()

    def timed(self) -> Callable[..., Any]:
        def call(*arguments: Any) -> Any:
            began = time.process_time()
            found = self.method(*arguments)
            self.ended.append(time.process_time())
            self.seconds.append(self.ended[-1] - began)
            self.last = arguments
            return found

        return call

    @property
    def mean(self) -> float:
        return 1000 * statistics.fmean(self.seconds[WARM_UP:])


def main() -> int:
    options = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    options.add_argument("--detections", type=int, default=300)
    options.add_argument("--triples", type=int, default=100_000, help="static triples")
    options.add_argument("--queries", nargs="+", choices=list(TEMPLATES), default=list(TEMPLATES))
    options.add_argument("--check", action="store_true", help="exit status 1 where a median is over the target")
    given = options.parse_args()
    print(f"{'[ms]':5}", *(f"{name:>10}" for name in COLUMNS))
    worst = 0.0
    with tempfile.TemporaryDirectory() as name:
        data = write_publications(Path(name), given.triples), write_floorplan(Path(name))
        for query in given.queries:
            figures = measured(Instance(query, 0), *data, given.detections)
            print(f"{query:5}", *(f"{figure:10.2f}" for figure in figures), flush=True)
            worst = max(worst, figures[0])
    return int(given.check and worst > MOST)


def measured(query: Instance, publications: Path, floorplan: Path, count: int) -> list[float]:
    insert, statement = Calls(DuckDBStore._insert), Calls(PreparedStatement.table)
    profile: list[float] = []

    def close(store: DuckDBStore) -> None:
        profile.extend(told_by_duckdb(store, *statement.last))
        store.connection.close()

    with (
        mock.patch.object(DuckDBStore, "_insert", insert.timed()),
        mock.patch.object(PreparedStatement, "table", statement.timed()),
        mock.patch.object(DuckDBStore, "close", close),
    ):
        times = penstock_times(query, publications, floorplan, count)[WARM_UP:]
    p95 = statistics.quantiles(times, n=20, method="inclusive")[18]
    together = 1000 * (statement.ended[-1] - statement.ended[WARM_UP]) / (len(statement.ended) - WARM_UP - 1)
    parts = [insert.mean, statement.mean - insert.mean]
    return [statistics.median(times), p95, together, *parts, together - sum(parts), *profile]


def told_by_duckdb(
    store: DuckDBStore, statement: PreparedStatement, parameters: Mapping[str, int | None]
) -> list[float]:  # fmt: skip
    """Milliseconds: binding, optimizing with physical planning, executing; the least of some executions."""
    explained = f"EXPLAIN (ANALYZE, FORMAT json) {statement.text}"
    found: list[tuple[float, float, float]] = []
    for _ in range(EXPLAINED):
        ((_, text),) = store.connection.execute(explained, statement._given(parameters)).fetchall()
        told = json.loads(text)
        optimizing = told["optimizer"]["total_time"] + told["physical_planner"]["total_time"]
        found.append((told["planner"]["total_time"], optimizing, told["query"]["cpu_time"]))
    return [1000 * min(part) for part in zip(*found, strict=True)]


if __name__ == "__main__":
    sys.exit(main())
