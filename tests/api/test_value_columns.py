"""Typed columns against the value of one term at a time."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from penstock.api.value_columns import texts, values
from penstock.rdf.encoding import decode
from penstock.rdf.instants import parse_instant
from penstock.rdf.terms import BlankNode, Literal

_NUMERIC = ["0", "-7", "+3", "007", "9223372036854775807", "9223372036854775808", "1.5", "-.5", "1e3", "1e999", "x", ""]
integers = st.builds(str.__add__, st.sampled_from(["i", "nint ", "nbyte "]), st.sampled_from(_NUMERIC))
numbers = st.builds(str.__add__, st.sampled_from("def"), st.sampled_from([*_NUMERIC, "INF", "-INF", "1" * 400]))
booleans = st.builds(str.__add__, st.just("b"), st.sampled_from(["true", "false", "1", "0", "TRUE"]))
instants = st.builds(
    str.__add__,
    st.just("t"),
    st.sampled_from(
        ["2024-02-29T12:00:00Z", "2024-02-30T12:00:00Z", "2024-05-01T24:00:00", "2024-05-01T01:02:03.4567+02:00", "1"]
    ),
)
others = st.sampled_from(["Ihttp://e/a", "Bb1", "Sa b", "Len a b", "Ohttp://e/d 1 2", "Ohttp://e/d "])
columns = st.one_of(
    *(st.lists(st.none() | each) for each in (integers, numbers, integers | numbers, booleans, instants, others)),
    st.lists(st.none() | integers | booleans | instants | others),
)


def text_of(term: str) -> str:
    read = decode(term)
    return read.lexical if isinstance(read, Literal) else str(read) if isinstance(read, BlankNode) else read.value


def value_of(term: str) -> object:
    """A number, a boolean, an instant, or None where there is no such value."""
    lexical = text_of(term)
    try:
        if term[0] in "in":
            return int(lexical) if -(2**63) <= int(lexical) < 2**63 else None
        if term[0] in "def":
            return float(lexical)
    except ValueError:
        return None
    if term[0] == "b":
        return {"true": True, "1": True, "false": False, "0": False}.get(lexical)
    instant = parse_instant(lexical) if term[0] == "t" and "T" in lexical else None
    return None if instant is None else datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=instant)


@given(columns)
def test_a_column_has_the_type_of_all_its_values(column: list[str | None]) -> None:
    encoded = pa.chunked_array([pa.array(column, pa.string())])
    shown = [None if term is None else text_of(term) for term in column]
    assert texts(encoded).to_pylist() == shown
    found = [None if term is None else value_of(term) for term in column]
    kinds = {type(value) for term, value in zip(column, found, strict=True) if term is not None}
    is_typed = len(kinds) == 1 or kinds == {int, float}
    assert values(encoded).to_pylist() == (found if is_typed and kinds != {type(None)} else shown)
