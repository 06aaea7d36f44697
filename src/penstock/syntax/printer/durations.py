"""Whole milliseconds as the durations of each dialect: the largest unit that divides them evenly, or ISO 8601."""

from __future__ import annotations

from penstock.syntax.durations import DAY, HOUR, MILLISECOND, MINUTE, SECOND, WEEK

Units = dict[int, str]

COMPACT_UNITS: Units = {DAY: "d", HOUR: "h", MINUTE: "m", SECOND: "s", MILLISECOND: "ms"}
SPARQLSTREAM_UNITS: Units = {DAY: " DAYS", HOUR: " HOURS", MINUTE: " MINUTES", SECOND: " S", MILLISECOND: " MS"}
STREAMING_SPARQL_UNITS: Units = {
    WEEK: " WEEK", DAY: " DAY", HOUR: " HOUR", MINUTE: " MINUTE", SECOND: " S", MILLISECOND: " MS",
}  # fmt: skip


def in_largest_unit(milliseconds: int, units: Units) -> str:
    """`5m`, `90s`, `30 MINUTE`; zero is `0s`. `units` go from the largest to the smallest."""
    _check_not_negative(milliseconds)
    if milliseconds == 0:
        return f"0{units[SECOND]}"
    largest = next(unit for unit in units if milliseconds % unit == 0)
    return f"{milliseconds // largest}{units[largest]}"


def compact(milliseconds: int) -> str:
    """C-SPARQL, CQELS and the command line: `10s`, `500ms`."""
    return in_largest_unit(milliseconds, COMPACT_UNITS)


def iso_8601(milliseconds: int) -> str:
    """RSP-QL, an xsd:dayTimeDuration: `PT10S`, `PT0.5S`, `PT1H30M`, `P1DT2H`."""
    _check_not_negative(milliseconds)
    days, rest = divmod(milliseconds, DAY)
    hours, rest = divmod(rest, HOUR)
    minutes, rest = divmod(rest, MINUTE)
    time = "".join(f"{count}{unit}" for count, unit in ((hours, "H"), (minutes, "M")) if count)
    time += _seconds(rest) if rest else ""
    date = f"{days}D" if days else ""
    if not date and not time:
        return "PT0S"
    return f"P{date}T{time}" if time else f"P{date}"


def _seconds(milliseconds: int) -> str:
    whole, fraction = divmod(milliseconds, SECOND)
    return f"{whole}.{fraction:03d}".rstrip("0").rstrip(".") + "S"


def _check_not_negative(milliseconds: int) -> None:
    if milliseconds < 0:
        raise ValueError(f"A duration cannot be negative, and this one is {milliseconds} ms.")
