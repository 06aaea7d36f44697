"""The function library against an independent SPARQL engine: expressions × values, on DuckDB and on pyoxigraph.

Where the two differ on purpose, `expected` says so, with the paragraph of the specification that decides.
"""

import itertools
import time
from collections.abc import Iterator, Sequence
from decimal import Decimal
from pathlib import Path

import duckdb
import pyoxigraph
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlglot import exp

from penstock.algebra.building import build_expression
from penstock.algebra.expressions import Expression
from penstock.algebra.operators import Extend
from penstock.rdf.encoding import encode
from penstock.rdf.terms import IRI, BlankNode, Literal
from penstock.relational.functions.catalogue import UnknownFunctionError, compile_condition, compile_expression
from penstock.relational.functions.library import install
from penstock.syntax.reading import parse

PREFIXES = "PREFIX xsd: <http://www.w3.org/2001/XMLSchema#> PREFIX : <http://example.org/> "
NOW = "t2024-02-29T12:30:00Z"

TERMS = """
:a :b "" "a" "b" "ab" "abc" "é😀x" "straße" "a"@en "ab"@en "b"@fr
0 1 2 3 10 -7 9007199254740993 1.5 -2.5 0.1 0.000000000000000001 12345678901234567.123 100.25
1e0 2.5e0 -2.5e0 1e-7 1.5e300 "NaN"^^xsd:double "INF"^^xsd:double "-INF"^^xsd:double "1.5"^^xsd:float "0.1"^^xsd:float
"5"^^xsd:byte true false
"2020-01-01T00:00:00Z"^^xsd:dateTime "2020-01-01T01:00:00+01:00"^^xsd:dateTime "2020-01-01T00:00:00"^^xsd:dateTime
"2020-01-03T12:34:56.789"^^xsd:dateTime "-0044-03-15T00:00:00Z"^^xsd:dateTime
"12020-02-29T23:59:59.5-05:30"^^xsd:dateTime "2020-01-01"^^xsd:date "2020-01-02Z"^^xsd:date "10:00:00"^^xsd:time
"P1D"^^xsd:dayTimeDuration "-P1DT12H30M1.5S"^^xsd:dayTimeDuration "P1Y"^^xsd:yearMonthDuration
"u"^^:type "v"^^:type "u"^^:other
""".split()
ILL_FORMED = """
"x"^^xsd:integer "1e3"^^xsd:integer "x"^^xsd:boolean "2020-02-30T00:00:00Z"^^xsd:dateTime "14M"^^xsd:yearMonthDuration
""".split()
UNBOUND = "UNDEF"
VALUES = [UNBOUND, *TERMS, *ILL_FORMED]

OF_TWO = """
?a = ?b | ?a != ?b | ?a < ?b | ?a <= ?b | ?a > ?b | ?a >= ?b | ?a + ?b | ?a - ?b | ?a * ?b | ?a / ?b
?a || ?b | ?a && ?b
SAMETERM(?a, ?b) | CONTAINS(?a, ?b) | STRSTARTS(?a, ?b) | STRENDS(?a, ?b) | STRBEFORE(?a, ?b)
STRAFTER(?a, ?b) | CONCAT(?a, ?b)
IF(?a, 1, 2) | ?a IN (?b, 1, "a") | ?a NOT IN (?b, 1, :a) | (?a + ?b) * 2 > 3 || ?a = "a" | STRDT(?a, ?b)
SUBSTR(?a, ?b)
LANGMATCHES(?a, ?b) | REGEX(?a, ?b) | (?a + ?b) IN (3, ?b) | (?a * ?b + 1) * 0.5 | ?a - ?b < 1.5
COALESCE(?a + ?b, "none")
""".replace(" | ", "\n").strip().splitlines()  # fmt: skip
OF_ONE = """
!?a | -?a | LANG(?a) | BOUND(?a) | IRI(?a) | ABS(?a) | CEIL(?a) | FLOOR(?a) | ROUND(?a) | STRLEN(?a)
UCASE(?a) | LCASE(?a)
ENCODE_FOR_URI(?a) | YEAR(?a) | MONTH(?a) | DAY(?a) | HOURS(?a) | MINUTES(?a) | SECONDS(?a) | TIMEZONE(?a)
TZ(?a)
MD5(?a) | SHA1(?a) | SHA256(?a) | SHA384(?a) | SHA512(?a) | ISIRI(?a) | ISBLANK(?a) | ISLITERAL(?a)
ISNUMERIC(?a)
?a = 1 | ?a != 1 | ?a > 1 | 1 >= ?a | ?a < 1.5 | ?a = 2.5e0 | ?a = "a" | ?a != "a" | !(?a = "a") | ?a = :a
?a != :a | !(?a = :a)
?a IN () | ?a NOT IN ()
?a IN ("a", "b") | ?a NOT IN ("a", "b") | ?a IN (:a, :b) | CONCAT(?a) | CONCAT() | xsd:boolean(?a)
xsd:integer(?a) | xsd:decimal(?a) | xsd:double(?a) | xsd:float(?a) | xsd:dateTime(?a) | xsd:date(?a)
xsd:dayTimeDuration(?a)
REGEX(?a, "A", "i") | REGEX(?a, "^a.") | REGEX(?a, "(") | REPLACE(?a, "(a)", "[$1]") | SUBSTR(?a, 2)
SUBSTR(?a, 0, 2) | SUBSTR(?a, 2, 1)
STRLANG(?a, "en-GB") | STRLEN(?a) > 2 | ?a > "2020-01-01T00:00:00Z"^^xsd:dateTime | ?a >= "ab"
ABS(?a - 3) * 2 | -(?a * 2) < 3
ROUND(?a * 10) / 10 | (?a + 0.1) * 1e0 | ?a = true | ?a < "2020-01-02"^^xsd:date | "x"^^xsd:integer = ?a
""".replace(" | ", "\n").strip().splitlines()  # fmt: skip


