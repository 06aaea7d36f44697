"""Relations are joined by their variables: two that share none are not joined by their instants alone."""

from __future__ import annotations

import pytest
import sqlglot
from sqlglot import exp

from penstock.explain import explain

TRIANGLE = (
    "?x a :Student . ?y a :Faculty . ?z a :Course . ?x :advisor ?y . ?y :teacherOf ?z . ?x :takesCourse ?z"  # LUBM Q9
)
CHAIN = "?a :p ?b . ?b :q ?c . ?c :r ?d . ?d :s ?e"


def _compared(sql: str, kind: type[exp.Binary]) -> set[frozenset[str]]:
    """The pairs of relations of which two columns are compared."""
    return {
        frozenset((one.this.table, one.expression.table))
        for one in sqlglot.parse_one(sql, dialect="duckdb").find_all(kind)
        if isinstance(one.this, exp.Column) and isinstance(one.expression, exp.Column)
        if one.this.table != one.expression.table and one.this.name in "ij"
    }


def _equal(sql: str) -> set[frozenset[str]]:
    """The pairs of relations that are equal in something besides instants, with all that follows from it."""
    sides: dict[frozenset[str], set[str]] = {}
    for one in sqlglot.parse_one(sql, dialect="duckdb").find_all(exp.EQ):
        if isinstance(one.this, exp.Column) and isinstance(one.expression, exp.Column):
            ends = {f"{one.this.table}.{one.this.name}", f"{one.expression.table}.{one.expression.name}"}
            met = [key for key in sides if ends & sides[key]]
            merged = ends.union(*(sides.pop(key) for key in met))
            sides[frozenset(merged)] = merged
    return {
        frozenset((first.split(".")[0], second.split(".")[0]))
        for columns in sides.values()
        for first in columns
        for second in columns
    }


@pytest.mark.parametrize("patterns", [TRIANGLE, CHAIN], ids=["triangle", "chain"])
@pytest.mark.parametrize(
    ("window", "kind"),
    [("[RANGE 10s STEP 1s]", exp.LT), ("[RANGE 10s TUMBLING]", exp.NullSafeEQ)],
    ids=["for a while", "at one instant"],
)
def test_instants_are_compared_where_a_variable_is(patterns: str, window: str, kind: type[exp.Binary]) -> None:
    query = f"PREFIX : <http://e/> SELECT * FROM STREAM :s {window} {{ {patterns} }}"
    sql = explain(query, "sql")
    compared = _compared(sql, kind)
    assert compared
    assert compared <= _equal(sql)


def test_what_shares_nothing_is_compared_by_instants() -> None:
    sql = explain("PREFIX : <http://e/> SELECT * FROM STREAM :s [RANGE 10s STEP 1s] { ?a :p ?b . ?c :q ?d }", "sql")
    assert len(_compared(sql, exp.LT)) == 1
