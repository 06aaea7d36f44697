"""Readable instants and durations: `10m`, plain milliseconds in small examples, or a date."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from penstock.rdf.instants import FIRST_DATE
from penstock.syntax.durations import DAY, HOUR, MINUTE, SECOND
from penstock.syntax.printer.durations import compact

_FINE = 100
_SMALL = 10_000
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_LAST_DATE = 253_402_300_800_000


@dataclass(frozen=True, slots=True)
class TimeScale:
    """`is_plain`: instants are shown as plain milliseconds, as in the papers."""

    is_plain: bool = False

    @classmethod
    def fitting(cls, durations: Iterable[int], instants: Iterable[int]) -> TimeScale:
        """Plain if a window is finer than a tenth of a second, or if there is no window and the time span is short."""
        lengths, times = list(durations), list(instants)
        if lengths:
            return cls(any(length % _FINE for length in lengths))
        return cls(bool(times) and max(times) < _SMALL)

    def instant(self, instant: int) -> str:
        if FIRST_DATE <= instant < _LAST_DATE:
            return f"{_moment(instant):%Y-%m-%dT%H:%M:%S}{_fraction(instant)}Z"
        return str(instant) if self.is_plain else elapsed(instant)

    def instants(self, instants: Sequence[int]) -> list[str]:
        """Several instants in a row; for dates on one day, only the first includes the day."""
        texts = []
        for position, instant in enumerate(instants):
            text = self.instant(instant)
            before = self.instant(instants[position - 1]) if position else ""
            day, mark, time = text.partition("T")
            texts.append(time if mark and before.startswith(day + mark) else text)
        return texts

    def tick(self, instant: int, step: int) -> str:
        """The label of a mark on an axis with marks `step` apart; the caption contains what all marks share."""
        if not FIRST_DATE <= instant < _LAST_DATE:
            return self.instant(instant)
        if step >= DAY:
            return f"{_moment(instant):%Y-%m-%d}"
        return f"{_moment(instant):%H:%M}" if step % MINUTE == 0 else f"{_moment(instant):%H:%M:%S}{_fraction(instant)}"

    def caption(self, instant: int, step: int) -> str:
        """The part that all marks of an axis share; the axis begins at `instant`."""
        if FIRST_DATE <= instant < _LAST_DATE:
            return "UTC" if step >= DAY else f"{_moment(instant):%Y-%m-%d}, UTC"
        return "ms" if self.is_plain else "since 0"

    def duration(self, milliseconds: int) -> str:
        """In one unit, as dialects write it: `90s`."""
        return compact(milliseconds)

    def length(self, milliseconds: int) -> str:
        """In several units: `1m30s`."""
        return compact(milliseconds) if self.is_plain else elapsed(milliseconds)


def elapsed(milliseconds: int) -> str:
    """`0`, `10m`, `1h30m`, `1m2.5s`, `-1ms`."""
    if milliseconds == 0:
        return "0"
    sign, rest = ("-", -milliseconds) if milliseconds < 0 else ("", milliseconds)
    if rest < SECOND:
        return f"{sign}{rest}ms"
    parts = []
    for unit, mark in ((DAY, "d"), (HOUR, "h"), (MINUTE, "m")):
        count, rest = divmod(rest, unit)
        if count:
            parts.append(f"{count}{mark}")
    if rest:
        parts.append(f"{rest / SECOND:.3f}".rstrip("0").rstrip(".") + "s")
    return sign + "".join(parts)


def _moment(instant: int) -> datetime:
    return _EPOCH + timedelta(milliseconds=instant)


def _fraction(instant: int) -> str:
    return f".{instant % SECOND:03d}" if instant % SECOND else ""
