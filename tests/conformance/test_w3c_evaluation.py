"""W3C's evaluation tests of SPARQL 1.1 on both engines, the default graph of each fed as a stream.

Each triple is an element with a timestamp of its own; named graphs are static. A query runs twice: as it is, which is
SPARQL over a stream, where all evaluations together are the answer; and as RSP-QL over one window that holds all of
the stream. Each stream ends with an element without triples, at the instant where the window closes: it moves time on,
also where the default graph is empty, and says nothing.

On Spark a run tries one test of twenty; with PENSTOCK_TESTS=nightly, all.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from tests.bounded import run_bounded
from tests.corpora import w3c
from tests.corpora.w3c_answers import by_value, in_csv, read_answer
from tests.histories import run_on_spark
from tests.nightly import IS_NIGHTLY

from penstock.algebra.inputs import GraphTriple, Inputs
from penstock.engines.duckdb.store import DuckDBStore
from penstock.rdf.elements import Element, Row
from penstock.rdf.graphs import read_graph
from penstock.rdf.results import Evaluation, same_graph, same_rows
from penstock.rdf.terms import IRI
from penstock.syntax import ast, parse

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

STREAM = "http://example.org/stream"
WIDTH = 1000
EVERY = 1 if IS_NIGHTLY else 20


@pytest.fixture(scope="module")
def engine() -> DuckDBStore:
    return DuckDBStore()


@w3c.each_evaluation()
def test_over_a_stream(engine: DuckDBStore, test: w3c.EvaluationTest) -> None:
    query = _query(test)
    found = list(run_bounded(query, _inputs(test), store=engine))
    _check(_all_together(found), query, test)


@w3c.each_evaluation()
def test_in_a_window(engine: DuckDBStore, test: w3c.EvaluationTest) -> None:
    query = _query(test)
    (found,) = run_bounded(_windowed(query), _inputs(test), store=engine)
    assert found.time == WIDTH
    _check(found, query, test)


@w3c.each_evaluation(every=EVERY)
def test_over_a_stream_on_spark(spark: SparkSession, test: w3c.EvaluationTest) -> None:
    query = _query(test)
    found = list(run_on_spark(spark, query, _inputs(test)))
    _check(_all_together(found), query, test)


@w3c.each_evaluation(every=EVERY)
def test_in_a_window_on_spark(spark: SparkSession, test: w3c.EvaluationTest) -> None:
    query = _query(test)
    (found,) = run_on_spark(spark, _windowed(query), _inputs(test))
    assert found.time == WIDTH
    _check(found, query, test)


@pytest.mark.usefixtures("shared")
def test_every_test_is_there() -> None:
    assert len(w3c.evaluations()) == 195


def _query(test: w3c.EvaluationTest) -> ast.Query:
    return parse(test.query.read_text(encoding="utf-8"), "sparql", base=test.query.as_uri())


def _windowed(query: ast.Query) -> ast.Query:
    """The same in RSP-QL, over one window."""
    settings = ast.WindowSettings(report=ast.Strategy("window-close"))
    window = ast.WindowClause(ast.Constant(IRI(STREAM)), ast.RangeWindow(WIDTH, WIDTH), settings=settings)
    return replace(query, dialect="rspql", dataset=(*query.dataset, window))


def _inputs(test: w3c.EvaluationTest) -> Inputs:
    triples = [triple for path in test.data for triple in read_graph(path, scope=f"data-{path.name}")]
    elements = [Element(time, (triple,)) for time, triple in enumerate(triples, start=1)]
    graphs = {path.as_uri(): list(map(GraphTriple, read_graph(path, scope=path.name))) for path in test.graphs}
    return Inputs({STREAM: [*elements, Element(WIDTH, ())]}, graphs)


def _all_together(evaluations: list[Evaluation]) -> Evaluation:
    last = evaluations[-1]
    if last.rows is not None:
        return replace(last, rows=tuple(row for evaluation in evaluations for row in evaluation.rows or ()))
    if last.triples is not None:
        return replace(last, triples=tuple(triple for evaluation in evaluations for triple in evaluation.triples or ()))
    return last


def _check(found: Evaluation, query: ast.Query, test: w3c.EvaluationTest) -> None:
    expected = read_answer(test.result)
    if expected.boolean is not None:
        assert found.boolean == expected.boolean
    elif expected.triples is not None:
        assert found.triples is not None
        assert same_graph(found.triples, expected.triples), (found.triples, expected.triples)
    else:
        if test.result.suffix == ".csv":
            found = in_csv(found)
        rows, expected_rows = _rows(found, expected.variables), _rows(expected, expected.variables)
        assert same_rows(rows, expected_rows, ordered=bool(query.modifiers.order_by)), (rows, expected_rows)


def _rows(evaluation: Evaluation, variables: tuple[str, ...] | None) -> list[Row]:
    """The rows with the variables in a given order."""
    assert evaluation.rows is not None
    assert evaluation.variables is not None
    assert variables is not None
    assert set(evaluation.variables) == set(variables)
    order = [evaluation.variables.index(name) for name in variables]
    return [by_value(tuple(row[position] for position in order)) for row in evaluation.rows]
