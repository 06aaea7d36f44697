"""The workloads: a query, its data, and the equivalent job.

`TOLLGATES` are those of penstock/bench/tollgates; `LIMITS`, T1 to T3, those of penstock/bench/limits: their gates are
in streets, which districts contain.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from penstock.bench.limits import data as streets
from penstock.bench.limits.queries import WORKLOADS
from penstock.bench.systems import DataFiles
from penstock.bench.tollgates import data as tollgates
from penstock.bench.tollgates.queries import PAIRS, PASSAGES, TOLLS, Query
from tollgate_spark.jobs import Job, count_overlapping, count_passages, find_pairs, find_tolls, named, ordered_pairs

STREETS = "streets"


@dataclass(frozen=True, slots=True)
class Workload:
    """`kind` are the data: `STREETS`, or a kind of tollgates. `width` and `step` are in milliseconds."""

    text: str
    stream: str
    kind: str
    variables: tuple[str, ...]
    width: int
    step: int
    job: Job

    def data(self, folder: Path, triples: int) -> DataFiles:
        if self.kind == STREETS:
            stream, graph = streets.write_passages(folder, triples), streets.write_streets(folder)
        else:
            stream, graph = tollgates.write_stream(folder, self.kind, triples), tollgates.write_districts(folder)
        return DataFiles({self.stream: stream}, {None: graph})


def _tollgates(query: Query, variables: tuple[str, ...], job: Job) -> Workload:
    return Workload(
        query.rspql, tollgates.STREAM, query.kind, variables, query.width * 1000, query.step * 1000, job
    )  # fmt: skip


_COUNTS, _PAIRS, _TOLLS = ("district", "passages"), ("car", "gate", "other"), ("gate", "car", "toll")

TUMBLING = "COUNT, tumbling 10s"
TOLLGATES: dict[str, Workload] = {
    TUMBLING: _tollgates(PASSAGES, _COUNTS, count_passages),
    "COUNT, RANGE 10s STEP 1s": _tollgates(PASSAGES.over(10, 1), _COUNTS, count_overlapping),
    "pairs, RANGE 10s STEP 5s": _tollgates(PAIRS.over(10, 5), _PAIRS, find_pairs),
    "OPTIONAL, tumbling 60s": _tollgates(TOLLS.over(60, 60), _TOLLS, find_tolls),
    "OPTIONAL, RANGE 60s STEP 6s": _tollgates(TOLLS.over(60, 6), _TOLLS, find_tolls),
}


def counted_over(width: int, step: int) -> Workload:
    """The first of them over other windows, in seconds."""
    return _tollgates(PASSAGES.over(width, step), _COUNTS, count_passages)


_NAMES = {"district": "d", "passages": "n", "gate": "g1", "other": "g2"}
_JOBS = (named(count_passages, _NAMES), named(count_overlapping, _NAMES), named(ordered_pairs, _NAMES))

LIMITS: dict[str, Workload] = {
    given.name.partition(":")[0]: Workload(
        given.text, streets.STREAM, STREETS, given.variables, given.width, given.step, job
    )
    for given, job in zip(WORKLOADS, _JOBS, strict=True)
}
