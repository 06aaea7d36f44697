"""The solutions of a slice: a row is there once, with the instants at which it holds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

Row = tuple[str | None, ...]
"""A solution, its terms encoded."""

_Value = TypeVar("_Value")
_Numbers = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Solutions:
    """Those of instant number k are the rows `places[bounds[k]:bounds[k + 1]]`, in their order.

    Overlapping windows see the same rows again. So whatever is made of a row is made once, and spread after that.
    """

    instants: Sequence[int]
    rows: list[Row]
    places: _Numbers
    bounds: _Numbers

    @staticmethod
    def over_intervals(found: list[tuple[Any, ...]], instants: Sequence[int], before: int = 0) -> Solutions:
        """Each row ends with i and j: it holds at instants number i to j − 1. So many `before` the first do not count.

        In an instant the rows keep their order.
        """
        count, size = len(instants), len(found)
        starts = np.fromiter((row[-2] for row in found), np.int64, size)
        ends = np.fromiter((row[-1] for row in found), np.int64, size)
        starts, ends = np.clip(starts - before, 0, count), np.clip(ends - before, 0, count)
        lengths = ends - starts
        places = np.repeat(np.arange(size), lengths)
        numbers = np.arange(len(places)) + np.repeat(starts - np.cumsum(lengths) + lengths, lengths)
        if count <= 1 << 16:
            numbers = numbers.astype(np.uint16)  # are sorted by their digits
        order = np.argsort(numbers, kind="stable")
        bounds = np.concatenate([[0], np.cumsum(np.bincount(numbers, minlength=count))])
        return Solutions(instants, [row[:-2] for row in found], places[order], bounds)

    @staticmethod
    def at_instants(found: Sequence[tuple[Any, ...]], instants: Sequence[int]) -> Solutions:
        """Each row ends with its instant; they are in the order of time."""
        times = np.fromiter((row[-1] for row in found), np.int64, len(found))
        bounds = np.append(np.searchsorted(times, np.asarray(instants, np.int64)), len(found))
        return Solutions(instants, [row[:-1] for row in found], np.arange(len(found)), bounds)

    @property
    def empty_instants(self) -> int:
        """How many instants have no solution."""
        return len(self.instants) - int(np.count_nonzero(np.diff(self.bounds)))

    def at_each_instant(
        self, values: Sequence[_Value], *, has_empty: bool = True
    ) -> Iterator[tuple[int, list[_Value]]]:  # fmt: skip
        """What there is at each instant of values that the rows have; `has_empty`: also where there is nothing."""
        spread: list[_Value] = np.fromiter(values, object, len(values))[self.places].tolist()
        bounds = self.bounds.tolist()
        numbers = range(len(self.instants)) if has_empty else np.flatnonzero(np.diff(self.bounds)).tolist()
        for number in numbers:
            yield self.instants[number], spread[bounds[number] : bounds[number + 1]]