@pytest.fixture(scope="module")
def connection() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as opened:
        install(opened)
        yield opened


def expression_of(text: str) -> Expression:
    operator = build_expression(parse(f"{PREFIXES} SELECT ({text} AS ?result) {{}}"))
    while not isinstance(operator, Extend):
        operator = operator.source
    return operator.expression


def encoded(value: str) -> str | None:
    if value == UNBOUND:
        return None
    [argument] = expression_of(f"COALESCE({value})").arguments
    return encode(argument.term)


def by_oracle(text: str, rows: Sequence[tuple[str, str]]) -> list[str | None]:
    values = " ".join(f"({a} {b})" for a, b in rows)
    query = f"{PREFIXES} SELECT ?a ?b ({text} AS ?result) {{ VALUES (?a ?b) {{ {values} }} }}"
    return [_encoded_result(solution["result"]) for solution in pyoxigraph.Store().query(query)]


def _encoded_result(term: pyoxigraph.NamedNode | pyoxigraph.BlankNode | pyoxigraph.Literal | None) -> str | None:
    match term:
        case None:
            return None
        case pyoxigraph.NamedNode():
            return encode(IRI(term.value))
        case pyoxigraph.BlankNode():
            return encode(BlankNode(term.value))
        case _:
            return encode(Literal(term.value, term.datatype.value, term.language))


def by_engine(
    connection: duckdb.DuckDBPyConnection, text: str, rows: Sequence[tuple[str, str]], *, as_condition: bool = False
) -> list[str | bool | None]:
    compiler = compile_condition if as_condition else compile_expression
    compiled = compiler(
        expression_of(text), lambda variable: exp.column(variable.name, "terms"), now=exp.Literal.string(NOW)
    )
    connection.execute("CREATE OR REPLACE TEMP TABLE terms (place INTEGER, a VARCHAR, b VARCHAR)").fetchall()
    columns = {"place": list(range(len(rows))), "a": [encoded(a) for a, _ in rows], "b": [encoded(b) for _, b in rows]}
    connection.execute("INSERT INTO terms SELECT unnest($place), unnest($a), unnest($b)", columns).fetchall()
    query = exp.select(compiled).from_("terms").order_by("place")
    return [value for (value,) in connection.execute(query.sql("duckdb")).fetchall()]


def evaluated(connection: duckdb.DuckDBPyConnection, text: str, a: str = UNBOUND, b: str = UNBOUND) -> str | None:
    [value] = by_engine(connection, text, [(a, b)])
    return value


def _same(left: str | None, right: str | None) -> bool:
    """Terms by identity, doubles and floats by value: `1e0` and `1` are one."""
    if left is None or right is None or left[0] != right[0] or left[0] not in "ef":
        return left == right
    return repr(float(left[1:])) == repr(float(right[1:]))


