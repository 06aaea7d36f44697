"""Instants as semantics.md §1 has them: whole ms, or an xsd:dateTime, which without a zone is UTC."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.rdf.instants import instant_text, parse_instant

DAY = 86_400_000


@pytest.mark.parametrize(
    ("text", "instant"),
    [
        ("0", 0),
        ("-5", -5),
        ("+8000", 8000),
        ("1970-01-01T00:00:00Z", 0),
        ("1970-01-01T00:00:00", 0),
        ("1970-01-01T00:00:01.5Z", 1500),
        ("1970-01-01T00:00:00.0019Z", 1),
        ("1969-12-31T23:59:59Z", -1000),
        ("1969-12-31T23:59:59.999Z", -1),
        ("1970-01-01T01:00:00+01:00", 0),
        ("1970-01-01T00:00:00-01:30", 5_400_000),
        ("1970-01-02", DAY),
        ("1970-01-02Z", DAY),
        ("1970-01-01T24:00:00Z", DAY),
        ("2014-08-01T00:00:00Z", 1_406_851_200_000),
        ("0001-01-01T00:00:00Z", -62_135_596_800_000),
        ("9999-12-31T23:59:59.999Z", 253_402_300_799_999),
    ],
)
def test_what_is_an_instant(text: str, instant: int) -> None:
    assert parse_instant(text) == instant


@pytest.mark.parametrize(
    "text",
    ["", "now", "1.5", "1e3", "--5", "1970-13-01", "1970-02-30", "1970-01-01T25:00:00", "1970-01-01T24:00:01",
     "1970-01-01T00:60:00", "1970-01-01T00:00", "1970-01-01 00:00:00", "1970-01-01T00:00:00+15:00", "1970-1-1",
     "1970-01-01T00:00:00.Z", "٣", "9" * 5000, "9999-12-31T23:59:59-14:00", "1970-01-01T00:00:00Z "],
)  # fmt: skip
def test_what_is_none(text: str) -> None:
    assert parse_instant(text) is None


@given(st.datetimes(timezones=st.just(UTC)), st.integers(-14 * 60, 14 * 60))
def test_any_date_in_any_zone(moment: datetime, offset: int) -> None:
    expected = (moment - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(milliseconds=1)
    try:
        shown = moment.astimezone(timezone(timedelta(minutes=offset))).isoformat()
    except OverflowError:
        return
    assert parse_instant(shown) == expected
    assert parse_instant(str(expected)) == expected


@pytest.mark.parametrize(
    ("instant", "text"),
    [
        (0, "0"),
        (-5, "-5"),
        (8000, "8000"),
        (1_714_564_800_000, "2024-05-01T12:00:00Z"),
        (1_714_564_800_005, "2024-05-01T12:00:00.005Z"),
        (10**17, "100000000000000000"),
    ],
)
def test_an_instant_as_text_and_back(instant: int, text: str) -> None:
    assert instant_text(instant) == text
    assert parse_instant(text) == instant
