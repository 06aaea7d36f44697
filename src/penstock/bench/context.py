"""The context of an experiment: sizes, rounds, engines and peers."""

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
"""The memory of the Spark process."""


@dataclass(slots=True)
class ExperimentContext:
    """`say` reports progress; `remarks` collects notes for readers of the results."""

    folder: Path
    """The folder for generated data."""
    is_quick: bool = False
    scale: float = 1
    rounds: int | None = None
    engines: tuple[str, ...] = ("duckdb", "spark")
    peers: dict[str, str] = field(default_factory=dict)
    """The commands of peers by name."""
    say: Callable[[str], None] = lambda text: None
    remarks: list[str] = field(default_factory=list)
    _spark: SparkSession | None = None
    _is_without_spark: bool = False

    def size(self, full: int, quick: int) -> int:
        """The full or the quick size, times the scale."""
        return max(1, round((quick if self.is_quick else full) * self.scale))

    def repeats(self, full: int, quick: int) -> int:
        """The number of rounds; the user's choice overrides the default."""
        return self.rounds or (quick if self.is_quick else full)

    def spark(self) -> SparkSession | None:
        """The Spark session, or None if Spark is not selected or cannot start."""
        if "spark" not in self.engines or self._is_without_spark:
            return None
        if self._spark is None:
            self.say("starting Spark")
            try:
                self._spark = session(conf={"spark.driver.memory": MEMORY})
            except SessionError as error:
                self._is_without_spark = True
                self.remark(f"Spark was skipped: {error}.")
        return self._spark

    def systems(self) -> list[Penstock]:
        """Penstock on each selected engine; the others are compared with the first."""
        chosen = [Penstock()] if "duckdb" in self.engines else []
        spark = self.spark()
        return chosen if spark is None else [*chosen, Penstock(spark)]

    def measure(self, ways: Mapping[str, Callable[[], object]], rounds: int) -> dict[str, Time]:
        """The best of several rounds in which all ways take turns."""
        announced = {name: partial(self._announced, name, way) for name, way in ways.items()}
        return measure(announced, rounds, lambda: processor_time_of(self._spark))

    def _announced(self, name: str, way: Callable[[], object]) -> None:
        self.say(f"timing {name}")
        way()

    def remark(self, sentence: str) -> None:
        if sentence not in self.remarks:
            self.remarks.append(sentence)

    def close(self) -> None:
        if self._spark is not None:
            self._spark.stop()
