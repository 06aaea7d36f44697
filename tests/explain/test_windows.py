"""Windows told to a person: rules, first windows, what becomes of an element."""

from __future__ import annotations

import pytest
from tests.explain.cases import document, stream

from penstock.algebra import Settings
from penstock.explain.windows import WindowDescription

PAST = "[FROM NOW-PT10S TO NOW-PT4S STEP PT2S]"


def description_of(window: str, settings: Settings | None = None) -> WindowDescription:
    text = f"SELECT * FROM WINDOW ON STREAM <http://example.org/shops#nearby> {window} {{ ?s ?p ?o }}"
    return document(text, settings).windows[0]


@pytest.mark.parametrize(
    ("window", "rule", "sentence"),
    [
        ("[RANGE PT10S STEP PT2S]", "RANGE 10s STEP 2s", "Every 2s a window of 10s closes"),
        ("[RANGE PT10S]", "RANGE 10s STEP 10s", "Windows of 10s follow one another"),
        ("[RANGE PT2S STEP PT10S]", "RANGE 2s STEP 10s", "elements between two windows are in neither"),
        (PAST, "NOW - 10s TO NOW - 4s STEP 2s", "the elements with timestamps in (t - 10s, t - 4s]; it closes at t0"),
        ("[NOW]", "NOW", "the elements with exactly that timestamp"),
        ("[ALL]", "ALL", "all elements so far"),
        ("[ELEMENTS 3]", "ELEMENTS 3", "the last 3 elements of the stream; it closes after each new one"),
        (
            "[ELEMENTS 1 STEP 2]",
            "ELEMENTS 1 STEP 2",
            "the last element of the stream; it closes after every 2 new ones",
        ),
    ],
)
def test_rules(window: str, rule: str, sentence: str) -> None:
    told = description_of(window)
    assert told.rule == rule
    assert sentence in told.sentence


def spans(told: WindowDescription) -> list[tuple[int, int, int]]:
    return [(span.opens, span.closes, span.at) for span in told.first_spans]


def test_first_windows_begin_at_t0() -> None:
    assert spans(description_of("[RANGE PT0.005S STEP PT0.002S ORIGIN 1]")) == [(1, 6, 6), (3, 8, 8), (5, 10, 10)]
    assert spans(description_of("[RANGE PT5S STEP PT2S]", Settings(origin=1000)))[0] == (1000, 6000, 6000)
    assert spans(description_of(PAST)) == [(-10_000, -4_000, 0), (-8_000, -2_000, 2_000), (-6_000, 0, 4_000)]
    assert spans(description_of("[ELEMENTS 3]")) == []


def test_with_data_there_are_the_windows_from_its_first_element_on() -> None:
    text = "SELECT * FROM WINDOW ON STREAM <http://example.org/shops#coupon> [RANGE 2ms STEP 2ms] { ?s ?p ?o }"
    told = document(text, coupon=stream("coupon")).windows[0]
    assert [(span.opens, span.closes) for span in told.data_spans] == [(6, 8), (8, 10), (10, 12)]
    assert told.sample.time == 8
    assert told.sample.valid == (8, 9)


@pytest.mark.parametrize(
    ("window", "valid"),
    [
        ("[RANGE PT10S STEP PT2S]", "[1s, 10s]"),
        ("[RANGE PT2S STEP PT10S]", "[1s, 2s]"),
        (PAST, "[5s, 11s)"),
        ("[NOW]", "[1s, 1.001s)"),
        ("[ALL]", "[1s, …)"),
    ],
)
def test_a_sample_element(window: str, valid: str) -> None:
    told = description_of(window)
    assert told.sample.valid is not None
    explained = document(f"SELECT * FROM WINDOW ON STREAM <http://e.org/s> {window} {{ ?s ?p ?o }}")
    assert told.validity_text(told.sample.valid, explained.scale) == valid


def test_an_element_before_the_origin_is_never_valid() -> None:
    text = "SELECT * FROM WINDOW ON STREAM <http://example.org/shops#nearby> [RANGE 5ms STEP 2ms] { ?s ?p ?o }"
    told = document(text, Settings(origin=2), nearby=stream("nearby")).windows[0]
    assert told.sample.valid is None
