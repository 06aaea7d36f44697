"""Lines of N-Triples and its kin, cut into columns of words at their spaces."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
import pyarrow.compute as pc

FEW = 128
"""Up to this many lines are parsed one by one, which is faster than by columns."""

_LONG = 1 << 20
"""Longer lines are left to the parser, because cutting them into columns can fail."""

_NO_LINE = "? ? ? ? ?"
"""Replaces a line that has too few words: no pattern of `columns` matches any word of it."""


def texts_of(lines: pa.Array) -> pa.Array:
    """Lines as text, from bytes; a line that is not UTF-8, or too long, is replaced by `_NO_LINE`."""
    try:
        texts = lines.cast(pa.large_string())
    except pa.ArrowInvalid:
        texts = pa.array([_text(line) for line in lines.to_pylist()], pa.large_string())
    lengths = pc.binary_length(lines)
    if len(lines) and pc.max(lengths).as_py() >= _LONG:
        return pc.if_else(pc.less(lengths, _LONG), texts, _NO_LINE)
    return texts


def cut(texts: pa.Array, *, left: int, right: int) -> Sequence[pa.Array]:
    """The first `left` words of each line, the middle, and the last `right` words, as columns."""
    *words, rest = _split(texts, left, _NO_LINE, reverse=False)
    return *words, *_split(rest, right, " ".join(["?"] * (right + 1)), reverse=True)


def split_last(texts: pa.Array) -> tuple[pa.Array, pa.Array]:
    """The text before the last space of each text, and the word after it."""
    before, last = _split(texts, 1, "? ?", reverse=True)
    return before, last


def _split(texts: pa.Array, count: int, instead: str, *, reverse: bool) -> list[pa.Array]:
    """The texts cut at `count` spaces, as columns; `instead` replaces texts with fewer spaces."""
    words = pc.split_pattern(texts, pattern=" ", max_splits=count, reverse=reverse)
    is_whole = pc.equal(pc.list_value_length(words), count + 1)
    if not pc.all(is_whole, min_count=0).as_py():
        mended = pc.if_else(is_whole, texts, pa.scalar(instead, texts.type))
        words = pc.split_pattern(mended, pattern=" ", max_splits=count, reverse=reverse)
    in_a_row = words.flatten()
    return [in_a_row.take(pa.arange(place, len(in_a_row), count + 1)) for place in range(count + 1)]


def _text(line: bytes) -> str:
    try:
        return line.decode()
    except UnicodeDecodeError:
        return _NO_LINE
