"""Nested expressions: each argument is written once, so the SQL grows with the query, on both engines."""

from __future__ import annotations

import duckdb
import pytest
from sqlglot import exp
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


def _nested(form: str, depth: int) -> str:
    text = "?a"
    for _ in range(depth):
        text = form.replace("%s", text)
    return text


def _column(variable: Variable) -> exp.Expr:
    return exp.column(variable.name, "terms")


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("compiler", [compile_expression, compile_condition])
def test_sql_grows_with_the_depth_and_no_faster(compiler: object, form: str) -> None:
    trees = [compile_(form, depth, compiler) for depth in (8, 14)]
    for write in (lambda tree: tree.sql("duckdb"), lambda tree: expanded(to_spark(tree))):
        shallow, deep = (len(write(tree)) for tree in trees)
        assert deep < 5 * shallow


def compile_(form: str, depth: int, compiler: object = compile_expression) -> exp.Expr:
    assert callable(compiler)
    tree = compiler(expression_of(_nested(form, depth)), _column)
    assert isinstance(tree, exp.Expr)
    return tree


@pytest.mark.parametrize(
    ("form", "expected"),
    [
        ("ROUND(%s)", "i1"),
        ("IF(%s, 1, 2)", "i1"),
        ("(%s + ?a)", "i13"),
        ("(%s = ?a)", "bfalse"),
        ("(%s IN (?a, true))", "btrue"),
    ],
)
def test_deep_expressions_have_values(form: str, expected: str) -> None:
    with duckdb.connect() as connection:
        text = f"SELECT {compile_(form, 12).sql('duckdb')} FROM (SELECT 'i1' AS a, 'i2' AS b) AS terms"
        Library(connection).provide(text)
        assert connection.execute(text).fetchall() == [(expected,)]
