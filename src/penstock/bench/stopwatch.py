"""Measures times: alternatives take turns, and the best round of each counts."""

from __future__ import annotations

import gc
import resource
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class Time(NamedTuple):
    """Wall time, and processor time of all threads, in seconds."""

    wall: float
    processor: float


def measure(
    ways: Mapping[str, Callable[[], object]], rounds: int, processor_time: Callable[[], float] = time.process_time
) -> dict[str, Time]:
    """The best wall time and the best processor time of each way; all ways take turns."""
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
    """The processor seconds of this process, the commands that it ran, and Spark's Java process."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = time.process_time() + children.ru_utime + children.ru_stime
    return seconds if spark is None else seconds + java_seconds(spark)


def java_seconds(spark: SparkSession) -> float:
    """The processor seconds of Java, which runs all of a local session."""
    virtual_machine = spark._jvm
    assert virtual_machine is not None
    process = virtual_machine.java.lang.ProcessHandle.current()
    return float(process.info().totalCpuDuration().get().toMillis()) / 1000
