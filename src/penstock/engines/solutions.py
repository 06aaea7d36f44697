"""The solutions of a slice in columns: each row is stored once, with its instants."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from penstock.rdf.result_batches import EncodedRow, Numbers
from penstock.rdf.term_columns import TEXT, joined, text_array

_FEW = 64
"""So few rows are compared as Python tuples, which is faster."""

_TOGETHER = 1 << 20
"""The maximum number of solutions of several instants that are processed together."""


def without(rows: pa.Table, others: pa.Table) -> pa.Table:
    """The rows whose terms are not those of any other row; the last columns are i and j."""
    if not rows.num_rows or not others.num_rows:
        return rows
    if rows.num_columns == 2:
        return rows.slice(0, 0)
    if rows.num_rows + others.num_rows <= _FEW:
        known = set(_python_rows(others))
        return rows.filter(pa.array([row not in known for row in _python_rows(rows)]))
    return rows.filter(pc.invert(pc.is_in(_keys(rows), _keys(others))))


def _python_rows(rows: pa.Table) -> Iterator[EncodedRow]:
    return zip(*(column.to_pylist() for column in rows.columns[:-2]), strict=True)


def _keys(rows: pa.Table) -> pa.Array:
    """One text for each row, another one for other terms: their lengths are before them."""
    terms = [text_array(column) for column in rows.columns[:-2]]
    parts = [part for term in terms for part in (pc.binary_length(term).cast(TEXT).fill_null(""), term.fill_null(""))]
    return joined(*parts, separator=":")


@dataclass(frozen=True, slots=True, eq=False)
class Solutions:
    """The solutions of instant number k are the rows `places[bounds[k]:bounds[k + 1]]`, in this order.

    Overlapping windows share rows. So each row is converted once, and then assigned to its instants. A row consists of
    encoded terms.
    """

    instants: Numbers
    rows: pa.Table
    places: Numbers
    bounds: Numbers

    @staticmethod
    def none(instants: Sequence[int]) -> Solutions:
        """Instants without solutions."""
        nothing = np.zeros(0, np.int64)
        return Solutions(np.array(instants, np.int64), pa.table({}), nothing, np.zeros(len(instants) + 1, np.int64))

    @staticmethod
    def over_intervals(found: pa.Table, instants: Sequence[int], before: int = 0) -> Solutions:
        """The last columns are i and j: a row holds at instants number i to j − 1. The first `before` instants do not
        count.

        Within an instant the rows keep their order.
        """
        count, width = len(instants), found.num_columns - 2
        starts, ends = (column.to_numpy().astype(np.int64, copy=False) - before for column in found.columns[width:])
        starts, ends = np.clip(starts, 0, count), np.clip(ends, 0, count)
        lengths = ends - starts
        places = np.repeat(np.arange(found.num_rows), lengths)
        numbers = np.arange(len(places)) + np.repeat(starts - np.cumsum(lengths) + lengths, lengths)
        if count <= 1 << 16:
            numbers = numbers.astype(np.uint16)  # are sorted by their digits
        order = np.argsort(numbers, kind="stable")
        bounds = np.concatenate([[0], np.cumsum(np.bincount(numbers, minlength=count))])
        return Solutions(np.array(instants, np.int64), found.select(range(width)), places[order], bounds)

    @staticmethod
    def at(instant: int, found: pa.Table) -> Solutions:
        """Those of one instant; the last columns, i and j, say nothing."""
        count = found.num_rows
        rows = found.select(range(found.num_columns - 2))
        return Solutions(np.array([instant]), rows, np.arange(count), np.array([0, count]))

    @staticmethod
    def at_instants(found: pa.Table, instants: Sequence[int]) -> Solutions:
        """The last column is the instant of each row; the rows are in the order of time."""
        width, moments = found.num_columns - 1, np.array(instants, np.int64)
        times = found.column(width).to_numpy()
        bounds = np.append(np.searchsorted(times, moments), len(times))
        return Solutions(moments, found.select(range(width)), np.arange(len(times)), bounds)

    @property
    def sizes(self) -> Numbers:
        """The number of solutions of each instant."""
        return np.diff(self.bounds)

    def with_solutions(self) -> Solutions:
        """Only the instants that have solutions."""
        kept = np.flatnonzero(self.sizes)
        return replace(self, instants=self.instants[kept], bounds=np.append(self.bounds[kept], self.bounds[-1]))

    def chosen(self, numbers: Numbers) -> Solutions:
        """Some of the instants, perhaps with repetitions; the rows stay unchanged."""
        sizes = self.sizes[numbers]
        bounds = np.concatenate([[0], np.cumsum(sizes)])
        places = np.arange(bounds[-1]) + np.repeat(self.bounds[numbers] - bounds[:-1], sizes)
        return Solutions(self.instants[numbers], self.rows, self.places[places], bounds)

    def portions(self) -> Iterator[Solutions]:
        """A few instants at a time if there are many solutions, because their results have to fit into memory."""
        first = 0
        while first < len(self.instants):
            most = self.bounds[first] + _TOGETHER
            stop = max(first + 1, int(np.searchsorted(self.bounds, most, "right")) - 1)
            yield self if (first, stop) == (0, len(self.instants)) else self._portion(first, stop)
            first = stop

    def _portion(self, first: int, stop: int) -> Solutions:
        start, end = self.bounds[first], self.bounds[stop]
        different, places = np.unique(self.places[start:end], return_inverse=True)
        rows = self.rows.take(pa.array(different)) if self.rows.num_columns else self.rows
        return Solutions(self.instants[first:stop], rows, places, self.bounds[first : stop + 1] - start)

    @property
    def python_rows(self) -> list[EncodedRow]:
        """The rows as Python tuples."""
        if not self.rows.num_columns:
            return [()] * (int(self.places.max(initial=-1)) + 1)
        return list(zip(*(column.to_pylist() for column in self.rows.columns), strict=True))

    def at_each_instant(self) -> Iterator[tuple[int, list[EncodedRow]]]:
        """The solutions of each instant as Python tuples."""
        rows = self.python_rows
        for instant, places in zip(self.instants.tolist(), np.split(self.places, self.bounds[1:-1]), strict=True):
            yield instant, [rows[place] for place in places]
