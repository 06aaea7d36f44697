"""Durations in every form that any dialect writes (dialects.md): `PT10S`, `10s`, `10 s`, `5 MINUTES`, `1h30m`."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import NamedTuple

MILLISECOND = 1
SECOND = 1000
MINUTE = 60 * SECOND
HOUR = 60 * MINUTE
DAY = 24 * HOUR
WEEK = 7 * DAY
MONTH = 30 * DAY
YEAR = 365 * DAY
"""Months and years, which SPARQLstream has, count as 30 and 365 days: a window needs a fixed width."""

_SPELLINGS = {
    Fraction(1, 1_000_000): "ns nanosecond nanoseconds",
    Fraction(1, 1000): "us microsecond microseconds",
    Fraction(MILLISECOND): "ms msec millisecond milliseconds",
    Fraction(SECOND): "s sec secs second seconds",
    Fraction(MINUTE): "m min mins minute minutes",
    Fraction(HOUR): "h hr hrs hour hours",
    Fraction(DAY): "d day days",
    Fraction(WEEK): "w week weeks",
    Fraction(MONTH): "month months",
    Fraction(YEAR): "y year years",
}
_UNITS = {spelling: unit for unit, spellings in _SPELLINGS.items() for spelling in spellings.split()}

UNIT_NAMES = tuple(_UNITS)
PLAIN_UNITS = ("ms", "s", "m", "h", "d")

_WHOLE = r"\d{1,15}"
_NUMBER = r"\d{1,15}(?:\.\d{1,15})?"
_UNIT = "|".join(sorted(_UNITS, key=len, reverse=True))
_QUANTITY = re.compile(rf"\s*({_NUMBER})\s*({_UNIT})(?![a-z])", re.IGNORECASE | re.ASCII)
_BARE = re.compile(rf"({_NUMBER})(?![\w.])", re.ASCII)
_ISO = re.compile(
    rf"P(?=[\dT])(?:({_WHOLE})Y)?(?:({_WHOLE})M)?(?:({_WHOLE})W)?(?:({_WHOLE})D)?"
    rf"(?:T(?=\d)(?:({_WHOLE})H)?(?:({_WHOLE})M)?(?:({_NUMBER})S)?)?(?!\w)",
    re.IGNORECASE | re.ASCII,
)
_ISO_UNITS = (YEAR, MONTH, WEEK, DAY, HOUR, MINUTE, SECOND)


class Duration(NamedTuple):
    """A duration in a text: its length and last unit in ms, and its position."""

    length: Fraction
    unit: Fraction
    start: int
    end: int

    def milliseconds(self) -> int | None:
        """Whole milliseconds, or None if the duration is finer than a millisecond (semantics.md §1)."""
        return int(self.length) if self.length.denominator == 1 else None


def match_duration(text: str, offset: int, default_unit: int | None = None) -> Duration | None:
    """The duration that begins at `offset`; a number without a unit is in units of `default_unit` ms, if given."""
    iso = _ISO.match(text, offset)
    if iso is not None:
        parts = zip(iso.groups(), _ISO_UNITS, strict=True)
        length = sum((Fraction(number) * unit for number, unit in parts if number is not None), Fraction(0))
        return Duration(length, Fraction(SECOND), offset, iso.end())
    length, unit, end = Fraction(0), Fraction(0), offset
    while (quantity := _QUANTITY.match(text, end)) is not None:
        unit = _UNITS[quantity[2].lower()]
        length += Fraction(quantity[1]) * unit
        end = quantity.end()
    if end > offset:
        return Duration(length, unit, offset, end)
    bare = _BARE.match(text, offset)
    if bare is not None and default_unit is not None:
        return Duration(Fraction(bare[1]) * default_unit, Fraction(default_unit), offset, bare.end())
    return None


def parse_duration(text: str, default_unit: int | None = MILLISECOND) -> int | None:
    """Parses a text that is only a duration, such as a command line option, to milliseconds; None if it is not."""
    stripped = text.strip()
    duration = match_duration(stripped, 0, default_unit)
    if duration is None or duration.end != len(stripped):
        return None
    return duration.milliseconds()
