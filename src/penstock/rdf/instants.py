"""Instants (semantics.md §1): whole milliseconds since 1970-01-01T00:00:00Z, also written as xsd:dateTime."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

_DATE_TIME = re.compile(
    r"(\d{4})-(\d{2})-(\d{2})(?:T(\d{2}):(\d{2}):(\d{2})(?:\.(\d+))?)?(Z|[+-]\d{2}:\d{2})?", re.ASCII
)
_INTEGER = re.compile(r"[+-]?\d+", re.ASCII)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def parse_instant(text: str) -> int | None:
    """Milliseconds from an integer, an xsd:dateTime or a date (midnight); None if the text is none of these.

    The default time zone is UTC. Digits after the millisecond are dropped.
    """
    if _INTEGER.fullmatch(text):
        return int(text) if len(text) < 20 else None
    matched = _DATE_TIME.fullmatch(text)
    if matched is None:
        return None
    year, month, day, hour, minute, second, fraction, zone = matched.groups()
    whole_day = timedelta(days=1) if hour == "24" and minute == second == "00" else timedelta()
    try:
        moment = datetime(
            int(year), int(month), int(day), 0 if whole_day else int(hour or 0), int(minute or 0), int(second or 0),
            tzinfo=UTC,
        )  # fmt: skip
        moment += whole_day - _offset(zone)
    except (ValueError, OverflowError):
        return None
    return (moment - _EPOCH) // timedelta(milliseconds=1) + int((fraction or "0").ljust(3, "0")[:3])


def _offset(zone: str | None) -> timedelta:
    if zone is None or zone == "Z":
        return timedelta()
    hours, minutes = int(zone[1:3]), int(zone[4:6])
    if hours > 14 or minutes > 59:
        raise ValueError(zone)
    offset = timedelta(hours=hours, minutes=minutes)
    return -offset if zone[0] == "-" else offset


FIRST_DATE = 10**11
"""Instants from here on (March 1973) are shown as dates, earlier ones as plain milliseconds."""

_LAST_DATE = 253_402_300_800_000


def instant_text(instant: int) -> str:
    """The instant in readable form: `8000` or `2024-05-01T12:00:00Z`; `parse_instant` reads both."""
    if not FIRST_DATE <= instant < _LAST_DATE:
        return str(instant)
    fraction = f".{instant % 1000:03}" if instant % 1000 else ""
    return f"{_EPOCH + timedelta(seconds=instant // 1000):%Y-%m-%dT%H:%M:%S}{fraction}Z"
