"""Nested expressions: each argument is written once, so the SQL grows with the query, on both engines."""

from __future__ import annotations

import duckdb
import pytest
from sqlglot import exp
from tests.relational.deep_expressions import DEPTH, depth_of, nested
from tests.relational.function_cases import expression_of

from penstock.algebra.expressions import Variable
from penstock.relational.functions.catalogue import CONDITIONS, TERM_FUNCTIONS, compile_condition, compile_expression
from penstock.relational.functions.expansion import expanded
from penstock.relational.functions.library import Library
from penstock.relational.spark_sql import to_spark

_OPERATORS = "+ - * / = != < <= > >= && ||".split()
_OF_TWO = "STRBEFORE STRAFTER STRLANG STRDT LANGMATCHES CONTAINS STRSTARTS STRENDS SAMETERM".split()
_WITHOUT_ARGUMENT = {"RAND", "UUID", "STRUUID"}
_OF_ONE = [name for name in (*TERM_FUNCTIONS, *CONDITIONS) if name not in _WITHOUT_ARGUMENT and name not in _OF_TWO]
FORMS = [
    *(f"{name}(%s)" for name in (*_OF_ONE, "ABS", "CEIL", "FLOOR", "ROUND", "IRI", "BNODE", "!", "-", "CONCAT")),
    *(f"(%s {operator} ?a)" for operator in _OPERATORS),
    *(f"(?a {operator} %s)" for operator in _OPERATORS),
    *(f"{name}(%s, ?a)" for name in _OF_TWO),
    *(f"{name}(?a, %s)" for name in _OF_TWO),
    "(%s IN (?a, 1))", "(?a IN (%s, 1))", "(%s NOT IN (?a, ?b))",
    "IF(%s, ?a, ?b)", "IF(?a, %s, ?b)", "IF(?a, ?b, %s)", "IF(%s > ?a, ?b, 1)", "IF(%s && ?a, ?b, 1)",
    "COALESCE(%s, ?a)", "COALESCE(?a, %s)", "CONCAT(%s, ?a)", "SUBSTR(%s, 1)", "SUBSTR(%s, 1, ?b)", "SUBSTR(?a, %s)",
    'REPLACE(%s, "a", "b")', "REPLACE(%s, ?a, ?b)", "REPLACE(?a, %s, ?b)", r'REPLACE(%s, "(a)\\1", "b")',
    'REGEX(%s, "a")', "REGEX(?a, %s)", r'REGEX(%s, "(a)\\1")',
    "(ROUND(%s * ?b) + ?a)", "IF(?a = %s, ?b + 1, ABS(?a))", "(%s + ?a = ?b * ?a)",
]  # fmt: skip


def _column(variable: Variable) -> exp.Expr:
    return exp.column(variable.name, "terms")


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("compiler", [compile_expression, compile_condition])
def test_each_level_adds_the_same_to_the_sql(compiler: object, form: str) -> None:
    """Levels are measured in threes: a step that leaves its value for the next is longer than one that does not."""
    trees = [compile_(form, depth, compiler) for depth in (30, 36, 42)]
    for write in (lambda tree: tree.sql("duckdb"), lambda tree: expanded(to_spark(tree))):
        first, second, third = (len(write(tree)) for tree in trees)
        assert third - second == second - first


def compile_(form: str, depth: int, compiler: object = compile_expression) -> exp.Expr:
    assert callable(compiler)
    tree = compiler(expression_of(nested(form, depth)), _column)
    assert isinstance(tree, exp.Expr)
    return tree


VALUES = [
    ("ROUND(%s)", "i1"),
    ("IF(%s, 1, 2)", "i1"),
    ("IF(?b, %s, 2)", "i1"),
    ("(%s + ?a)", f"i{DEPTH + 1}"),
    ("(?b - %s)", "i1"),
    ("(%s = ?a)", "bfalse"),
    ("(%s IN (?a, true))", "btrue"),
    ("(true NOT IN (%s, ?a))", "bfalse"),
    ("COALESCE(%s, ?b)", "i1"),
    ('CONCAT(STR(%s), "x")', "S1" + "x" * (DEPTH // 2)),
    ('REPLACE(STR(%s), "1$", "12")', "S1" + "2" * 1),
    ("((%s * ?b + ?a) / ?b - 0.5)", "d1"),
]
"""Forms, and the values of what they make of `?a`, which is 1, with `?b`, which is 2."""


@pytest.mark.parametrize("form", [*FORMS, "(%s IN (1, 2, 3, 4, ?a))"])
@pytest.mark.parametrize("compiler", [compile_expression, compile_condition])
def test_a_step_is_compiled_however_little_is_compiled_as_a_whole(compiler: object, form: str) -> None:
    assert callable(compiler)
    for depth in (1, 2):
        assert compiler(expression_of(nested(form, depth)), _column, most_weight=0).sql("duckdb")


def test_deep_expressions_have_values() -> None:
    """All in one statement; engines plan what each does once, however deep it is."""
    cases = [(nested(form, depth_of(form)), expected) for form, expected in VALUES]
    columns = [compile_expression(expression_of(text), _column).sql("duckdb") for text, _ in cases]
    with duckdb.connect() as connection:
        text = f"SELECT {', '.join(columns)} FROM (SELECT 'i1' AS a, 'i2' AS b) AS terms"
        Library(connection).provide(text)
        assert connection.execute(text).fetchone() == tuple(expected for _, expected in cases)


def test_long_chains_have_values() -> None:
    chains = {"+": "i300", "-": "i-298", "*": "i1"}
    columns = [compile_expression(expression_of(operator.join(["?a"] * 300)), _column) for operator in chains]
    with duckdb.connect() as connection:
        text = f"SELECT {', '.join(column.sql('duckdb') for column in columns)} FROM (SELECT 'i1' AS a) AS terms"
        Library(connection).provide(text)
        assert connection.execute(text).fetchone() == tuple(chains.values())


IN_LISTS = [
    ("?a IN ({numbers})", True),
    ("?a IN ({strings}, 1)", True),
    ("?a IN ({strings}, {resources})", False),
    ("?a NOT IN ({numbers}, ?b)", False),
    ("(?a + 1) IN ({resources}, {times}, {numbers})", True),
    ("?a IN ({times}, 1/0)", None),
    ("?a IN ({strings}, 1/0, 1)", True),
]
MEMBERS = {
    "numbers": "{}",
    "strings": '"x{}"',
    "resources": "<a:{}>",
    "times": '"2024-01-01T00:{:02}:00Z"^^<http://www.w3.org/2001/XMLSchema#dateTime>',
}


@pytest.mark.parametrize(("form", "expected"), IN_LISTS)
def test_a_long_list_is_compared_in_one_place(form: str, expected: bool | None) -> None:
    """`?a` is 1; the SQL has a term for each member, and no more."""

    def text(count: int) -> str:
        lists = {name: ", ".join(member.format(place) for place in range(count)) for name, member in MEMBERS.items()}
        return form.format(**lists)

    def written(count: int) -> str:
        return compile_condition(expression_of(text(count)), _column).sql("duckdb")

    with duckdb.connect() as connection:
        for count in (3, 60):
            query = f"SELECT {written(count)} FROM (SELECT 'i1' AS a, 'i2' AS b) AS terms"
            Library(connection).provide(query)
            assert connection.execute(query).fetchone() == (expected,)
    assert len(written(60)) - len(written(59)) < 200
