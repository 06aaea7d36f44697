"""NOW() is the evaluation instant."""

from __future__ import annotations

import pytest
from tests.oracle.asking import ask, shown

STREAM = "1 :a :at 1\n999 :b :at 2\n1500 :c :at 3\n4000 :d :at 4"
WINDOW = "FROM STREAM :s [RANGE 1500ms STEP 1500ms]"


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        (
            f"SELECT ?now {WINDOW} WHERE {{ :a :at ?x BIND (NOW() AS ?now) }}",
            {1500: ["1970-01-01T00:00:01.5Z"]},
        ),
        (
            f"SELECT ?n {WINDOW} WHERE {{ ?a :at ?x }} GROUP BY (SECONDS(NOW()) AS ?n)",
            {1500: ["1.5"]},
        ),
        (
            f'SELECT ?a {WINDOW} WHERE {{ ?a :at ?x FILTER (NOW() < "1970-01-01T00:00:02Z"^^xsd:dateTime) }}',
            {1500: ["a", "b", "c"]},
        ),
        (f"SELECT (NOW() AS ?now) {WINDOW} WHERE {{}}", {1500: ["1970-01-01T00:00:01.5Z"]}),
        (f"SELECT ?a {WINDOW} WHERE {{ ?a :at 1 }} ORDER BY NOW()", {1500: ["a"]}),
        (f"SELECT ?a {WINDOW} WHERE {{ ?a :at 1 FILTER EXISTS {{ ?a ?p ?o FILTER (NOW() = NOW()) }} }}", {1500: ["a"]}),
    ],
)
def test_now(query: str, expected: dict[int, list[str]]) -> None:
    prefixed = f"PREFIX xsd: <http://www.w3.org/2001/XMLSchema#> {query}"
    assert shown(ask(prefixed, STREAM)) == expected


@pytest.mark.parametrize(
    ("time", "expected"),
    [(0, "1970-01-01T00:00:00Z"), (-1, "1969-12-31T23:59:59.999Z"), (1_700_000_000_250, "2023-11-14T22:13:20.25Z")],
)
def test_instants_as_date_times(time: int, expected: str) -> None:
    query = "SELECT (NOW() AS ?now) WHERE { STREAM :s [NOW] { ?a :at ?b } }"
    assert shown(ask(query, f"{time} :a :at :b")) == {time: [expected]}
