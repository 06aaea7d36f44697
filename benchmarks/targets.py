"""Checks performance targets of the embedded engine against the results of `penstock bench`.

penstock bench throughput scaling latency memory --engine duckdb --out results
python benchmarks/targets.py results                 # exit status 1 when a target is missed
"""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Target:
    """The target for a figure: a minimum or a maximum."""

    what: str
    figure: float
    bound: float
    unit: str
    is_least: bool = False

    @property
    def is_met(self) -> bool:
        return self.figure >= self.bound if self.is_least else self.figure <= self.bound

    def __str__(self) -> str:
        word = "at least" if self.is_least else "at most"
        verdict = "met" if self.is_met else "MISSED"
        return f"{verdict:8}{self.what}: {self.figure:,.2f} {self.unit}, {word} {self.bound:g} wanted"


COUNT, SLIDING, PAIRS = "COUNT, tumbling 10s", "COUNT, RANGE 10s STEP 1s", "pairs, RANGE 10s STEP 5s"
RATIO, P50, SLOWER = "ratio", "p50 [ms]", "time ÷ Penstock's"

WANTED: list[tuple[str, dict[str, str], str, float, str, bool]] = [
    ("throughput", {"workload": COUNT, "system": "pyoxigraph"}, SLOWER, 4, "times pyoxigraph's triples/s", True),
    ("throughput", {"workload": SLIDING, "system": "pyoxigraph"}, SLOWER, 25, "times pyoxigraph's triples/s", True),
    ("throughput", {"workload": PAIRS, "system": "pyoxigraph"}, SLOWER, 8, "times pyoxigraph's triples/s", True),
    ("scaling", {"query": "COUNT", "value": "300 s / 1 s"}, RATIO, 1.5, "times the time of 10 s / 10 s", False),
    ("scaling", {"query": "AVG", "value": "300 s / 1 s"}, RATIO, 1.5, "times the time of 10 s / 10 s", False),
    ("scaling", {"query": "OPTIONAL, ISTREAM", "value": "60 s / 1 s"}, RATIO, 2, "times that of 60 s / 60 s", False),
    ("scaling", {"query": "NOT EXISTS, ISTREAM", "value": "60 s / 1 s"}, RATIO, 2, "times that of 60 s / 60 s", False),
    ("latency", {"workload": COUNT, "system": "Penstock on DuckDB"}, P50, 20, "ms from closing to rows, p50", False),
    ("latency", {"workload": SLIDING, "system": "Penstock on DuckDB"}, P50, 20, "ms from closing to rows, p50", False),
    *[
        ("memory", {"workload": name}, "growth", 1.2, "times the peak, 10 times as long", False)
        for name in (COUNT, SLIDING, PAIRS)
    ],
    *[("memory", {"workload": name}, "peak", 1024, "MB at the peak", False) for name in (COUNT, SLIDING, PAIRS)],
]
"""The experiment, the line of its table, the column, the bound, and whether it is the least."""


def main(folder: Path) -> int:
    targets = [
        Target(f"{name}, {', '.join(line.values())}", _figure(folder / f"{name}.json", line, column), *bound)
        for name, line, column, *bound in WANTED
    ]
    print(*targets, sep="\n")
    return 0 if all(target.is_met for target in targets) else 1


def _figure(path: Path, line: dict[str, str], column: str) -> float:
    """The figure of a line; where several columns are of one kind, as in `peak, 500,000 triples [MB]`, the greatest."""
    if not path.is_file():
        raise SystemExit(f"there is no {path}: `penstock bench {path.stem} --out {path.parent}` writes it")
    [table] = json.loads(path.read_text())["tables"]
    for row in table["rows"]:
        if line.items() <= row.items():
            return max(float(value) for name, value in row.items() if name.partition(",")[0] == column)
    raise SystemExit(f"{path} has no line with {line}")


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1] if len(sys.argv) > 1 else "bench-results")))
