"""Queries over one stream that are equal up to constants, and some that are not."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import strategies as st
from tests.runtime.chains import Scenario, scenarios

PATTERNS = (
    "SELECT ?car {window} WHERE {{ WINDOW :w {{ :{gate} :lets ?car }} }}",
    "SELECT DISTINCT ?gate {window} WHERE {{ WINDOW :w {{ ?gate :lets :{car} }} }} ORDER BY DESC(?gate)",
    "SELECT ?gate (COUNT(*) AS ?n) {window} "
    "WHERE {{ WINDOW :w {{ ?gate :lets ?car FILTER (?car != :{car}) }} }} GROUP BY ?gate HAVING (COUNT(*) < {number})",
    "SELECT ?gate ?other {window} "
    "WHERE {{ WINDOW :w {{ ?gate :lets :{car} OPTIONAL {{ ?gate :lets ?other FILTER (?other != :{other}) }} }} }}",
    "SELECT ?x {window} WHERE {{ WINDOW :w {{ {{ :{gate} :lets ?x }} UNION {{ ?x :lets :{car} }} }} }}",
    "SELECT ?gate ?of {window} WHERE {{ WINDOW :w {{ ?gate :lets :{car} }} BIND (:{other} AS ?of) }}",
    "CONSTRUCT {{ ?gate :saw :{car} }} {window} WHERE {{ WINDOW :w {{ ?gate :lets :{car} . ?gate :lets ?other }} }}",
    "SELECT ?gate {window} WHERE {{ WINDOW :w {{ ?gate :lets :{car} MINUS {{ ?gate :lets :car0 }} }} }}",
    "SELECT ?gate {window} WHERE {{ WINDOW :w {{ ?gate :lets :{car} FILTER NOT EXISTS {{ ?gate :lets :car0 }} }} }}",
    "SELECT ?gate ?n {window} WHERE {{ WINDOW :w {{ ?gate :lets :{car} }} "
    "{{ SELECT ?gate (COUNT(?c) AS ?n) WHERE {{ WINDOW :w {{ ?gate :lets ?c FILTER (?c != :{other}) }} }} "
    "GROUP BY ?gate }} }}",
    "SELECT (COUNT(*) AS ?n) {window} WHERE {{ WINDOW :w {{ ?gate :lets :{car} }} }}",
    "SELECT ?gate {window} WHERE {{ WINDOW :w {{ ?gate :lets :{car} }} }} ORDER BY ?gate LIMIT 1",
)
"""What differs are constants; the last ones are never fused."""


@st.composite
def families(draw: st.DrawFn, least_queries: int = 1, least_elements: int = 1) -> Scenario:
    """Queries that are equal up to constants, and some that are not."""
    texts = []
    for pattern in draw(st.lists(st.sampled_from(PATTERNS), min_size=1, max_size=2)):
        window = draw(st.sampled_from(("RANGE PT4S STEP PT2S", "ELEMENTS 3", "NOW REPORT ON_ARRIVAL")))
        operator = draw(st.sampled_from(("RSTREAM", "ISTREAM", "DSTREAM")))
        for _ in range(draw(st.integers(least_queries, 4))):
            text = pattern.format(
                window=f"FROM NAMED WINDOW :w ON :toll [{window}]",
                gate=f"gate{draw(st.integers(0, 2))}",
                car=f"car{draw(st.integers(0, 3))}",
                other=f"car{draw(st.integers(0, 3))}",
                number=draw(st.integers(1, 3)),
            )
            texts.append(f"PREFIX : <http://ex.org/> REGISTER {operator} :q{len(texts)} AS {text}")
    return replace(draw(scenarios(least_elements)), texts=tuple(texts))
