"""Statistics of tables: rows by predicate, counted as they arrive.

They estimate how many rows a triple pattern matches, without a statement. The weight of old rows decreases, so that the
statistics of a stream describe its latest rows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import pyarrow as pa
import pyarrow.compute as pc

from penstock.algebra.operators import Operator

_RECENT = 10_000
"""The statistics of a stream describe about this many rows, or the last batch."""

_MOST = 1_000
"""At most this many predicates of a table are counted."""


@dataclass(slots=True)
class Observed:
    """Counts of tables; `shifts` counts how often one of them has doubled or halved."""

    shifts: int = 0
    _counts: dict[str, dict[str, float]] = field(default_factory=dict)

    def note(self, table: str, predicates: pa.ChunkedArray) -> list[str]:
        """Count rows that were added to a table, by predicate; returns the predicates."""
        found: dict[str, int] = {
            entry["values"]: entry["counts"]
            for entry in pc.value_counts(predicates).to_pylist()
            if entry["values"] is not None
        }
        self.count(table, found, len(predicates))
        return list(found)

    def count(self, table: str, found: Mapping[str, int], rows: int) -> None:
        """Add rows to the counts of a table; `found` are the counts by predicate."""
        known = self._counts.setdefault(table, {})
        kept = max(0.0, 1.0 - rows / _RECENT)
        for predicate in found.keys() | known.keys():
            before = known.get(predicate, 0.0)
            known[predicate] = now = before * kept + found.get(predicate, 0)
            self.shifts += round(before).bit_length() != round(now).bit_length()
        if len(known) > _MOST:
            known.clear()

    def know(self, table: str, counts: Mapping[str, int]) -> None:
        """Set the counts of a table."""
        self._counts[table] = {**counts} if len(counts) <= _MOST else {}
        self.shifts += 1

    def forget(self) -> None:
        self._counts.clear()
        self.shifts += 1

    @property
    def counts(self) -> Mapping[str, Mapping[str, int]]:
        return {
            table: {predicate: round(count) for predicate, count in counts.items()}
            for table, counts in self._counts.items()
        }


class Latest:
    """The best expression for the current sizes; it is determined again when they have changed."""

    def __init__(self, observed: Observed, best: Callable[[], Operator]) -> None:
        self._observed = observed
        self._best = best
        self._shifts = observed.shifts
        self._now = best()

    def __call__(self) -> Operator:
        if self._observed.shifts != self._shifts:
            self._shifts = self._observed.shifts
            self._now = self._best()
        return self._now
