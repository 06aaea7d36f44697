"""The counts of a run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(slots=True)
class Counts:
    """The counts so far; the watermark is None until there is one."""

    elements: int = 0
    evaluations: int = 0
    rows: int = 0
    late: int = 0
    malformed: int = 0
    watermark: int | None = None

    @property
    def dropped(self) -> int:
        """The number of elements that do not count: late and malformed ones."""
        return self.late + self.malformed


def together(each: Sequence[Counts], elements: int, malformed: int) -> Counts:
    """The counts of queries that share their streams; an element that is late for several counts for each of them."""
    return Counts(
        elements,
        sum(counts.evaluations for counts in each),
        sum(counts.rows for counts in each),
        sum(counts.late for counts in each),
        malformed,
        min((counts.watermark for counts in each if counts.watermark is not None), default=None),
    )
