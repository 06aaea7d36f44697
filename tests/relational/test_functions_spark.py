"""The function library on Spark: the same expressions, values and answers as on DuckDB, many in one statement."""

from __future__ import annotations

import itertools
import math
import random
import struct
from collections.abc import Iterator, Sequence
from decimal import ROUND_DOWN, Decimal, localcontext
from typing import TYPE_CHECKING

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlglot import exp
from tests.relational.deep_expressions import depth_of, nested
from tests.relational.function_cases import (
    AGGREGATES,
    BASE,
    DISTINCT_AGGREGATES,
    NOW,
    OF_ONE,
    OF_TWO,
    ORDERED,
    PATTERNS,
    REFERENCES,
    SINGLE,
    STRINGS,
    UNBOUND,
    VALUES,
    encoded,
    expression_of,
)

from penstock.algebra.expressions import Aggregate, Variable
from penstock.engines.spark.patterns import provide
from penstock.relational.functions import patterns
from penstock.relational.functions.aggregates import finished, needs_distinct_rows, parts_of, readings_of
from penstock.relational.functions.catalogue import compile_condition, compile_expression
from penstock.relational.functions.expansion import expanded
from penstock.relational.functions.library import install
from penstock.relational.functions.nesting import MOST_WEIGHT_DISTRIBUTED
from penstock.relational.functions.ordering import order_key
from penstock.relational.spark_sql import to_spark

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Row = tuple[str, str]
Group = tuple[str, list[str | None], str | None]

OTHERWISE = {
    # An integer has 38 digits here, and 127 bits there.
    "170141183460469231731687303715884105727 - 1": None,
}
PAIRS = random.Random(11).sample(list(itertools.product(VALUES, VALUES)), 800)


@pytest.fixture(scope="module")
def connection() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as opened:
        install(opened)
        yield opened


@pytest.fixture
def interpreted(spark: SparkSession) -> Iterator[SparkSession]:
    """Without generated code, which takes longer to compile than all else here."""
    spark.conf.set("spark.sql.codegen.factoryMode", "NO_CODEGEN")
    yield spark
    spark.conf.set("spark.sql.codegen.factoryMode", "FALLBACK")


def compiled(text: str, *, as_condition: bool = False) -> exp.Expr:
    compiler = compile_condition if as_condition else compile_expression
    now = exp.Literal.string(NOW)
    return compiler(expression_of(text), lambda variable: exp.column(variable.name, "terms"), now=now)


def selected(columns: Sequence[exp.Expr]) -> exp.Select:
    named = [exp.alias_(column, f"c{place}") for place, column in enumerate(columns)]
    return exp.select(*named).from_("terms").order_by("place")


def by_spark(spark: SparkSession, columns: Sequence[exp.Expr], rows: Sequence[Row]) -> list[tuple[object, ...]]:
    table = [(place, encoded(a), encoded(b)) for place, (a, b) in enumerate(rows)]
    spark.createDataFrame(table, "place INT, a STRING, b STRING").coalesce(1).createOrReplaceTempView("terms")
    statement = expanded(to_spark(selected(columns)))
    provide(spark, statement)
    return [tuple(row) for row in spark.sql(statement).collect()]


def by_duckdb(
    connection: duckdb.DuckDBPyConnection, columns: Sequence[exp.Expr], rows: Sequence[Row]
) -> list[tuple[object, ...]]:
    connection.execute("CREATE OR REPLACE TEMP TABLE terms (place INTEGER, a VARCHAR, b VARCHAR)").fetchall()
    table = {"place": list(range(len(rows))), "a": [encoded(a) for a, _ in rows], "b": [encoded(b) for _, b in rows]}
    connection.execute("INSERT INTO terms SELECT unnest($place), unnest($a), unnest($b)", table).fetchall()
    return connection.execute(selected(columns).sql("duckdb")).fetchall()


def same(left: object, right: object) -> bool:
    """Terms by identity, doubles and floats by value: Java may write more digits than it needs."""
    if not isinstance(left, str) or not isinstance(right, str) or left[0] != right[0] or left[0] not in "ef":
        return left == right
    return _value(left) == _value(right)


def _value(term: str) -> bytes | str:
    number = float(term[1:])
    if math.isnan(number):
        return "NaN"
    return struct.pack("f" if term[0] == "f" and abs(number) < 3e38 else "d", number)


