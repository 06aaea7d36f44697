"""The workloads: a query, and the equivalent job."""

from __future__ import annotations

from dataclasses import dataclass

from penstock.bench.tollgates.queries import PAIRS, PASSAGES, TOLLS, Query
from tollgate_spark.jobs import Job, count_overlapping, count_passages, find_pairs, find_tolls


@dataclass(frozen=True, slots=True)
class Workload:
    query: Query
    variables: tuple[str, ...]
    job: Job

    @property
    def width(self) -> int:
        """In milliseconds, as is `step`."""
        return self.query.width * 1000

    @property
    def step(self) -> int:
        return self.query.step * 1000


_COUNTS, _PAIRS, _TOLLS = ("district", "passages"), ("car", "gate", "other"), ("gate", "car", "toll")

WORKLOADS: dict[str, Workload] = {
    "COUNT, tumbling 10s": Workload(PASSAGES, _COUNTS, count_passages),
    "COUNT, RANGE 10s STEP 1s": Workload(PASSAGES.over(10, 1), _COUNTS, count_overlapping),
    "pairs, RANGE 10s STEP 5s": Workload(PAIRS.over(10, 5), _PAIRS, find_pairs),
    "OPTIONAL, tumbling 60s": Workload(TOLLS.over(60, 60), _TOLLS, find_tolls),
    "OPTIONAL, RANGE 60s STEP 6s": Workload(TOLLS.over(60, 6), _TOLLS, find_tolls),
}
