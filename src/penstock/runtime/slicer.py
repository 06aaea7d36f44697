"""The number of evaluation instants that are evaluated at a time."""

from __future__ import annotations

import time
from bisect import bisect_right
from collections.abc import Iterator, Sequence

from penstock.engines.protocol import Slice

_FIRST, _MOST = 16, 1 << 16
"""The number of instants of the first slice, and the maximum of any slice."""

ALL = 1 << 62
"""More instants than possible: everything is one slice."""

_GROWTH = 32
_ROWS = 1 << 20
"""The approximate maximum of solutions of a slice, because they have to fit into memory."""

_SLOW = 2.0
"""A slice that takes longer, in seconds, is followed by a shorter one."""

_WINDOWS = 10
_SHORT, _LONG = 0.1, 0.5
"""If rows are joined that may never share a window, the cost in time grows with the square. So the first slice is some
windows long. The length doubles while a slice takes less than the first time, which is the fixed cost of a statement,
and halves if it takes more than the second time.
"""


class Slicer:
    """Cuts instants into slices.

    The rows of a slice are read once for all its instants, so longer slices cost less. The possible length follows from
    the solutions of the first slices, and from their time.
    """

    def __init__(self, length: int | None = None) -> None:
        self._length = length or _FIRST
        self._is_fixed = length is not None
        self._rows = 0
        self._windows = _WINDOWS
        self.previous: int | None = None
        """The last instant that was evaluated."""

    def slices(self, instants: Sequence[int], window: int | None = None) -> Iterator[Slice]:
        """`window` is the length of the longest window, if rows of streams are joined with each other."""
        place = 0
        while place < len(instants):
            end, behind = place + self._length, len(instants)
            if window is not None:
                behind = max(place + 1, bisect_right(instants, instants[place] + self._windows * window))
            part = Slice(instants[place : min(end, behind)], self.previous)
            self._rows = 0
            began = time.perf_counter()
            yield part
            seconds = time.perf_counter() - began
            place += len(part.instants)
            self.previous = part.instants[-1]
            if not self._is_fixed:
                self._adapt(seconds, len(part.instants), is_cut_short=behind < min(end, len(instants)))

    def note(self, rows: int) -> None:
        """The slice had this many more solutions."""
        self._rows += rows

    def _adapt(self, seconds: float, length: int, *, is_cut_short: bool) -> None:
        """`is_cut_short`: by the length of windows."""
        if is_cut_short and seconds < _SHORT:
            self._windows *= 2
        elif is_cut_short and seconds > _LONG:
            self._windows = max(self._windows // 2, _WINDOWS)
        if seconds > _SLOW:
            self._length = max(length // 2, 1)
        elif length == self._length:
            bearable = _ROWS * length // max(self._rows, 1)
            self._length = max(1, min(_GROWTH * length, bearable, _MOST))
