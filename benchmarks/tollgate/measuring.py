"""Rounds, the best of which counts, and what should come out."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple


class Time(NamedTuple):
    """Seconds on the clock, and of all threads on the processor."""

    wall: float
    processor: float


@dataclass(frozen=True, slots=True)
class Target:
    """What a figure should be: at least or at most so much."""

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
