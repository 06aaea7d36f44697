"""The W3C test suite for SPARQL 1.1: its queries, sorted by what the manifests say about them, and its evaluations."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import groupby
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pyoxigraph
import pytest
from tests.corpora.samples import ABSENT, SHARED, Sample, read_sample

FOLDER = (SHARED / "data" / "w3c-sparql11").resolve()

HTTP_ONLY = {"protocol"}
"""Folders whose tests are HTTP requests and name no query files."""

NOT_EVALUATED = HTTP_ONLY | {"entailment", "service"}
"""Folders whose answers need more than a query and its data: an entailment regime, or endpoints that answer."""

_TESTS = """
PREFIX mf: <http://www.w3.org/2001/sw/DataAccess/tests/test-manifest#>
PREFIX qt: <http://www.w3.org/2001/sw/DataAccess/tests/test-query#>
SELECT DISTINCT ?query ?negative {
  ?test a ?kind ; mf:action ?action .
  OPTIONAL { ?action qt:query ?named }
  BIND(COALESCE(?named, ?action) AS ?query)
  BIND(?kind IN (mf:NegativeSyntaxTest, mf:NegativeSyntaxTest11) AS ?negative)
}
"""

_EVALUATIONS = """
PREFIX mf: <http://www.w3.org/2001/sw/DataAccess/tests/test-manifest#>
PREFIX qt: <http://www.w3.org/2001/sw/DataAccess/tests/test-query#>
SELECT ?test ?query ?result ?data ?graph {
  VALUES ?kind { mf:QueryEvaluationTest mf:CSVResultFormatTest }
  ?test a ?kind ; mf:action ?action ; mf:result ?result .
  ?action qt:query ?query .
  OPTIONAL { ?action qt:data ?data }
  OPTIONAL { ?action qt:graphData ?graph }
} ORDER BY ?test
"""
_FILES = ("query", "result", "data", "graph")


@dataclass(frozen=True, slots=True)
class EvaluationTest:
    """A query, what it is asked over, and the file with its answer. A named graph goes by the IRI of its file."""

    name: str
    query: Path
    data: tuple[Path, ...]
    graphs: tuple[Path, ...]
    result: Path


def evaluations() -> list[EvaluationTest]:
    """The tests that name an answer: those of query evaluation, and those of the CSV format."""
    return [test for manifest in _manifests_but(NOT_EVALUATED) for test in _evaluations(manifest)]


def each_evaluation(*, every: int = 1) -> pytest.MarkDecorator:
    """One test an evaluation, as `samples.each`; `every` 10: one of ten."""
    parameters = [pytest.param(test, id=test.name) for test in evaluations()[::every]]
    absent = pytest.param(None, id="absent", marks=pytest.mark.skip(reason=ABSENT))
    return pytest.mark.parametrize("test", parameters or [absent])


def _evaluations(manifest: Path) -> Iterator[EvaluationTest]:
    store = pyoxigraph.Store()
    store.load(path=str(manifest), format=pyoxigraph.RdfFormat.TURTLE, base_iri=manifest.as_uri())
    tests = store.query(_EVALUATIONS)
    assert isinstance(tests, pyoxigraph.QuerySolutions)
    for test, rows in groupby(tests, key=lambda row: row["test"].value):
        found = [{name: _path(row[name].value) for name in _FILES if row[name] is not None} for row in rows]
        yield EvaluationTest(
            f"{manifest.parent.name}/{test.rpartition('#')[2]}",
            found[0]["query"],
            tuple(dict.fromkeys(row["data"] for row in found if "data" in row)),
            tuple(dict.fromkeys(row["graph"] for row in found if "graph" in row)),
            found[0]["result"],
        )


def _path(iri: str) -> Path:
    return Path(unquote(urlsplit(iri).path))


def positive() -> list[Sample]:
    """What a positive syntax test or an evaluation test names."""
    return [_sample(path) for path, is_negative in _manifests().items() if not is_negative]


def negative() -> list[Sample]:
    return [_sample(path) for path, is_negative in _manifests().items() if is_negative]


def in_no_manifest() -> list[Sample]:
    """What lies beside the tests and is none: drafts with counted paths, `:p{2}`, which SPARQL 1.1 then left out."""
    return [_sample(path) for path in sorted(FOLDER.glob("*/*.rq")) if _is_draft(path)]


def _is_draft(path: Path) -> bool:
    """Two queries for RIF lie in `entailment`, which have no tests in the manifest either."""
    return path not in _manifests() and path.parent.name != "entailment"


def _sample(path: Path) -> Sample:
    return read_sample(path, "sparql", FOLDER)


def _manifests_but(left_out: set[str]) -> list[Path]:
    return [path for path in sorted(FOLDER.glob("*/manifest.ttl")) if path.parent.name not in left_out]


@cache
def _manifests() -> dict[Path, bool]:
    """Each query file that a test names, and whether the test is that it be rejected."""
    named: dict[Path, bool] = {}
    for manifest in _manifests_but(HTTP_ONLY):
        store = pyoxigraph.Store()
        store.load(path=str(manifest), format=pyoxigraph.RdfFormat.TURTLE, base_iri="manifest:/")
        tests = store.query(_TESTS)
        assert isinstance(tests, pyoxigraph.QuerySolutions)
        for row in tests:
            file = row["query"].value.removeprefix("manifest:/")
            named[manifest.parent / file] = row["negative"].value == "true"
    return dict(sorted(named.items()))
