"""The whole statement of a query."""

from __future__ import annotations

import pytest

from penstock.algebra import build
from penstock.algebra.operators import Join, ReadWindow
from penstock.relational.answers import compile_query
from penstock.relational.shapes import LocalSlice, Shape, Snapshot
from penstock.relational.tables import Tables
from penstock.syntax import parse

MEETINGS = """
PREFIX : <http://ex.org/>
CONSTRUCT { ?who :meets ?other }
WHERE { STREAM :s [NOW] { ?who :at ?room } STREAM :s [RANGE 3s] { ?other :at ?near } }
"""


@pytest.mark.parametrize("shape", [Snapshot(), LocalSlice(is_regular=True, is_large=False)])
def test_another_order_of_joins_has_the_same_columns(shape: Shape) -> None:
    """The solutions of an instant are compared with those before, for which another plan may have been the best."""
    query = build(parse(MEETINGS))
    joined = query.expression
    assert isinstance(joined, Join)
    assert isinstance(joined.left, ReadWindow)
    tables = Tables({"http://ex.org/s": "stream_1"}, {})
    plans = [compile_query(query, each, "istream", tables, shape) for each in (joined, Join(joined.right, joined.left))]
    assert plans[0].variables == plans[1].variables == ("near", "other", "room", "who")
