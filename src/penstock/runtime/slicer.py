"""How many evaluation instants are answered at a time."""

from __future__ import annotations

import time
from bisect import bisect_right
from collections.abc import Iterator, Sequence

from penstock.engines.protocol import Slice

_FIRST, _MOST = 16, 1 << 16
"""How many instants the first slice has, and any slice at most."""

ALL = 1 << 62
"""More instants than there are: everything is one slice."""

_GROWTH = 32
_ROWS = 1 << 20
"""About so many solutions come out of a slice at most: they have to be held in memory."""

_SLOW = 2.0
"""A slice that takes longer, in seconds, is followed by a shorter one."""


class Slicer:
    """Cuts instants into slices.

    The rows of a slice are read once for all its instants, so that longer ones cost less. How long they can be shows
    by what comes out of the first ones, and by the time that they take.
    """

    def __init__(self, length: int | None = None) -> None:
        self._length = length or _FIRST
        self._is_fixed = length is not None
        self._rows = 0
        self.previous: int | None = None
        """The last instant that was answered."""

    def slices(self, instants: Sequence[int], longest: int | None = None) -> Iterator[Slice]:
        """`longest` is the longest time that a slice may be about."""
        place = 0
        while place < len(instants):
            end = place + self._length
            if longest is not None:
                end = max(place + 1, min(end, bisect_right(instants, instants[place] + longest)))
            part = Slice(instants[place:end], self.previous)
            self._rows = 0
            began = time.perf_counter()
            yield part
            seconds = time.perf_counter() - began
            place += len(part.instants)
            self.previous = part.instants[-1]
            if not self._is_fixed:
                self._adapt(seconds, len(part.instants))

    def note(self, rows: int) -> None:
        """So many solutions more came out of the slice."""
        self._rows += rows

    def _adapt(self, seconds: float, length: int) -> None:
        if seconds > _SLOW:
            self._length = max(length // 2, 1)
        elif length == self._length:
            bearable = _ROWS * length // max(self._rows, 1)
            self._length = max(1, min(_GROWTH * length, bearable, _MOST))
