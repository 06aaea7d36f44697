"""Positions in the query text."""

from __future__ import annotations

from typing import NamedTuple


class Span(NamedTuple):
    """The characters `[start, end)` of the query text."""

    start: int
    end: int


NOWHERE = Span(0, 0)
"""The span of a node without text (created by a program or a translation)."""
