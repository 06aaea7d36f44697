"""What an experiment is run with: how large, how often, on which engines, beside whom."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from penstock.bench.stopwatch import Time, measure, processor_time_of
from penstock.bench.systems import Penstock
from penstock.engines.spark.session import SessionError, session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

MEMORY = "4g"
"""Of Spark's process."""


@dataclass(slots=True)
class ExperimentContext:
    """`say` tells how far it is; `remarks` collects what a reader of the results should know."""

    folder: Path
    """For data, which an experiment writes there."""
    is_quick: bool = False
    scale: float = 1
    rounds: int | None = None
    engines: tuple[str, ...] = ("duckdb", "spark")
    peers: dict[str, str] = field(default_factory=dict)
    """The commands of peers, by name."""
    say: Callable[[str], None] = lambda text: None
    remarks: list[str] = field(default_factory=list)
    _spark: SparkSession | None = None
    _is_without_spark: bool = False

    def size(self, full: int, quick: int) -> int:
        """How much of something: as much as it is at full length, or quickly, times the scale."""
        return max(1, round((quick if self.is_quick else full) * self.scale))

    def repeats(self, full: int, quick: int) -> int:
        """How many rounds, unless the user says."""
        return self.rounds or (quick if self.is_quick else full)

    def spark(self) -> SparkSession | None:
        """The session, if Spark is wanted and there is one."""
        if "spark" not in self.engines or self._is_without_spark:
            return None
        if self._spark is None:
            self.say("starting Spark")
            try:
                self._spark = session(conf={"spark.driver.memory": MEMORY})
            except SessionError as error:
                self._is_without_spark = True
                self.remark(f"Spark is left out: {error}.")
        return self._spark

    def systems(self) -> list[Penstock]:
        """Penstock on each engine that is wanted; the first is what others are compared with."""
        chosen = [Penstock()] if "duckdb" in self.engines else []
        spark = self.spark()
        return chosen if spark is None else [*chosen, Penstock(spark)]

    def measure(self, ways: Mapping[str, Callable[[], object]], rounds: int) -> dict[str, Time]:
        """The best of so many rounds, in which all ways take turns."""
        told = {name: partial(self._told, name, way) for name, way in ways.items()}
        return measure(told, rounds, lambda: processor_time_of(self._spark))

    def _told(self, name: str, way: Callable[[], object]) -> None:
        self.say(f"timing {name}")
        way()

    def remark(self, sentence: str) -> None:
        if sentence not in self.remarks:
            self.remarks.append(sentence)

    def close(self) -> None:
        if self._spark is not None:
            self._spark.stop()
