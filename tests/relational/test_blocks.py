"""An interval is made of few blocks, and each of its places lies in exactly one of them."""

from __future__ import annotations

import duckdb
from sqlglot import exp

from penstock.relational.blocks import blocks_around, cut_into_blocks
from penstock.relational.relations import Statement, col, number, select_from
from penstock.relational.shapes import LocalSlice

PLACES = 40


def test_blocks_cover_an_interval_once() -> None:
    """For every interval of the places: which of its blocks are around each place."""
    statement = Statement(LocalSlice(is_regular=False, is_large=True))
    blocks = cut_into_blocks(statement, "intervals", ["i", "j"])
    around = blocks_around(statement, "places", ["place"], "place", number(PLACES))
    same = exp.and_(*(col(blocks, name).eq(col(around, name)) for name in ("width", "block")))
    columns = [col(blocks, "i"), col(blocks, "j"), col(around, "place")]
    covered = statement.finish(select_from(blocks, columns).join(exp.to_table(around), on=same))
    with duckdb.connect() as connection:
        connection.execute(f"CREATE TABLE places AS SELECT range AS place FROM range({PLACES})")
        connection.execute(
            "CREATE TABLE intervals AS SELECT one.place AS i, other.place + 1 AS j FROM places one, places other "
            "WHERE one.place <= other.place"
        )
        found = connection.execute(covered.sql("duckdb")).fetchall()
    intervals = [(start, end) for start in range(PLACES) for end in range(start + 1, PLACES + 1)]
    assert sorted(found) == [(start, end, place) for start, end in intervals for place in range(start, end)]


def test_an_interval_is_made_of_few_blocks() -> None:
    statement = Statement(LocalSlice(is_regular=False, is_large=True))
    blocks = cut_into_blocks(statement, "intervals", ["i"])
    whole = statement.finish(select_from(blocks, [exp.Count(this=exp.Star())]))
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE intervals AS SELECT 1 AS i, 1000000 AS j")
        ((count,),) = connection.execute(whole.sql("duckdb")).fetchall()
    assert count <= 2 * 20
