"""Limits that the parser, the oracle and the engines share: one sentence, with its place, for a query beyond them."""

from __future__ import annotations

import pytest

from penstock.syntax import parse
from penstock.syntax.errors import QuerySyntaxError
from penstock.syntax.parser.cursor import MAX_NESTING, MAX_OPERANDS, MAX_SIDES

_QUERY = "SELECT ?s FROM STREAM <http://ex.org/s> [RANGE 5ms TUMBLING] { %s }"


def _brackets(count: int) -> str:
    # One of the levels is the group around the filter.
    return "?s ?p ?o FILTER " + "(" * (count - 1) + "?o" + ")" * (count - 1)


def _exists(count: int) -> str:
    return "FILTER EXISTS { ?s ?p ?o " * ((count - 1) // 2) + "}" * ((count - 1) // 2)


def _sum(count: int) -> str:
    return f"?s ?p ?o FILTER ({' + '.join(['?o'] * count)})"


def _union(count: int) -> str:
    return " UNION ".join(["{ ?s ?p ?o }"] * count)


@pytest.mark.parametrize(
    ("pattern", "most", "beyond", "message"),
    [
        (_brackets, MAX_NESTING, 1, f"the query nests deeper than {MAX_NESTING} levels"),
        (_exists, MAX_NESTING, 2, f"the query nests deeper than {MAX_NESTING} levels"),
        (_sum, MAX_OPERANDS, 1, f"there are more than {MAX_OPERANDS} operands of +"),
        (_union, MAX_SIDES, 1, f"there are more than {MAX_SIDES} sides of a UNION"),
    ],
)
def test_limits(pattern: object, most: int, beyond: int, message: str) -> None:
    assert callable(pattern)
    parse(_QUERY % pattern(most), "csparql")
    with pytest.raises(QuerySyntaxError) as raised:
        parse(_QUERY % pattern(most + beyond), "csparql")
    (problem,) = raised.value.problems
    assert problem.message == message
    assert problem.span.start > len("SELECT ?s")
