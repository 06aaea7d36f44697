"""Expressions that nest deeply are evaluated in steps, give what the oracle gives, and take less than a second."""

from __future__ import annotations

import time

import pytest
from pyoxigraph import Literal, NamedNode, Triple
from tests.bounded import run_bounded

from penstock.algebra.inputs import Inputs
from penstock.engines.duckdb.store import DuckDBStore
from penstock.engines.protocol import StorageError
from penstock.oracle import answer
from penstock.oracle.judging import first_difference
from penstock.rdf.elements import Element
from penstock.rdf.results import Evaluation
from penstock.syntax import ast, parse

STREAM, N = "http://ex.org/s", NamedNode("http://ex.org/n")
INPUTS = Inputs(
    {
        STREAM: [
            Element(time, (Triple(NamedNode(f"http://ex.org/{time}"), N, value),))
            for time, value in enumerate([Literal(1), Literal(2.5), Literal("x"), Literal(True), Literal(0)], start=1)
        ]
    }
)
QUERY = f"SELECT ?a (%s AS ?x) FROM STREAM <{STREAM}> [RANGE 5ms TUMBLING] {{ ?a <{N.value}> ?n %s }}"


def nested(function: str, depth: int) -> str:
    value = "?n"
    for _ in range(depth):
        value = function.replace("%s", value)
    return value


@pytest.fixture(scope="module")
def engine() -> DuckDBStore:
    return DuckDBStore()


@pytest.mark.parametrize(
    "expression",
    [
        *(
            nested(function, 64)
            for function in (
                "ROUND(%s)",
                "IF(%s, ?n, 0)",
                "IF(?n, %s, 0)",
                "(%s * 1.0)",
                "(%s + ?n)",
                "(%s = ?n)",
                "(%s < ?n)",
                "(%s IN (?n, true))",
                "COALESCE(%s, ?a)",
                "(%s && ?n)",
                "!(%s)",
                "-(%s)",
                "SHA384(%s)",
                "SUBSTR(%s, 1)",
                'REGEX(%s, "x")',
                'REPLACE("x1y", %s, "z")',
                "ROUND(%s + RAND() * 0)",
            )
        ),
        nested('CONCAT(STR(%s), "x")', 40),
        nested("(true NOT IN (%s, ?n))", 40),
        nested('REPLACE(STR(%s), STR(?n), "y")', 24),
        " + ".join(["?n"] * 300),
    ],
    ids=lambda expression: expression[:8] + expression[-8:],
)
def test_deep_expressions(engine: DuckDBStore, expression: str) -> None:
    for query in (QUERY % (expression, ""), QUERY % ("?n", f"FILTER ({expression})")):
        parsed = parse(query, "csparql")
        found, seconds = _answered(engine, parsed)
        expected = list(answer(parsed, INPUTS).with_solutions())
        difference = first_difference(found, expected, ordered=False)
        assert difference is None, difference.text
        assert seconds < 1 or _answered(engine, parsed)[1] < 1


def _answered(engine: DuckDBStore, query: ast.Query) -> tuple[list[Evaluation], float]:
    """The answer, and the processor time it took."""
    began = time.process_time()
    found = [evaluation for evaluation in run_bounded(query, INPUTS, store=engine) if evaluation.says_something]
    return found, time.process_time() - began


def test_many_sides_of_a_union(engine: DuckDBStore) -> None:
    sides = " UNION ".join(f"{{ ?a <http://ex.org/p{number}> ?m }}" for number in range(300))
    query = parse(QUERY % ("1", f"OPTIONAL {{ {sides} }}"), "csparql")
    (evaluation,) = run_bounded(query, INPUTS, store=engine)
    assert len(evaluation.rows or ()) == 5


def test_a_string_that_doubles_ends_the_query_with_a_sentence(engine: DuckDBStore) -> None:
    doubled = " ".join(f"BIND (CONCAT(?c{number}, ?c{number}) AS ?c{number + 1})" for number in range(40))
    query = parse(QUERY % ("?c40", f"BIND (STR(?n) AS ?c0) {doubled}"), "csparql")
    with pytest.raises(StorageError, match="CONCAT makes a string of more than 16777216 characters"):
        list(run_bounded(query, INPUTS, store=engine))