def assert_agree(
    spark: SparkSession, connection: duckdb.DuckDBPyConnection, texts: Sequence[str], rows: Sequence[Row]
) -> None:
    columns = [compiled(text) for text in texts]
    on_spark, on_duckdb = by_spark(spark, columns, rows), by_duckdb(connection, columns, rows)
    different = [
        (text, row, expected, found)
        for row, *answers in zip(rows, on_duckdb, on_spark, strict=True)
        for text, expected, found in zip(texts, *answers, strict=True)
        if not same(expected, found)
    ]
    assert different == []


@pytest.mark.parametrize("first", range(0, len(OF_ONE), 20))
def test_terms(interpreted: SparkSession, connection: duckdb.DuckDBPyConnection, first: int) -> None:
    assert_agree(interpreted, connection, OF_ONE[first : first + 20], [(value, UNBOUND) for value in VALUES])


@pytest.mark.parametrize("first", range(0, len(OF_TWO), 8))
def test_pairs(interpreted: SparkSession, connection: duckdb.DuckDBPyConnection, first: int) -> None:
    assert_agree(interpreted, connection, OF_TWO[first : first + 8], PAIRS)


def test_conditions(interpreted: SparkSession, connection: duckdb.DuckDBPyConnection) -> None:
    texts = [text for text in OF_TWO if any(sign in text for sign in "<>=|&")]
    columns = [compiled(text, as_condition=True) for text in texts]
    answers = zip(by_spark(interpreted, columns, PAIRS), by_duckdb(connection, columns, PAIRS), strict=True)
    for row, (on_spark, on_duckdb) in zip(PAIRS, answers, strict=True):
        held = [(text, found is True) for text, found in zip(texts, on_spark, strict=True)]
        assert held == [(text, expected is True) for text, expected in zip(texts, on_duckdb, strict=True)], row


def test_patterns(interpreted: SparkSession, connection: duckdb.DuckDBPyConnection) -> None:
    assert_agree(interpreted, connection, PATTERNS, list(itertools.product(STRINGS, STRINGS)))


def test_patterns_that_make_java_backtrack(interpreted: SparkSession, connection: duckdb.DuckDBPyConnection) -> None:
    """On texts for which backtracking takes years, or overflows the stack: the same answer, or the same error."""
    texts = [
        'REGEX(?a, "^a*a*a*a*a*a*x$")',
        'REGEX(?a, CONCAT("^(a+)+", "x$"))',
        'REGEX(STR(?a), "^(a|b)*$")',
        'REGEX(?a, "(?:a?){30}a{30}x")',
        'IF(REGEX(CONCAT(?a, "x"), "^(a|aa)+x$"), STRLEN(REPLACE(?a, "(a|b)+", "$1")), 0)',
        'REPLACE(?a, "(a*)*x", "-")',
        'REPLACE(CONCAT(?a, "b"), "(a|aa)+b", "<$1>", "i")',
        'REGEX(?a, "a{1001}")',
        'REGEX(?a, "(a{500}){3}")',
        'STRLANG("x", REPLACE(STR(?a), "(ab)", "$1-"))',
        r'REGEX(?a, "(a)\\1")',
    ]
    rows = [(f'"{"a" * 1500}"', UNBOUND), (f'"{"ab" * 20_000}"@en', UNBOUND), (UNBOUND, UNBOUND)]
    assert_agree(interpreted, connection, texts, rows)
    assert by_spark(interpreted, [compiled(texts[0]), compiled(texts[-1])], rows[:1]) == [("bfalse", None)]


@pytest.mark.parametrize(
    ("pattern", "flags", "expected"),
    [
        ("abc", "i", True),
        ("north|south|east|west", "", True),
        ("^a.*b$", "", True),
        ("^a.*b$", "m", False),
        ("foo.*", "", True),
        ("(a|b)c?", "", True),
        ("[*+)]x", "", True),
        (r"\*\+", "", True),
        ("a+b+", "q", True),
        ("a.*b", "", False),
        ("^a*a*x$", "", False),
        ("^(ab)*$", "", False),
        ("(a){3}", "", False),
        ("^a|b*c", "", False),
        ("(a|b)(a|b)(a|b)(a|b)(a|b)(a|b)(a|b)", "", False),
    ],
)
def test_which_patterns_are_left_to_java(pattern: str, flags: str, *, expected: bool) -> None:
    translated = patterns.translated(pattern, flags)
    assert translated is not None
    assert patterns.is_linear(translated) is expected