# What the oracle does otherwise, and why the engine does not follow it.


def _is_left_open(text: str, a: str, b: str) -> str | None:
    given = {a, b} - {UNBOUND}
    comparison = any(operator in text for operator in ("<", ">"))
    if text.endswith("IN ()") and a != UNBOUND:
        return "SPARQL 17.4.1.9: whatever the value is; the oracle asks for its truth value"
    if comparison and any("NaN" in value or "INF" in value for value in given) and (text[0] == "(" or "- ?b" in text):
        return "the same: INF - INF is NaN"
    if comparison and any("NaN" in value for value in given):
        return "F&O 6.3: NaN is not less than a number; it is no error"
    if comparison and ({"true", "false"} & given or "x" in text):
        return "SPARQL 17.3: false < true"
    if comparison and a == b and (a.startswith(":") or "^^:" in a or a in ILL_FORMED):
        return "SPARQL 17.3: there is no order of IRIs and unknown values, not even of one and itself"
    is_logic = text.startswith(("!?a", "?a ||", "?a &&", "IF("))
    if is_logic and any("@" in value or value in ILL_FORMED for value in given):
        return "SPARQL 17.2.2: a language string has a truth value, and so has an ill-formed number"
    if "time" in a and "Duration" in b:
        return "a time and a duration: no SPARQL operator"
    if "Duration" in a and "Duration" in b and a != b:
        return "durations of two kinds: no SPARQL operator"
    if "0.000000000000000001" in given or (text.startswith("?a /") and a == "0"):
        return "a product or quotient of less than 10^-18 is cut off, not an error; 0 / 1.5 is 0"
    if text == "xsd:decimal(?a)" and a == '"0.1"^^xsd:float':
        return "the oracle takes a double times 10^18, as a double, which has not so many digits"
    if "9007199254740993" in given and "12345678901234567.123" not in given and ("*" in text):
        return "integers have 127 bits"
    return None


def _assert_agree(connection: duckdb.DuckDBPyConnection, text: str, rows: list[tuple[str, str]]) -> None:
    rows = [row for row in rows if _is_left_open(text, *row) is None]
    oracle = by_oracle(text, rows)
    engine = by_engine(connection, text, rows)
    conditions = by_engine(connection, text, rows, as_condition=True)
    different = [
        (row, expected, found)
        for row, expected, found in zip(rows, oracle, engine, strict=True)
        if not _same(expected, found)
    ]
    assert different == []
    different = [
        (row, expected, found)
        for row, expected, found in zip(rows, oracle, conditions, strict=True)
        if expected in ("btrue", "bfalse", None) and (expected == "btrue") != (found is True)
    ]
    assert different == []


@pytest.mark.parametrize("text", OF_TWO)
def test_agrees_on_pairs(connection: duckdb.DuckDBPyConnection, text: str) -> None:
    _assert_agree(connection, text, list(itertools.product(VALUES, VALUES)))


@pytest.mark.parametrize("text", OF_ONE)
def test_agrees_on_terms(connection: duckdb.DuckDBPyConnection, text: str) -> None:
    _assert_agree(connection, text, [(value, UNBOUND) for value in VALUES])


@pytest.mark.parametrize("text", OF_TWO)
def test_one_unbound_value_twice(connection: duckdb.DuckDBPyConnection, text: str) -> None:
    """DuckDB trips over some comparisons of an expression with itself, when it finds that it is NULL."""
    for compiler in (compile_expression, compile_condition):
        compiled = compiler(expression_of(text), lambda variable: exp.column("x", "nothing")).sql("duckdb")
        [(value,)] = connection.execute(f"SELECT {compiled} FROM (SELECT NULL::VARCHAR AS x) AS nothing").fetchall()
        assert value == evaluated(connection, text) or compiler is compile_condition


