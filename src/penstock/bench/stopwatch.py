"""Times: of ways that take turns, the best of which counts."""

from __future__ import annotations

import gc
import resource
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class Time(NamedTuple):
    """Seconds on the clock, and of all threads on the processor."""

    wall: float
    processor: float


def measure(
    ways: Mapping[str, Callable[[], object]], rounds: int, processor_time: Callable[[], float] = time.process_time
) -> dict[str, Time]:
    """All ways take turns; the best wall time and the best processor time of each."""
    best = dict.fromkeys(ways, Time(float("inf"), float("inf")))
    for _ in range(rounds):
        for name, work in ways.items():
            gc.collect()
            wall, processor = time.perf_counter(), processor_time()
            work()
            taken = Time(time.perf_counter() - wall, processor_time() - processor)
            best[name] = Time(*map(min, best[name], taken))
    return best


def processor_time_of(spark: SparkSession | None) -> float:
    """Seconds of the processor that this process, the commands that it ran, and Spark's Java have had."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = time.process_time() + children.ru_utime + children.ru_stime
    return seconds if spark is None else seconds + java_seconds(spark)


def java_seconds(spark: SparkSession) -> float:
    """Seconds that Java has had of the processor; a local session is all in there."""
    virtual_machine = spark._jvm
    assert virtual_machine is not None
    process = virtual_machine.java.lang.ProcessHandle.current()
    return float(process.info().totalCpuDuration().get().toMillis()) / 1000