@pytest.mark.parametrize("mode", ["NO_CODEGEN", "CODEGEN_ONLY"])
def test_single(interpreted: SparkSession, mode: str) -> None:
    interpreted.conf.set("spark.sql.codegen.factoryMode", mode)
    cases = SINGLE if mode == "NO_CODEGEN" else SINGLE[::4]
    expected = [OTHERWISE.get(text, answer) for text, answer in cases]
    [found] = by_spark(interpreted, [compiled(text) for text, _ in cases], [(UNBOUND, UNBOUND)])
    assert [case for case in zip(cases, expected, found, strict=True) if not same(case[1], case[2])] == []


def test_relative_iris(interpreted: SparkSession) -> None:
    columns = [compile_expression(expression_of(f'IRI("{text}")'), exp.column, base=BASE) for text, _ in REFERENCES]
    [found] = interpreted.sql(expanded(to_spark(exp.select(*columns)))).collect()
    assert list(found) == ["I" + expected for _, expected in REFERENCES]


def test_blank_nodes_differ_between_solutions(interpreted: SparkSession) -> None:
    columns = [
        compile_expression(expression_of(text), exp.column, solution=exp.column("id", "solutions"))
        for text in ('BNODE("x")', 'BNODE("x")', 'BNODE("y")', "BNODE()", "UUID()", "STRUUID()", "RAND()")
    ]
    query = exp.select(*columns).from_("range(3) AS solutions", dialect="spark")
    rows = interpreted.sql(expanded(to_spark(query))).collect()
    assert all(row[0] == row[1] != row[2] for row in rows)
    for place in (0, 3, 4, 5, 6):
        assert len({row[place] for row in rows}) == 3


def aggregated(spark: SparkSession, aggregate: Aggregate, groups: Sequence[Sequence[str | None]]) -> list[str | None]:
    """The aggregate of each group, of two portions of it first."""
    table = [(place, x) for place, terms in enumerate(groups) for x in terms]
    spark.createDataFrame(table, "place INT, x STRING").coalesce(1).createOrReplaceTempView("terms")
    readings = readings_of(aggregate)
    read = [f"{reading(exp.column('x')).sql('spark')} AS read_{name}" for name, reading in readings.items()]
    rows = "(SELECT DISTINCT place, x FROM terms) AS terms" if needs_distinct_rows(aggregate) else "terms"
    source = f"(SELECT {', '.join(['place', 'x', *read])} FROM {rows}) AS terms"
    parts = parts_of(aggregate, exp.column("x", "terms"), {name: exp.column(f"read_{name}") for name in readings})
    names = {name: name.replace(" ", "_") for name in parts}
    of_rows = [exp.alias_(part.of_rows, names[name]) for name, part in parts.items()]
    inner = exp.select("place", *of_rows, "count(*) AS size").from_(source).group_by("place", "crc32(x) % 2")
    together = [exp.alias_(part.combination.together(exp.column(names[n])), names[n]) for n, part in parts.items()]
    whole = exp.select("place", *together, "sum(size) AS size").from_(inner.subquery("parts")).group_by("place")
    term = finished(aggregate, {name: exp.column(column) for name, column in names.items()}, exp.column("size"))
    query = exp.select("place", exp.alias_(term, "term")).from_(whole.subquery("groups"))
    found = {row[0]: row[1] for row in spark.sql(expanded(to_spark(query))).collect()}
    return [found[place] for place in range(len(groups))]


def _of_groups(cases: list[Group]) -> list[Group]:
    """The cases of groups that have rows, and of integers that Spark has."""
    return [case for case in cases if case[1] and not any(term and len(term) > 38 for term in case[1])]


@pytest.mark.parametrize("name", sorted({name for name, *_ in AGGREGATES}))
@pytest.mark.parametrize(("distinct", "separator"), [(False, None), (True, ",")])
def test_aggregates(interpreted: SparkSession, name: str, distinct: bool, separator: str | None) -> None:
    cases = _of_groups(DISTINCT_AGGREGATES if distinct else AGGREGATES)
    groups = [(terms, expected) for case, terms, expected in cases if case == name]
    aggregate = Aggregate(name, Variable("x"), distinct, separator)
    found = aggregated(interpreted, aggregate, [terms for terms, _ in groups])
    assert found == [expected for _, expected in groups]


def _numbers(chosen: random.Random) -> list[str]:
    decimals = [f"d{chosen.randint(-(10**17), 10**17)}.{chosen.randint(1, 10**18 - 1):018}" for _ in range(30)]
    return [*decimals[: chosen.randint(1, 30)], *(f"i{chosen.randint(-(10**18), 10**18)}" for _ in range(5))]


