"""The ways that a run can go, and the one function that chooses between them.

| way | intake | windows live in | evaluated by |
|---|---|---|---|
| embedded | sources, read in threads | DuckDB | DuckDB |
| history | complete streams, which Spark reads | nowhere: Spark reads what its slices need | Spark SQL |
| micro-batches | Structured Streaming | the window log | Spark SQL |
| sources on Spark | sources, read in threads | the window log | Spark SQL |
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum

from penstock.sources.batches import BoundStream, SparkStream


class Way(Enum):
    """How a run goes; `title` and `reason` are for `explain`."""

    EMBEDDED = "embedded", "sources read by this process, windows in DuckDB"
    HISTORY = "history", "complete streams on Spark, all instants answered at once by Spark SQL"
    MICRO_BATCHES = "micro-batches", "Structured Streaming, windows in the window log, answered by Spark SQL"
    SOURCES_ON_SPARK = "sources on Spark", "sources read by the driver, windows in the window log, Spark SQL"

    @property
    def title(self) -> str:
        return self.value[0]

    @property
    def description(self) -> str:
        return self.value[1]


def choose_way(
    sources: Mapping[str, BoundStream], *, on_spark: bool, by_arrival: bool = False, has_checkpoint: bool = False
) -> Way:  # fmt: skip
    """How queries run over these sources.

    Spark streams what only it can read, and whatever has a checkpoint. It reads complete streams as a history. What
    this process has to wait for is read here, on either engine.
    """
    if not on_spark:
        return Way.EMBEDDED
    if has_checkpoint or any(isinstance(source, SparkStream) for source in sources.values()):
        return Way.MICRO_BATCHES
    is_complete = all(source.can_resume and not source.is_live for source in sources.values())
    return Way.HISTORY if is_complete and not by_arrival else Way.SOURCES_ON_SPARK
