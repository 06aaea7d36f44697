"""Lines of N-Triples and its kin, cut into columns of words at their spaces."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
import pyarrow.compute as pc

FEW = 128
"""So few lines are parsed one by one: that takes less time than to set up the work by columns."""

_LONG = 1 << 20
"""From so many bytes on a line is left to the parser: there are lengths that it does not take."""

_NO_LINE = "? ? ? ? ?"
"""Stands for a line that has too few words: no pattern of `columns` takes any word of it."""


def texts_of(lines: pa.Array) -> pa.Array:
    """Lines, given as bytes, as text; one that is not UTF-8, or too long, is a line without a meaning."""
    try:
        texts = lines.cast(pa.large_string())
    except pa.ArrowInvalid:
        texts = pa.array([_text(line) for line in lines.to_pylist()], pa.large_string())
    lengths = pc.binary_length(lines)
    if len(lines) and pc.max(lengths).as_py() >= _LONG:
        return pc.if_else(pc.less(lengths, _LONG), texts, _NO_LINE)
    return texts


def cut(texts: pa.Array, *, left: int, right: int) -> Sequence[pa.Array]:
    """The first `left` words of each line, what is between, and the last `right` words, as columns."""
    first = _split(texts, left, _NO_LINE, reverse=False)
    *words, rest = (pc.list_element(first, place) for place in range(left + 1))
    last = _split(rest, right, " ".join(["?"] * (right + 1)), reverse=True)
    return *words, *(pc.list_element(last, place) for place in range(right + 1))


def split_last(texts: pa.Array) -> tuple[pa.Array, pa.Array]:
    """What is before the last space of each text, and the word behind it."""
    words = _split(texts, 1, "? ?", reverse=True)
    return pc.list_element(words, 0), pc.list_element(words, 1)


def _split(texts: pa.Array, count: int, instead: str, *, reverse: bool) -> pa.Array:
    words = pc.split_pattern(texts, pattern=" ", max_splits=count, reverse=reverse)
    is_whole = pc.equal(pc.list_value_length(words), count + 1)
    if pc.all(is_whole, min_count=0).as_py():
        return words
    mended = pc.if_else(is_whole, texts, pa.scalar(instead, texts.type))
    return pc.split_pattern(mended, pattern=" ", max_splits=count, reverse=reverse)


def _text(line: bytes) -> str:
    try:
        return line.decode()
    except UnicodeDecodeError:
        return _NO_LINE