def test_sums_and_means_are_exact(interpreted: SparkSession) -> None:
    groups = [_numbers(random.Random(seed)) for seed in range(20)]
    with localcontext(prec=60):
        sums = [sum(Decimal(term[1:]) for term in terms) for terms in groups]
        found = aggregated(interpreted, Aggregate("SUM", Variable("x"), False, None), groups)
        assert [Decimal(term[1:]) for term in found if term] == sums
        found = aggregated(interpreted, Aggregate("AVG", Variable("x"), False, None), groups)
        means = [
            (total / len(terms)).quantize(Decimal("1e-18"), ROUND_DOWN)
            for total, terms in zip(sums, groups, strict=True)
        ]
        assert [Decimal(term[1:]) for term in found if term] == means


def test_order(interpreted: SparkSession, connection: duckdb.DuckDBPyConnection) -> None:
    terms = [term for group in ORDERED for term in group]
    random.Random(7).shuffle(terms)
    interpreted.createDataFrame([(term,) for term in terms], "x STRING").createOrReplaceTempView("terms")
    x = exp.column("x", "terms")
    ordering = exp.Order(expressions=[exp.Ordered(this=key) for key in order_key(x)])
    rank = exp.alias_(exp.Window(this=exp.Anonymous(this="dense_rank"), order=ordering), "rank")
    query = exp.select(x, rank).from_("terms")
    connection.execute("CREATE OR REPLACE TEMP TABLE terms AS SELECT unnest($terms) AS x", {"terms": terms}).fetchall()
    expected = connection.execute(query.sql("duckdb")).fetchall()
    found = interpreted.sql(expanded(to_spark(query.order_by("rank")))).collect()
    assert {tuple(row) for row in found} == set(expected)
    places = {term: place for place, group in enumerate(ORDERED) for term in group}
    assert [places[row[0]] for row in found] == sorted(places[row[0]] for row in found)


def test_a_term_may_be_sorted_by(interpreted: SparkSession) -> None:
    terms = ["i10", "i9", None, "Sa", "d9.5"]
    interpreted.createDataFrame([(term,) for term in terms], "x STRING").createOrReplaceTempView("terms")
    query = (
        exp.select("x")
        .from_("terms")
        .order_by(*(exp.Ordered(this=key, desc=True) for key in order_key(exp.column("x"))))
    )
    assert [row[0] for row in interpreted.sql(expanded(to_spark(query))).collect()] == ["Sa", "i10", "d9.5", "i9", None]


decimals = st.decimals(-(10**12), 10**12, places=9) | st.decimals(-1, 1, places=18) | st.integers(-(10**19), 10**19)


@settings(max_examples=3, deadline=None)
@given(st.lists(st.tuples(decimals, decimals), min_size=100, max_size=200))
def test_random_decimals(spark: SparkSession, pairs: list[tuple[Decimal | int, Decimal | int]]) -> None:
    rows = [(f"{Decimal(a):f}", f"{Decimal(b):f}") for a, b in pairs]
    rows = [(a if "." in a else f"{a}.0", b if "." in b else f"{b}.0") for a, b in rows]
    with duckdb.connect() as connection:
        install(connection)
        assert_agree(spark, connection, ["?a + ?b", "?a - ?b", "?a * ?b", "?a / ?b", "?a < ?b", "?a = ?b"], rows)


def test_deep_expressions(interpreted: SparkSession, connection: duckdb.DuckDBPyConnection) -> None:
    """64 levels of a function, 20 of several, and as many as are compiled as a whole."""
    deep = [nested(form, depth_of(form)) for form in ("ROUND(%s)", "(%s + ?a)", "(%s = ?a)", "(%s IN (?a, true))")]
    deep.append(nested('ROUND(IF((%s = ?a) IN (?a, true), ?b, STRLEN(CONCAT("x", STR(?a)))) * 2 + ?a)', 5))
    deep += [
        "SHA384(?a)",
        "?a IN (1, 2, 3, 4, ?b)",
        f"?a NOT IN ({', '.join(map(str, range(2, 60)))})",
        " && ".join(["?a", "?b"] * 20),
    ]
    deep += [nested("(%s + ?b)", MOST_WEIGHT_DISTRIBUTED), " - ".join(["?b"] * 300)]
    rows = [("1", "2"), ('"x"', "2.5"), ("true", '"P1D"^^xsd:dayTimeDuration'), (UNBOUND, "1")]
    columns = [
        compile_expression(
            expression_of(text), lambda v: exp.column(v.name, "terms"), most_weight=MOST_WEIGHT_DISTRIBUTED
        )
        for text in deep
    ]
    assert by_spark(interpreted, columns, rows) == by_duckdb(connection, [compiled(text) for text in deep], rows)
