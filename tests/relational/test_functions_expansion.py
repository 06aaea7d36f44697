"""Calls of macros in a statement for Spark give way to what the macros say."""

from __future__ import annotations

import re

import pytest

from penstock.relational.functions.catalogue import CONDITIONS, TERM_FUNCTIONS
from penstock.relational.functions.expansion import expanded
from penstock.relational.functions.library import macros


def test_an_argument_takes_the_place_of_its_name() -> None:
    assert expanded("SELECT sparql_is_iri(t.x) FROM t") == "SELECT (left(t.x, 1) = 'I') FROM t"


def test_an_argument_that_an_operator_could_tear_apart_is_enclosed() -> None:
    assert expanded("sparql_same_term(a || 'x', b)") == "((a || 'x') = b)"
    assert expanded("sparql_same_term(CASE WHEN a THEN b END, f(a, b)[0].c)") == (
        "(CASE WHEN a THEN b END = f(a, b)[0].c)"
    )


def test_commas_and_parentheses_in_literals_are_text() -> None:
    assert expanded("SPARQL_SAME_TERM('a, (', `b, `)") == "('a, (' = `b, `)"
    assert expanded(r"sparql_same_term('it\'s', ',')") == r"('it\'s' = ',')"


def test_calls_in_literals_are_text() -> None:
    assert expanded("SELECT 'sparql_is_iri(x)'") == "SELECT 'sparql_is_iri(x)'"


def test_calls_in_arguments() -> None:
    assert expanded("sparql_same_term(sparql_same_term(a, b), c)") == "((a = b) = c)"


def test_names_of_lambdas_are_their_macros_own() -> None:
    text = expanded("sparql_decimal_floor(sparql_decimal_ceil(x))")
    assert len(set(re.findall(r"(\w+) ->", text))) == 2


@pytest.mark.parametrize("name", sorted(macros("spark")))
def test_nothing_is_left_to_expand(name: str) -> None:
    call = f"{name}({', '.join('x' for _ in macros('spark')[name].parameters)})"
    assert "sparql_" not in expanded(call)


def test_engines_have_the_functions_that_are_called() -> None:
    called = {*TERM_FUNCTIONS.values(), *CONDITIONS.values()}
    assert called <= macros("spark").keys()
    assert called <= macros("duckdb").keys()
