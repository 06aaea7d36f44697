from __future__ import annotations

import pytest

from penstock.syntax.suggestions import closest, did_you_mean


@pytest.mark.parametrize(
    ("name", "candidates", "expected"),
    [
        ("?nmae", ["?name", "?mail"], "?name"),
        ("Tot", ["seller", "market", "tot"], "tot"),
        ("?X", ["?x"], "?x"),
        ("SELCT", ["SELECT", "CONSTRUCT", "ASK"], "SELECT"),
        ("strstart", ["STRSTARTS", "STRENDS", "STR"], "STRSTARTS"),
        ("OPTOINAL", ["OPTIONAL", "UNION"], "OPTIONAL"),
        ("foaff", ["foaf", "rdf"], "foaf"),
        ("xds", ["xsd", "rdf"], "xsd"),
        ("obs", ["ob"], "ob"),
        ("value1", ["value"], "value"),
        ("temprature", ["temperature", "pressure"], "temperature"),
    ],
)
def test_a_slip_is_recognised(name: str, candidates: list[str], expected: str) -> None:
    assert closest(name, candidates) == expected


@pytest.mark.parametrize(
    ("name", "candidates"),
    [
        ("?a", ["?b"]),
        ("a", ["b"]),
        ("v1", ["v2"]),
        ("obId3", ["obId1", "obId2"]),
        ("?x", ["?xy"]),
        ("sum", ["num"]),
        ("lat", ["lon"]),
        ("name", ["name"]),
        ("name", []),
        ("price", ["name", "mail"]),
        ("", ["a"]),
    ],
)
def test_another_name_is_not_a_slip(name: str, candidates: list[str]) -> None:
    assert closest(name, candidates) is None


def test_the_nearest_wins_whatever_the_order() -> None:
    assert closest("sensr", ["sender", "sensor"]) == closest("sensr", ["sensor", "sender"]) == "sensor"
    assert closest("nmae", ["NAME", "name"]) == "name"
    assert closest("cars", ["cart", "card"]) == closest("cars", ["card", "cart"])


def test_the_cutoff_decides_how_much_must_stay() -> None:
    assert closest("colour", ["color"], cutoff=0.9) is None
    assert closest("colour", ["color"], cutoff=0.8) == "color"


def test_as_a_sentence() -> None:
    assert did_you_mean("?nmae", ["?name"]) == "did you mean ?name?"
    assert did_you_mean("?nmae", ["?price"]) is None
