"""Splits intervals into blocks, so that an interval is made of few pieces.

A block is `width` positions long, a power of two, and begins at a multiple of its width. An interval of n positions
consists of at most 2·log₂(n) blocks (a segment tree). It serves values that are valid for an interval and are
aggregated at each position, such as the greatest value. They are first aggregated in each block. A position then reads
only the blocks that contain it, one of each width, instead of every value.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from penstock.relational.relations import Statement, aliased, col, number, select_from, united

BLOCK = ("width", "block")
"""The columns that identify a block: its width, and its number among the blocks of this width."""

_WIDTHS = 40
"""There are fewer positions than two to this power."""


def cut_into_blocks(statement: Statement, source: str, columns: Sequence[str]) -> str:
    """The rows of `source`, once for every block of their interval `[i, j)`."""
    widths = _powers(statement)
    width, start, end = col(widths, "width"), col(source, "i"), col(source, "j")
    up = exp.Sub(this=exp.Add(this=start, expression=width), expression=number(1))
    bounds = [aliased(_over(up, width), "first_block"), aliased(_over(end, width), "block_behind")]
    query = select_from(source, [*(col(source, name) for name in columns), width, *bounds])
    is_longer = exp.LTE(this=width.copy(), expression=exp.Sub(this=end.copy(), expression=start.copy()))
    within = statement.add(query.join(exp.to_table(widths), on=is_longer))
    first, behind = col(within, "first_block"), col(within, "block_behind")
    last = exp.Sub(this=behind, expression=number(1))
    parts: list[exp.Query] = []
    for block, bound in ((first, first), (last, behind)):  # the others make up wider ones
        selected = [*(col(within, name) for name in (*columns, "width")), aliased(block.copy(), "block")]
        is_odd = exp.Mod(this=bound.copy(), expression=number(2)).eq(number(1))
        is_there = exp.LT(this=first.copy(), expression=behind.copy())
        parts.append(select_from(within, selected).where(is_there, is_odd))
    return statement.add(united(parts))


def blocks_around(statement: Statement, places: str, columns: Sequence[str], place: str, most: exp.Expr) -> str:
    """The rows of `places`, once for every block that contains their position; no block is wider than `most`."""
    widths = _powers(statement)
    width = col(widths, "width")
    block = aliased(_over(col(places, place), width), "block")
    query = select_from(places, [*(col(places, name) for name in columns), width, block])
    return statement.add(query.join(exp.to_table(widths), on=exp.LTE(this=width.copy(), expression=most)))


def _powers(statement: Statement) -> str:
    rows = [exp.Tuple(expressions=[exp.cast(number(1 << power), "bigint")]) for power in range(_WIDTHS)]
    alias = exp.TableAlias(this=exp.to_identifier("powers"), columns=[exp.to_identifier("width")])
    return statement.add(exp.select(col("powers", "width")).from_(exp.Values(expressions=rows, alias=alias)))


def _over(places: exp.Expr, width: exp.Expr) -> exp.Expr:
    return exp.IntDiv(this=exp.Paren(this=places), expression=width.copy())