STRINGS = r'"abc" "abcabc" "a_b" "é1" "a.c" "ABC" "a\nb" "(" "b" "B" "a.c"@en 1'.split()
PATTERNS = (
    r"""
REGEX(?a, "^a.c$") | REGEX(?a, "^a.c$", "q") | REGEX(?a, "^A", "i") | REGEX(?a, "a.b", "s")
REGEX(?a, "^b", "m")
REGEX(?a, " a  b ", "x") | REGEX(?a, "\\w\\d") | REGEX(?a, "[\\w-]+\\d") | REGEX(?a, "b", "z")
REGEX(?a, "\\p{L}1")
REGEX(?a, ?b) | REGEX(?a, ?b, "i") | REGEX(?a, ?b, "q") | REPLACE(?a, ?b, "-") | REPLACE(?a, "b", "x")
REPLACE(?a, "(b)(c)", "$2$1") | REPLACE(?a, "B", "x", "i") | REPLACE(?a, "a.c", "x", "q")
REPLACE(?a, "(", "x")
REPLACE(?a, "b", "$0$0") | REPLACE(?a, "(x)?b", "<$1>") | REPLACE(?a, "[^a-z]", "-") | REGEX(?a, "(a)\\1")
REGEX(?a, "a(?=b)")
""".replace(" | ", "\n")
    .strip()
    .splitlines()
)


