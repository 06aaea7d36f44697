"""A look at files of `.tnt` that are on this machine, without Spark: whether all lines are ordinary, and when they are.

What it tells Spark would tell as well, by a job that reads every line. Here lines are bytes in the file, cut and
checked by columns, which takes a sixth of the processor time. A block of lines is looked at at a time, so files may be
of any size.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from mmap import ACCESS_READ, mmap
from pathlib import Path
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from penstock.sources.spark.patterns import COMMON_LINE, LINE, for_re2

Bytes: TypeAlias = npt.NDArray[np.uint8]
Numbers: TypeAlias = npt.NDArray[np.int64]

_BLOCK = 4 << 20
_NEWLINE, _RETURN, _MINUS, _ZERO = b"\n\r-0"
_BEHIND_TIME = len('" .')
_MOST_DIGITS = 18

_COMMON, _ORDINARY = (for_re2(pattern).removesuffix(r"\z") + r"\n?\z" for pattern in (COMMON_LINE, LINE))


@dataclass(frozen=True, slots=True)
class Steps:
    """Time cut into periods, which begin after `origin`, and after each `step` from there."""

    origin: int
    step: int

    def of(self, times: Numbers) -> Numbers:
        """The numbers of the periods that times are in."""
        return (times - self.origin - 1) // self.step


@dataclass(slots=True)
class Look:
    """Of lines that are all ordinary, in the order of the input."""

    elements: int = 0
    least: int | None = None
    greatest: int | None = None
    behind: int = 0
    """How much earlier an element is than one before it, at most."""
    firsts: dict[Steps, dict[int, int]] = field(default_factory=dict)
    """The least timestamp of each period."""

    def note(self, times: Numbers) -> None:
        """Elements that come next."""
        reached = np.maximum.accumulate(times)
        least, greatest = int(times.min()), int(reached[-1])
        before = least if self.greatest is None else self.greatest
        self.elements += len(times)
        self.behind = max(self.behind, int((reached - times).max()), before - least)
        self.least = least if self.least is None else min(self.least, least)
        self.greatest = max(before, greatest)
        ordered = np.sort(times, kind="stable")
        for steps, firsts in self.firsts.items():
            periods, places = np.unique(steps.of(ordered), return_index=True)
            for period, first in zip(periods.tolist(), ordered[places].tolist(), strict=True):
                firsts[period] = min(first, firsts.get(period, first))


def look_at(files: Iterable[Path], steps: Iterable[Steps], threads: int) -> Look | None:
    """What is told of the lines of some files, one after the other; None where a line is not ordinary."""
    found = Look(firsts={one: {} for one in steps})
    with ThreadPoolExecutor(threads) as pool:
        for path in files:
            if not path.stat().st_size:
                continue
            with path.open("rb") as file, mmap(file.fileno(), 0, access=ACCESS_READ) as text:
                for times in pool.map(lambda ends, text=text: _times_of(text[slice(*ends)]), _blocks(text)):
                    if times is None:
                        pool.shutdown(cancel_futures=True)
                        return None
                    found.note(times)
    return found


def _blocks(text: mmap) -> Iterator[tuple[int, int]]:
    """Where whole lines begin and end, some megabytes at a time."""
    start = 0
    while start < len(text):
        end = len(text)
        if end - start > _BLOCK:
            end = text.rfind(b"\n", start, start + _BLOCK) + 1 or text.find(b"\n", start + _BLOCK) + 1 or end
        yield start, end
        start = end


def _times_of(block: bytes) -> Numbers | None:
    """The timestamps of lines, if all of them are ordinary."""
    text = np.frombuffer(block, np.uint8)
    ends = np.flatnonzero(text == _NEWLINE)
    if text[-1] != _NEWLINE:
        ends = np.append(ends, len(text))
    offsets = np.zeros(len(ends) + 1, np.int32)
    offsets[1:] = np.minimum(ends + 1, len(text))
    lines = pa.StringArray.from_buffers(len(ends), pa.py_buffer(offsets), pa.py_buffer(block))
    if not _are_all(lines, _COMMON) and not _are_all(lines, _ORDINARY):
        return None
    return _numbers_before(text, ends)


def _are_all(lines: pa.Array, pattern: str) -> bool:
    return bool(pc.match_substring_regex(lines, pattern).true_count == len(lines))


def _numbers_before(text: Bytes, ends: npt.NDArray[np.intp]) -> Numbers:
    """The timestamps that lines have before their ends, digit by digit of all lines."""
    place = ends - 1 - (text[ends - 1] == _RETURN) - _BEHIND_TIME
    numbers, factor = np.zeros(len(ends), np.int64), 1
    for _ in range(_MOST_DIGITS):
        digits = text[place].astype(np.int64) - _ZERO
        is_digit = digits >= 0
        if not is_digit.any():
            break
        numbers += np.where(is_digit, digits * factor, 0)
        factor *= 10
        place = place - is_digit
    return np.where(text[place] == _MINUS, -numbers, numbers)
