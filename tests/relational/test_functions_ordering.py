"""ORDER BY on terms: what comes before what (SPARQL 1.1 §15.1), and numbers by their exact values."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlglot import exp

from penstock.relational.functions.library import Library
from penstock.relational.functions.ordering import order_key

IN_ORDER = [
    None,
    "Bb1",
    "Ihttp://example.org/a",
    "Ihttp://example.org/b",
    "e-INF",
    "i-7",
    "d0.1",
    "nbyte 1",
    "d1.5",
    "i9007199254740993",
    "d9007199254740993.5",
    "e1e300",
    "eINF",
    "t2020-01-01T00:30:00+01:00",
    "t2020-01-01T00:00:00Z",
    "bfalse",
    "btrue",
    "S",
    "Sa",
    "Sb",
]
BASES = (0, 7, 10**15, 2**53, 123456789012345678, 2**60, 10**19)
FRACTIONS = ("0", "1", "10", "25", "5", "000000000000000001", "999999999999999999")

numbers = st.builds(
    lambda sign, base, offset, fraction: (
        f"i{sign}{base + offset}" if fraction is None else f"d{sign}{base + offset}.{fraction}"
    ),
    st.sampled_from(("", "-")),
    st.sampled_from(BASES),
    st.integers(0, 3),
    st.none() | st.sampled_from(FRACTIONS),
)


@pytest.fixture(scope="module")
def connection() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as opened:
        yield opened


def _ranks(connection: duckdb.DuckDBPyConnection, terms: list[str | None]) -> list[int]:
    """The place of each term in the order; equal ones share it."""
    order = exp.Order(expressions=[exp.Ordered(this=key) for key in order_key(exp.column("term"))])
    rank = exp.Window(this=exp.Anonymous(this="dense_rank"), order=order)
    statement = (
        f"SELECT {rank.sql('duckdb')} FROM (SELECT unnest($terms) AS term, unnest($places) AS place) ORDER BY place"
    )
    Library(connection).provide(statement)
    found = connection.execute(statement, {"terms": terms, "places": list(range(len(terms)))}).fetchall()
    return [rank for (rank,) in found]


def test_kinds_of_terms(connection: duckdb.DuckDBPyConnection) -> None:
    assert _ranks(connection, list(IN_ORDER)) == list(range(1, len(IN_ORDER) + 1))


@given(st.lists(numbers, min_size=2, max_size=30))
def test_numbers_are_exact(connection: duckdb.DuckDBPyConnection, terms: list[str]) -> None:
    values = [Decimal(term[1:]) for term in terms]
    places = {value: place for place, value in enumerate(sorted(set(values)), start=1)}
    assert _ranks(connection, list(terms)) == [places[value] for value in values]