@pytest.mark.parametrize("text", PATTERNS)
def test_patterns(connection: duckdb.DuckDBPyConnection, text: str) -> None:
    _assert_agree(connection, text, list(itertools.product(STRINGS, STRINGS)))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # Errors in logic (§17.2)
        ("(1/0) || true", "btrue"),
        ("true || (1/0)", "btrue"),
        ("(1/0) || false", None),
        ("(1/0) && false", "bfalse"),
        ("(1/0) && true", None),
        ("!(1/0)", None),
        ("2 IN (1/0, 2)", "btrue"),
        ("2 IN (1/0, 3)", None),
        ("2 NOT IN (1/0, 3)", None),
        ("true NOT IN (SHA256(1))", None),
        ("2 IN ()", "bfalse"),
        ("2 NOT IN ()", "btrue"),
        ("COALESCE(1/0, 2)", "i2"),
        ("COALESCE(1/0)", None),
        ("IF(1/0, 1, 2)", None),
        ("IF(true, 1, 1/0)", "i1"),
        # Truth values (§17.2.2)
        ('!"x"^^xsd:integer', "btrue"),
        ('!"abc"@en', "bfalse"),
        ('!"x"^^xsd:boolean', "btrue"),
        ("true > false", "btrue"),
        ('"NaN"^^xsd:double < 1', "bfalse"),
        ('"NaN"^^xsd:double != "NaN"^^xsd:double', "btrue"),
        # Lexical forms are kept, values compared
        ('STR("01"^^xsd:integer)', "S01"),
        ('"01"^^xsd:integer = 1', "btrue"),
        ('SAMETERM("01"^^xsd:integer, 1)', "bfalse"),
        ('"1.50"^^xsd:decimal = 1.5', "btrue"),
        ('"01"^^xsd:integer + 0', "i1"),
        ('DATATYPE("5"^^xsd:byte)', "Ihttp://www.w3.org/2001/XMLSchema#byte"),
        ('ISNUMERIC("1200"^^xsd:byte)', "bfalse"),
        ('STRDT("01", xsd:integer)', "i01"),
        # Exact numbers
        ("170141183460469231731687303715884105727 - 1", "i170141183460469231731687303715884105726"),
        ("170141183460469231731687303715884105727 + 1", None),
        ("170141183460469231731687303715884105727 > 1.5", "btrue"),
        ("9007199254740993 * 9007199254740993", "i81129638414606699710187514626049"),
        ("9007199254740993 < 9007199254740993.5", "btrue"),
        ("0.1000000000000000000001 = 0.1", None),
        ("0.1000000000000000000001 > 0.1", None),
        ("0.1000000000000000000001 < 0.2", "btrue"),
        ("(99999999999999999999.5 + 1) * 2 > 3", None),
        ("1/3", "d0.333333333333333333"),
        ("-1/3", "d-0.333333333333333333"),
        ("1/3*3", "d0.999999999999999999"),
        ("0.1 + 0.2 = 0.3", "btrue"),
        ("(0.1 + 0.2) * 1e0 = 0.3e0", "btrue"),
        ("1000000.000001 * 1000000.000001", "d1000000000002.000000000001"),
        ("99999999999.999999999 * 99999999.999999999", "d9999999999999999899.900000000000000001"),
        ("123456789.123456789012345678 / 987654321.987654321098765432", "d0.1249999988609375"),
        ("2/2", "d1"),
        ("1e0/0", "eINF"),
        ("ROUND(-2.5)", "d-2"),
        ("ROUND(0.49999999999999994e0)", "e0"),
        ("16777217 = xsd:float(16777217)", "btrue"),
        # Strings
        ('CONCAT("a"@en, "b"@en)', "Len ab"),
        ('CONCAT("a"@en, "b"@en, "c")', "Sabc"),
        ('UCASE("straße ǰ"@de)', "Lde STRASSE J̌"),
        ('LCASE("ΑΣ ΣΑ İ")', "Sας σα i̇"),
        ('REPLACE("abc", "b", "\\\\$")', "Sa$c"),
        ('REPLACE("abc", "(b)", "$12")', "Sab2c"),
        ('REPLACE("abc", "b", "$")', None),
        ('REPLACE("abc", "x?", "-")', None),
        ('SUBSTR("é😀x", 2, 1)', "S😀"),
        ('SUBSTR("abc", -99999999999999999999)', "Sabc"),
        ('SUBSTR("abc", 99999999999999999999)', "S"),
        ("SUBSTR(1, 99999999999999999999)", None),
        ('REGEX("aa", "^a{2}$")', "btrue"),
        ('REGEX("a{", "a{")', None),
        ('REGEX("é٣", CONCAT("^\\\\w", "\\\\d$"))', "btrue"),
        ('REGEX("é٣", CONCAT("^[a\\\\d]", "é"))', "bfalse"),
        ('REGEX("\\\\d", CONCAT("^\\\\\\\\d", "$"))', "btrue"),
        ('REGEX("a{", "a[{]")', "btrue"),
        ('IRI("http://[::1]/a%20b")', "Ihttp://[::1]/a%20b"),
        ('IRI("http://e/[")', None),
        ('IRI("http://e/%2")', None),
        # What is new each time
        ("STRLEN(STRUUID()) + 1", "i37"),
        ("1 / (STRLEN(STR(UUID())) - 45)", None),
        ("RAND() * 0 = 0", "btrue"),
        # Dates
        ("NOW()", NOW),
        ("YEAR(NOW()) + 1", "i2025"),
        ('NOW() - "2024-02-28T12:30:00Z"^^xsd:dateTime', "Ohttp://www.w3.org/2001/XMLSchema#dayTimeDuration P1D"),
        ('NOW() + "P1Y"^^xsd:yearMonthDuration', "t2025-02-28T12:30:00Z"),
        ('"2020-01-01T24:00:00Z"^^xsd:dateTime = "2020-01-02T00:00:00Z"^^xsd:dateTime', "btrue"),
        ('DAY("2011-01-31T24:00:00"^^xsd:dateTime)', "i1"),
        ('"2020-01-01T00:00:00.1234567Z"^^xsd:dateTime < "2020-01-01T00:00:00.1234568Z"^^xsd:dateTime', "btrue"),
        # Casts
        ('xsd:integer(" 1 ")', None),
        ('xsd:integer("1.5")', None),
        ("xsd:integer(-1.9)", "i-1"),
        ("xsd:decimal(2e5)", "d200000"),
        ("xsd:decimal(1e17)", "d100000000000000000"),
        ("xsd:decimal(0.1e0)", "d0.1"),
        ("xsd:decimal(-2.5e-10)", "d-0.00000000025"),
        ("xsd:decimal(1e30)", None),
        ('xsd:double("inf")', None),
        ('xsd:double("+INF")', "eINF"),
        ('xsd:boolean("TRUE")', None),
        ('xsd:dateTime("2011-01-10T14:45:13.80+00:00")', "t2011-01-10T14:45:13.8Z"),
        ('xsd:dateTime("2011-02-30T14:45:13")', None),
        ("xsd:string(1.50)", "S1.5"),
        ("xsd:string(:a)", "Shttp://example.org/a"),
    ],
)
def test_single(connection: duckdb.DuckDBPyConnection, text: str, expected: str | None) -> None:
    assert evaluated(connection, text) == expected


@pytest.mark.parametrize(
    ("reference", "expected"),
    [
        ("http://other/x", "http://other/x"),
        ("d", "http://a/b/d"),
        ("../d/./e?f#g", "http://a/d/e?f#g"),
        ("/d/../e", "http://a/e"),
        ("//h/i", "http://h/i"),
        ("?x", "http://a/b/c?x"),
        ("#x", "http://a/b/c?q#x"),
        ("", "http://a/b/c?q"),
        ("..", "http://a/"),
    ],
)
def test_relative_iris(connection: duckdb.DuckDBPyConnection, reference: str, expected: str) -> None:
    compiled = compile_expression(expression_of(f'IRI("{reference}")'), exp.column, base="http://a/b/c?q")
    assert connection.execute(exp.select(compiled).sql("duckdb")).fetchall() == [("I" + expected,)]


