"""The closing instants of a window, for peers without windows."""

from __future__ import annotations

import bisect
from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Closings:
    """RANGE `width` STEP `step` over a stream with these sorted timestamps, in milliseconds; the origin is 0.

    Iterates over the closing instants at which the window is not empty, each with the indexes where its content begins
    and ends.
    """

    width: int
    step: int
    times: list[int]

    def __iter__(self) -> Iterator[tuple[int, int, int]]:
        passed = max(0, -((self.width - self.times[0]) // self.step))
        for closing in range(self.width + passed * self.step, self.times[-1] + 1, self.step):
            begin, end = (bisect.bisect_right(self.times, time) for time in (closing - self.width, closing))
            if begin < end:
                yield closing, begin, end
