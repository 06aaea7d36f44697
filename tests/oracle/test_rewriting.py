"""Looking at occurrences one by one, for bags and timestamps, is still SPARQL 1.1: the W3C's own queries as judges.

Where no triple is there twice, both ways that the oracle has to put a query to its engine must give the same answer.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import pyoxigraph as ox
import pytest
from tests.corpora import w3c

import penstock
from penstock.algebra import Settings
from penstock.algebra.inputs import GraphTriple
from penstock.oracle import Inputs, answer
from penstock.oracle.datasets import ActiveGraph
from penstock.rdf.elements import Element
from penstock.rdf.graphs import read_graph
from penstock.rdf.results import Evaluation, same_graph, same_rows

STREAM = "http://example.org/w3c"

_EVALUATION_TESTS = """
PREFIX mf: <http://www.w3.org/2001/sw/DataAccess/tests/test-manifest#>
PREFIX qt: <http://www.w3.org/2001/sw/DataAccess/tests/test-query#>
SELECT ?query
  (GROUP_CONCAT(DISTINCT COALESCE(STR(?default), "")) AS ?defaults)
  (GROUP_CONCAT(DISTINCT COALESCE(STR(?graph), "")) AS ?graphs)
{
  ?test a mf:QueryEvaluationTest ; mf:action ?action .
  ?action qt:query ?query .
  OPTIONAL { ?action qt:data ?default }
  OPTIONAL { ?action qt:graphData ?graph }
} GROUP BY ?test ?query
"""


class Conformance(NamedTuple):
    query: Path
    default: tuple[Path, ...]
    named: tuple[Path, ...]


def conformance_tests() -> list[Conformance]:
    """Those that name no dataset of their own and ask no other service."""
    found: list[Conformance] = []
    for manifest in sorted(w3c.FOLDER.glob("*/manifest.ttl")):
        store = ox.Store()
        store.load(path=str(manifest), format=ox.RdfFormat.TURTLE, base_iri="manifest:/")
        for row in sorted(store.query(_EVALUATION_TESTS), key=str):  # type: ignore[arg-type]
            query, default, named = (
                [manifest.parent / name.removeprefix("manifest:/") for name in row[column].value.split()]
                for column in ("query", "defaults", "graphs")
            )
            text = query[0].read_text(encoding="utf-8")
            if "SERVICE" not in text and "FROM" not in text:
                found.append(Conformance(query[0], tuple(default), tuple(named)))
    return found


@pytest.mark.parametrize("test", conformance_tests(), ids=lambda test: f"{test.query.parent.name}/{test.query.stem}")
def test_by_occurrences_it_is_the_same(test: Conformance, monkeypatch: pytest.MonkeyPatch) -> None:
    query = penstock.parse(test.query.read_text(encoding="utf-8"), "sparql", base=test.query.as_uri())
    triples = tuple(triple for path in test.default for triple in read_graph(path, scope=path.name))
    graphs: dict[str | None, list[GraphTriple]] = {
        path.as_uri(): [GraphTriple(triple) for triple in read_graph(path, scope=path.name)] for path in test.named
    }
    inputs = Inputs({STREAM: [Element(1, triples)]}, graphs)
    settings = Settings(operator="rstream")
    (plain,) = answer(query, inputs, settings).evaluations
    monkeypatch.setattr(ActiveGraph, "has_duplicates", property(lambda graph: True))
    (by_occurrences,) = answer(query, inputs, settings).evaluations
    assert _is_same(plain, by_occurrences)


def _is_same(one: Evaluation, other: Evaluation) -> bool:
    if one.rows is not None and other.rows is not None:
        return one.variables == other.variables and same_rows(one.rows, other.rows, ordered=False)
    if one.triples is not None and other.triples is not None:
        return same_graph(one.triples, other.triples)
    return one.boolean == other.boolean
