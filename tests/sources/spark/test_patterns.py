"""What is told quickly is also what the full patterns say."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from penstock.sources.spark.patterns import COMMON_IRI, IRI


@given(st.from_regex(COMMON_IRI, fullmatch=True))
def test_a_common_iri_is_an_iri(iri: str) -> None:
    assert re.fullmatch(IRI, iri)
