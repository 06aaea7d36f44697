"""How many evaluation instants are answered at a time."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence

from penstock.engines.protocol import Slice

_QUICK, _SLOW = 0.25, 1.0
"""In seconds: what takes less may be longer, what takes more shall be shorter."""

_MOST = 1 << 16


class Slicing:
    """Cuts instants into slices: longer ones as long as they are quick, for the work on a slice is shared by all its
    instants; shorter ones when they are slow, for what they give has to be held in memory."""

    def __init__(self, length: int | None = None) -> None:
        self._length = length or 64
        self._is_fixed = length is not None
        self.previous: int | None = None
        """The last instant that was answered."""

    def slices(self, instants: Sequence[int]) -> Iterator[Slice]:
        place = 0
        while place < len(instants):
            part = Slice(instants[place : place + self._length], self.previous)
            began = time.perf_counter()
            yield part
            taken = time.perf_counter() - began
            place += len(part.instants)
            self.previous = part.instants[-1]
            if not self._is_fixed:
                self._adapt(taken, len(part.instants))

    def _adapt(self, seconds: float, length: int) -> None:
        if seconds < _QUICK and length == self._length:
            self._length = min(2 * self._length, _MOST)
        elif seconds > _SLOW:
            self._length = max(self._length // 2, 1)
