"""How much the driver handles itself: bounds that are settings of the Spark session."""

from __future__ import annotations

from dataclasses import dataclass

from pyspark.sql import SparkSession


@dataclass(frozen=True, slots=True)
class Bound:
    """At most this many rows, and this many bytes."""

    rows: int
    bytes: int

    def takes(self, rows: int, size: int) -> bool:
        return rows <= self.rows and size <= self.bytes

    def set_by(self, session: SparkSession, name: str) -> Bound:
        """This bound, unless the settings `spark.penstock.NAME.maxRows` and `.maxBytes` replace it."""
        rows, size = (session.conf.get(f"spark.penstock.{name}.{part}", None) for part in ("maxRows", "maxBytes"))
        return Bound(self.rows if rows is None else int(rows), self.bytes if size is None else int(size))


BATCH = Bound(1_000_000, 128 << 20)
"""A micro-batch with more rows, or files of more bytes, is decoded by executors (`spark.penstock.batch`)."""

WINDOWS = Bound(10_000_000, 2 << 30)
"""Windows with more rows or bytes (in memory) are evaluated on the cluster (`spark.penstock.windows`)."""
