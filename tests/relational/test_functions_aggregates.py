"""Aggregates and the order of terms on DuckDB."""

import itertools
import random
from collections.abc import Iterator
from decimal import Decimal

import duckdb
import pyoxigraph
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlglot import exp
from tests.relational.function_cases import AGGREGATES, DISTINCT_AGGREGATES, ORDERED

from penstock.algebra.expressions import Aggregate, Variable
from penstock.relational.functions.aggregates import KIND, finished, needs_distinct_rows, parts_of, readings_of
from penstock.relational.functions.library import install
from penstock.relational.functions.ordering import order_key

X = exp.column("x", "terms")
DATATYPES = {"i": "integer", "d": "decimal", "e": "double", "f": "float"}


@pytest.fixture(scope="module")
def connection() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as opened:
        install(opened)
        yield opened


def aggregated(
    connection: duckdb.DuckDBPyConnection,
    name: str,
    terms: list[str | None],
    *,
    distinct: bool = False,
    separator: str | None = None,
    portions: int = 1,
) -> str | None:
    """The aggregate of all terms, each portion of them first."""
    aggregate = Aggregate(name, Variable("x"), distinct, separator)
    _fill(connection, terms)
    readings = readings_of(aggregate)
    parts = parts_of(aggregate, X, {name: exp.column(f"read_{name}") for name in readings})
    rows = "(SELECT DISTINCT x FROM terms)" if needs_distinct_rows(aggregate) else "terms"
    columns = [f"{reading(exp.column('x')).sql('duckdb')} AS read_{name}" for name, reading in readings.items()]
    source = f"(SELECT {', '.join(['x', *columns])} FROM {rows}) AS terms"
    portion = f"abs(hash(terms.x)) % {portions}"
    of_rows = [exp.alias_(part.of_rows, name.replace(" ", "_")) for name, part in parts.items()]
    inner = exp.select(*of_rows, "count(*) AS size").from_(source, dialect="duckdb").group_by(portion).subquery("parts")
    names = {name: name.replace(" ", "_") for name in parts}
    together = [exp.alias_(part.combination.together(exp.column(names[n])), names[n]) for n, part in parts.items()]
    size = exp.alias_(exp.Sum(this=exp.column("size")), "size")
    groups = exp.select(*together, size).from_(inner).subquery("groups")
    term = finished(aggregate, {name: exp.column(column) for name, column in names.items()}, exp.column("size"))
    [(value,)] = connection.execute(exp.select(term).from_(groups).sql("duckdb")).fetchall()
    return value


def _fill(connection: duckdb.DuckDBPyConnection, terms: list[str | None]) -> None:
    connection.execute("CREATE OR REPLACE TEMP TABLE terms (x VARCHAR)").fetchall()
    connection.execute("INSERT INTO terms SELECT unnest($terms)", {"terms": terms}).fetchall()


@pytest.mark.parametrize(("name", "terms", "expected"), AGGREGATES)
def test_aggregates(
    connection: duckdb.DuckDBPyConnection, name: str, terms: list[str | None], expected: str | None
) -> None:
    for portions in (1, 2, 3):
        assert aggregated(connection, name, list(terms), portions=portions) == expected


@pytest.mark.parametrize(("name", "terms", "expected"), DISTINCT_AGGREGATES)
def test_distinct_aggregates(
    connection: duckdb.DuckDBPyConnection, name: str, terms: list[str | None], expected: str | None
) -> None:
    assert aggregated(connection, name, terms, distinct=True, separator=",") == expected


numbers = st.one_of(
    st.integers(-(10**15), 10**15).map(lambda value: f"i{value}"),
    st.decimals(-(10**9), 10**9, places=6).map(lambda value: f"d{value:f}"),
)


@settings(max_examples=30, deadline=None)
@given(st.lists(numbers, min_size=1, max_size=40))
def test_sums_are_exact(terms: list[str]) -> None:
    with duckdb.connect() as connection:
        install(connection)
        found = aggregated(connection, "SUM", list(terms))
        assert found is not None
        assert Decimal(found[1:]) == sum(Decimal(term[1:]) for term in terms)
        assert found[0] == ("d" if any(term[0] == "d" for term in terms) else "i")


@pytest.mark.parametrize(
    ("kinds", "gone", "expected"), [([0, 1], [1], 0), ([0, 1, 2, 3], [3], 2), ([4, 3, 3], [4, 3], 3), ([], [], 0)]
)
def test_kinds_can_be_taken_away(
    connection: duckdb.DuckDBPyConnection, kinds: list[int], gone: list[int], expected: int
) -> None:
    """Along a sweep the kind of a sum is that of the greatest number which is still there."""
    weight = KIND.weight(exp.column("kind")).sql("duckdb")
    values = [(kind, 1) for kind in kinds] + [(kind, -1) for kind in gone] + [(None, 1)]
    listed = ", ".join(f"({'NULL' if kind is None else kind}, {sign})" for kind, sign in values)
    found = KIND.of_weights(exp.column("weight")).sql("duckdb")
    query = f"SELECT {found} FROM (SELECT sum(sign * {weight}) AS weight FROM (VALUES {listed}) AS v(kind, sign))"
    assert connection.execute(query).fetchall() == [(expected,)]


@pytest.mark.parametrize("descending", [False, True])
def test_order(connection: duckdb.DuckDBPyConnection, descending: bool) -> None:
    terms = list(itertools.chain.from_iterable(ORDERED))
    places = {term: place for place, group in enumerate(ORDERED) for term in group}
    random.Random(7).shuffle(terms)
    _fill(connection, terms)
    keys = [exp.Ordered(this=key, desc=descending) for key in order_key(X)]
    query = exp.select(X).from_("terms").order_by(*keys).sql("duckdb")
    found = [places[term] for (term,) in connection.execute(query).fetchall()]
    assert found == sorted(found, reverse=descending)


def test_the_next_condition_decides_between_terms_of_one_value(connection: duckdb.DuckDBPyConnection) -> None:
    equal = ["i1", "d1.0", "e1e0", "i01", "nbyte 1"]
    _fill(connection, list(equal))
    [key] = order_key(X)
    query = exp.select(exp.Count(this=exp.Distinct(expressions=[key]))).from_("terms").sql("duckdb")
    assert connection.execute(query).fetchall() == [(1,)]


def test_numbers_are_ordered_as_by_the_oracle(connection: duckdb.DuckDBPyConnection) -> None:
    chosen = random.Random(3)
    terms = [f"{chosen.choice('ide')}{chosen.randint(-50, 50)}" for _ in range(60)]
    values = " ".join(f'"{term[1:]}"^^<http://www.w3.org/2001/XMLSchema#{DATATYPES[term[0]]}>' for term in terms)
    answers = pyoxigraph.Store().query(f"SELECT ?x {{ VALUES ?x {{ {values} }} }} ORDER BY ?x")
    _fill(connection, list(terms))
    query = exp.select(X).from_("terms").order_by(*order_key(X)).sql("duckdb")
    found = [Decimal(term[1:]) for (term,) in connection.execute(query).fetchall()]
    assert found == [Decimal(answer["x"].value) for answer in answers]
