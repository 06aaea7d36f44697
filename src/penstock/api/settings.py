"""Settings as users write them: instants, durations, sizes, report policies."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Literal as OneOf

from penstock.rdf.instants import parse_instant
from penstock.rdf.sizes import parse_size
from penstock.syntax import ast
from penstock.syntax.durations import parse_duration
from penstock.syntax.errors import QuerySyntaxError
from penstock.syntax.parser.reports import parse_report

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND = timedelta(milliseconds=1)


class SettingError(ValueError):
    """A value that a setting cannot have; the message is a sentence."""


GREATEST_INSTANT = 10**17
"""In milliseconds, three million years after 1970: sums of such instants and durations are still 64-bit integers."""


def origin(value: str | int | datetime) -> int | OneOf["first"]:
    """An instant, or `first`."""
    if isinstance(value, str) and value.lower() == "first":
        return "first"
    return instant(value, or_else=", or first")


def instant(value: str | int | datetime, *, or_else: str = "") -> int:
    """Milliseconds since 1970; `or_else` is what might have been written instead."""
    if isinstance(value, datetime):
        return milliseconds(value)
    time = value if isinstance(value, int) else parse_instant(value)
    if time is not None and abs(time) > GREATEST_INSTANT:
        raise SettingError(f"{value!r} is out of range; an instant has at most {GREATEST_INSTANT} milliseconds.")
    if time is None:
        raise SettingError(
            f"{value!r} is not an instant; write milliseconds, a date and time such as 2024-05-01T12:00:00Z{or_else}."
        )
    return time


def duration(value: str | int | timedelta) -> int:
    """Milliseconds."""
    if isinstance(value, timedelta):
        value = value // _MILLISECOND
    length = value if isinstance(value, int) else parse_duration(value)
    if length is None or length < 0:
        raise SettingError(f"{str(value)!r} is not a duration; write 500ms, 10s or PT10S.")
    return length


def size(value: str | int) -> int:
    """Bytes."""
    found = value if isinstance(value, int) else parse_size(value)
    if found is None or found <= 0:
        raise SettingError(f"{str(value)!r} is not a size; write 100MB, 1.5GB or bytes.")
    return found


def report_policy(value: str | ast.Report) -> ast.Report:
    if not isinstance(value, str):
        return value
    try:
        return parse_report(value)
    except QuerySyntaxError as error:
        problem = error.problems[0]
        hint = "" if problem.hint is None else f"; {problem.hint}"
        raise SettingError(f"{value!r}: {problem.message}{hint}") from None


def milliseconds(moment: datetime) -> int:
    """Since 1970; a date and time without a zone is UTC (semantics.md §1)."""
    return ((moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)) - _EPOCH) // _MILLISECOND
