"""The prefixes that error messages propose are those that everyone uses."""

from __future__ import annotations

import pytest
import rdflib

from penstock.rdf.vocabulary import COMMON_PREFIXES

# Both http and https are in use for schema.org; geo: is W3C's in older data and GeoSPARQL's in newer.
TWO_IN_USE = {"schema", "geo"}
COMPARABLE = {prefix: str(iri) for prefix, iri in rdflib.Graph().namespaces() if prefix not in TWO_IN_USE}


@pytest.mark.parametrize("prefix", COMMON_PREFIXES)
def test_a_proposed_prefix_ends_its_namespace_and_is_the_usual_one(prefix: str) -> None:
    assert COMMON_PREFIXES[prefix][-1] in "#/"
    assert COMMON_PREFIXES[prefix] == COMPARABLE.get(prefix, COMMON_PREFIXES[prefix])
