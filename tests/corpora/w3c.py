"""The queries of the W3C test suite for SPARQL 1.1, sorted by what its manifests say about them."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pyoxigraph
from tests.corpora.samples import SHARED, Sample, read_sample

FOLDER = SHARED / "data" / "w3c-sparql11"

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


def positive() -> list[Sample]:
    """What a positive syntax test or an evaluation test names."""
    return [_sample(path) for path, is_negative in _manifests().items() if not is_negative]


def negative() -> list[Sample]:
    return [_sample(path) for path, is_negative in _manifests().items() if is_negative]


def in_no_manifest() -> list[Sample]:
    """What lies beside the tests and is none: drafts with counted paths, `:p{2}`, which SPARQL 1.1 then left out."""
    return [_sample(path) for path in sorted(FOLDER.glob("*/*.rq")) if path not in _manifests()]


def _sample(path: Path) -> Sample:
    return read_sample(path, "sparql", FOLDER)


@cache
def _manifests() -> dict[Path, bool]:
    """Each query file that a test names, and whether the test is that it be rejected."""
    named: dict[Path, bool] = {}
    for manifest in sorted(FOLDER.glob("*/manifest.ttl")):
        store = pyoxigraph.Store()
        store.load(path=str(manifest), format=pyoxigraph.RdfFormat.TURTLE, base_iri="manifest:/")
        tests = store.query(_TESTS)
        assert isinstance(tests, pyoxigraph.QuerySolutions)
        for row in tests:
            file = row["query"].value.removeprefix("manifest:/")
            named[manifest.parent / file] = row["negative"].value == "true"
    return dict(sorted(named.items()))
