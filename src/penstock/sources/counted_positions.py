"""Positions that count elements: to continue from one, the source is read again and that many are skipped."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa
import pyarrow.compute as pc

from penstock.rdf.elements import Malformed
from penstock.sources.batches import SCHEMA, Batch, Position, count_elements


class CountedPositions:
    """Counts elements and malformed pieces, and skips those before a position."""

    def __init__(self, position: Position | None) -> None:
        self._before = position or {"elements": 0, "malformed": 0}
        self._elements = self._malformed = 0

    def batches(self, table: pa.Table, malformed: list[Malformed], most_elements: int) -> Iterator[Batch]:
        """The next elements that are not skipped, in batches; `malformed`, read with them, is empty afterwards."""
        problems = tuple(malformed[max(0, self._before["malformed"] - self._malformed) :])
        self._malformed += len(malformed)
        malformed.clear()
        count = count_elements(table)
        for first in range(max(0, self._before["elements"] - self._elements), count, most_elements):
            end = min(first + most_elements, count)
            yield Batch(_between(table, first, end), self._position(end), problems)
            problems = ()
        if problems:
            yield Batch(SCHEMA.empty_table(), self._position(count), problems)
        self._elements += count

    def _position(self, more: int) -> Position:
        return {"elements": self._elements + more, "malformed": self._malformed}


def _between(table: pa.Table, first: int, end: int) -> pa.Table:
    """The elements from `first` up to `end`, numbered from 0."""
    if first == 0 and end == count_elements(table):
        return table
    number = table["element"]
    part = table.filter(pc.and_(pc.greater_equal(number, first), pc.less(number, end)))
    return part.set_column(4, SCHEMA.field("element"), pc.subtract(part["element"], first))
