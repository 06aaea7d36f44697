"""Expressions that nest deeply."""

from __future__ import annotations

DEPTH = 64


def nested(form: str, depth: int) -> str:
    """`?a`, with the form around it so many times."""
    text = "?a"
    for _ in range(depth):
        text = form.replace("%s", text)
    return text


def depth_of(form: str) -> int:
    """How deep the form is to nest: a query may have 100 levels."""
    return DEPTH if form.partition("%s")[0].count("(") == 1 else DEPTH // 2
