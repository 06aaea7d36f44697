"""Durations in the forms of every dialect (dialects.md), read and printed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.syntax.durations import (
    DAY,
    HOUR,
    MILLISECOND,
    MINUTE,
    MONTH,
    SECOND,
    WEEK,
    YEAR,
    match_duration,
    parse_duration,
)
from penstock.syntax.printer.durations import (
    SPARQLSTREAM_UNITS,
    STREAMING_SPARQL_UNITS,
    compact,
    in_largest_unit,
    iso_8601,
)


@pytest.mark.parametrize(
    ("text", "milliseconds"),
    [
        ("PT10S", 10 * SECOND),
        ("P1DT2H", DAY + 2 * HOUR),
        ("PT0.5S", 500),
        ("PT1M", MINUTE),
        ("P1M", MONTH),
        ("P1Y2W", YEAR + 2 * WEEK),
        ("pt5s", 5 * SECOND),
        ("10s", 10 * SECOND),
        ("10 s", 10 * SECOND),
        ("500ms", 500),
        ("5 MINUTES", 5 * MINUTE),
        ("5 Min", 5 * MINUTE),
        ("5m", 5 * MINUTE),
        ("24 hours", DAY),
        ("2 HR", 2 * HOUR),
        ("1h30m", HOUR + 30 * MINUTE),
        ("1h 30 m", HOUR + 30 * MINUTE),
        ("3 DAY", 3 * DAY),
        ("1 WEEK", WEEK),
        ("1 month", MONTH),
        ("1 YEAR", YEAR),
        ("1.5s", 1500),
        ("2000000ns", 2),
        ("3000us", 3),
        ("0s", 0),
        (" 5s ", 5 * SECOND),
        ("7", 7),
    ],
)
def test_what_is_a_duration(text: str, milliseconds: int) -> None:
    assert parse_duration(text) == milliseconds


@pytest.mark.parametrize(
    "text",
    ["", "s", "P", "PT", "P1", "PT1", "10x", "10 parsecs", "5 s x", "-5s", "1..5s", "0.5ms", "1ns", "s5", "five s",
     "1e3s", "10s_", "10sé", "10séc", "PT10Sé", "PT10S_", "٣s", "1h30"],
)  # fmt: skip
def test_what_is_none(text: str) -> None:
    assert parse_duration(text) is None


def test_a_number_alone_needs_a_default_unit() -> None:
    assert parse_duration("5", default_unit=None) is None
    assert parse_duration("5", default_unit=SECOND) == 5 * SECOND


def test_it_ends_where_the_next_word_begins() -> None:
    duration = match_duration("RANGE 10s STEP 5s", 6)
    assert duration is not None
    assert (duration.milliseconds(), duration.end) == (10 * SECOND, 9)


@pytest.mark.parametrize("text", ["10 SLIDE 5", "10 STEP 5", "10 TO NOW", "10 ]", "10 MATCHING", "10 DUPLICATES"])
def test_a_keyword_that_begins_like_a_unit_is_none(text: str) -> None:
    duration = match_duration(text, 0, MILLISECOND)
    assert duration is not None
    assert (duration.milliseconds(), duration.end) == (10, 2)


@pytest.mark.parametrize("digits", ["9" * 5000, "1." + "9" * 5000])
def test_a_very_long_number_is_no_traceback(digits: str) -> None:
    parse_duration(digits + "s")


@given(st.integers(0, 10**15))
def test_every_printed_form_reads_as_the_same_duration(milliseconds: int) -> None:
    forms = [
        compact(milliseconds),
        iso_8601(milliseconds),
        in_largest_unit(milliseconds, SPARQLSTREAM_UNITS),
        in_largest_unit(milliseconds, STREAMING_SPARQL_UNITS),
    ]
    assert [parse_duration(form) for form in forms] == [milliseconds] * 4


@given(st.lists(st.tuples(st.integers(0, 1000), st.sampled_from(["d", "h", "m", "s", "ms"])), min_size=1, max_size=4))
def test_a_chain_is_the_sum_of_its_links(links: list[tuple[int, str]]) -> None:
    total = sum(parse_duration(f"{number}{unit}") or 0 for number, unit in links)
    assert parse_duration("".join(f"{number}{unit}" for number, unit in links)) == total
    assert parse_duration(" ".join(f"{number} {unit}" for number, unit in links)) == total
