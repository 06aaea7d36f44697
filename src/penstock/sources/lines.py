"""Lines of N-Triples and its kin: cut out of a text, and into columns of words at their spaces."""

from __future__ import annotations

import codecs
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as csv

FEW = 128
"""Up to this many lines are parsed one by one, which is faster than by columns."""

_LONG = 1 << 20
"""Longer lines are left to the parser: cutting into columns fails from some length on."""

_END = ord("\n")

_NO_LINE = "? ? ? ? ?"
"""Replaces a line that has too few words: no pattern of `columns` matches any word of it."""

_TERMS = pa.dictionary(pa.int32(), pa.string())


@dataclass(frozen=True)
class Lines:
    """Lines as bytes; `text` has them with their ends, the last one, too."""

    text: bytes = b""

    @cached_property
    def _ends(self) -> npt.NDArray[np.int64]:
        return np.flatnonzero(np.frombuffer(self.text, np.uint8) == _END)

    @cached_property
    def _count(self) -> int:
        return self.text.count(b"\n")

    def __len__(self) -> int:
        return self._count

    @cached_property
    def array(self) -> pa.Array:
        """The lines without their ends."""
        content = pa.py_buffer(self.text.replace(b"\n", b""))
        offsets = np.concatenate([[0], self._ends - np.arange(len(self))]).astype(np.int64)
        return pa.LargeBinaryArray.from_buffers(pa.large_binary(), len(self), [None, pa.py_buffer(offsets), content])

    def __getitem__(self, index: int) -> bytes:
        line: bytes = self.array[index].as_py()
        return line

    def __iter__(self) -> Iterator[bytes]:
        yield from self.array.to_pylist()

    def pieces(self, most: int) -> Iterator[Lines]:
        """The same lines, at most `most` at a time."""
        if len(self) <= most:
            yield from [self] if self.text else []
            return
        starts = [0, *(self._ends[most - 1 :: most] + 1).tolist(), len(self.text)]
        for start, end in pairwise(starts):
            if start < end:
                yield Lines(self.text[start:end])

    def words(self, count: int, plain: Collection[int] = ()) -> Sequence[pa.Array] | None:
        """The words of each line as columns, None unless each has `count`. All but the `plain` ones have dictionaries.

        Arrow reads them as CSV without quotes. Lines that CSV would read differently are left to `cut`.
        """
        if self.text.startswith(codecs.BOM_UTF8) or not self._ends_as_csv:
            return None
        names = [str(place) for place in range(count)]
        kinds = {name: pa.string() if place in plain else _TERMS for place, name in enumerate(names)}
        try:
            found = csv.read_csv(
                pa.BufferReader(self.text),
                csv.ReadOptions(use_threads=False, block_size=len(self.text) + 1, column_names=names),
                csv.ParseOptions(delimiter=" ", quote_char=False, double_quote=False, ignore_empty_lines=False),
                csv.ConvertOptions(column_types=kinds),
            )
        except pa.ArrowInvalid:
            return None
        return [column.combine_chunks() for column in found.columns]

    @property
    def _ends_as_csv(self) -> bool:
        """A carriage return ends a line of CSV, too."""
        return b"\r" not in self.text or self.text.count(b"\r") == self.text.count(b"\r\n")


def texts_of(lines: Lines) -> pa.Array:
    """Lines as text, from bytes; a line that is not UTF-8, or too long, is replaced by `_NO_LINE`."""
    try:
        texts = lines.array.cast(pa.large_string())
    except pa.ArrowInvalid:
        texts = pa.array([_text(line) for line in lines], pa.large_string())
    lengths = pc.binary_length(lines.array)
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