CASTS = Path(__file__).parents[3] / "shared" / "data" / "w3c-sparql11" / "cast"


@pytest.mark.skipif(not CASTS.exists(), reason="the W3C tests are not here")
@pytest.mark.parametrize("name", ["bool", "decimal", "double", "float", "int", "string"])
def test_w3c_casts(connection: duckdb.DuckDBPyConnection, name: str) -> None:
    answers = pyoxigraph.parse_query_results(path=CASTS / f"cast-{name}.srx", format=pyoxigraph.QueryResultsFormat.XML)
    *_, column = answers.variables
    datatype = {"bool": "boolean", "int": "integer"}.get(name, name)
    rows = [(str(answer["v"]), _encoded_result(answer[column])) for answer in answers]
    found = by_engine(connection, f"xsd:{datatype}(?a)", [(value, UNBOUND) for value, _ in rows])
    different = [
        (value, expected, value_found)
        for (value, expected), value_found in zip(rows, found, strict=True)
        if not _same_value(expected, value_found)
    ]
    assert different == []


def _same_value(left: str | None, right: str | None) -> bool:
    if left is None or right is None or left[0] not in "id":
        return _same(left, right)
    return left[0] == right[0] and Decimal(left[1:]) == Decimal(right[1:])


def test_blank_nodes_differ_between_solutions(connection: duckdb.DuckDBPyConnection) -> None:
    compiled = [
        compile_expression(expression_of(text), exp.column, solution=exp.column("place", "solutions"))
        for text in ('BNODE("x")', 'BNODE("x")', 'BNODE("y")', "BNODE()", "UUID()", "STRUUID()", "RAND()")
    ]
    query = f"{exp.select(*compiled).sql('duckdb')} FROM range(3) AS solutions (place)"
    rows = connection.execute(query).fetchall()
    assert all(row[0] == row[1] != row[2] for row in rows)
    for place in (0, 3, 4, 5, 6):
        assert len({row[place] for row in rows}) == 3


def test_an_unknown_function_is_named() -> None:
    with pytest.raises(UnknownFunctionError, match=r"<http://example\.org/f>"):
        compile_expression(expression_of(":f(1)"), exp.column)


numbers = st.one_of(
    st.integers(-(10**12), 10**12).map(str),
    st.decimals(-(10**6), 10**6, places=4).map(lambda value: f"{value:f}"),
    st.integers(-(10**6), 10**6).map(lambda value: f"{value / 64}e0"),
)
OPERATORS = ["+", "-", "*", "/", "<", "<=", "=", "!="]


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(numbers, numbers), min_size=20, max_size=60), st.sampled_from(OPERATORS))
def test_random_numbers(pairs: list[tuple[str, str]], operator: str) -> None:
    with duckdb.connect() as connection:
        install(connection)
        rows = [row for row in pairs if operator != "/" or Decimal(row[0]) != 0]
        text = f"?a {operator} ?b"
        expected = by_oracle(text, rows)
        found = by_engine(connection, text, rows)
        different = [
            entry
            for entry in zip(rows, expected, found, strict=True)
            if entry[1] is not None and not _same(entry[1], entry[2])
        ]
        assert different == []


def test_a_filter_on_integers_is_fast(connection: duckdb.DuckDBPyConnection) -> None:
    made = "CREATE OR REPLACE TEMP TABLE many AS SELECT 'i' || (range % 100) AS x FROM range(1000000)"
    connection.execute(made).fetchall()
    condition = compile_condition(expression_of("?x > 10"), lambda variable: exp.column(variable.name, "many"))
    query = exp.select(exp.Count(this=exp.Star())).from_("many").where(condition).sql("duckdb")
    times = []
    for _ in range(5):
        begin = time.perf_counter()
        assert connection.execute(query).fetchall() == [(890000,)]
        times.append(time.perf_counter() - begin)
    assert min(times) < 0.5, "0.03 to 0.09 s, on a machine that has nothing else to do"
