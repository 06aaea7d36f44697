"""Bytes cut into blocks of whole lines: some megabytes of a file, or the lines of a live source that are there."""

from __future__ import annotations

import io
import math
import os
import select
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import BinaryIO, cast

from penstock.rdf.compression import damage, is_damage
from penstock.rdf.elements import Malformed
from penstock.rdf.limits import LONGEST_LINE, shown, too_long
from penstock.sources.batches import MOST_BYTES, MOST_SECONDS
from penstock.sources.lines import Lines

_PIECE = 1 << 16
"""The buffer size of the line reader: how much can be read of a damaged file depends on it."""


@dataclass(frozen=True, slots=True)
class LongLine:
    """A line that is too long to be read: its beginning, and its size in bytes with the line end."""

    text: str
    size: int


@dataclass(frozen=True, slots=True)
class Block:
    """Lines, or one line that is too long.

    If the file is damaged behind the lines, `damage` is the reason.
    """

    lines: Lines
    damage: str | None = None
    long_line: LongLine | None = None

    def problem(self, name: str, line: int) -> Malformed | None:
        """The problem after the lines of the block; `line` is the number of the next line."""
        if self.long_line is not None:
            return Malformed(f"{name}:{line}", self.long_line.text, too_long())
        return None if self.damage is None else Malformed(f"{name}:{line}", "", self.damage)


def blocks(pieces: Iterable[bytes | None]) -> Iterator[Block]:
    """Blocks from pieces of a text; where a piece is None, the whole lines so far are a block."""
    held = _Held()
    try:
        for piece in pieces:
            if piece is not None:
                yield from held.add(piece)
            if held.has_end and (piece is None or held.size >= MOST_BYTES):
                yield Block(Lines(held.take_lines()))
    except Exception as error:
        if not is_damage(error):
            raise
        yield from held.take_long_line()
        yield Block(Lines(held.take_lines() if held.has_end else b""), damage(error))
        return
    yield from held.take_long_line()
    if rest := held.take():
        yield Block(Lines(rest if rest.endswith(b"\n") else rest + b"\n"))


class _Held:
    """The bytes read so far of the next lines; of a line that is too long, only its size."""

    def __init__(self) -> None:
        self._pieces: list[bytes] = []
        self.size = 0
        self.has_end = False
        self._long: LongLine | None = None

    def add(self, piece: bytes) -> Iterator[Block]:
        if self._long is not None:
            end = piece.find(b"\n") + 1
            self._long = replace(self._long, size=self._long.size + (end or len(piece)))
            if not end:
                return
            yield from self.take_long_line()
            piece = piece[end:]
        end = piece.find(b"\n")
        length = self.size + (end if end >= 0 else len(piece))
        if length > LONGEST_LINE and not self.has_end:
            text = self.take()
            self._long = LongLine(shown(text + piece), len(text))
            yield from self.add(piece)
            return
        self._pieces.append(piece)
        self.size += len(piece)
        self.has_end = self.has_end or end >= 0

    def take_lines(self) -> bytes:
        """The whole lines; the rest stays."""
        text = self.take()
        end = text.rindex(b"\n") + 1
        self._pieces, self.size = [text[end:]], len(text) - end
        return text[:end]

    def take(self) -> bytes:
        text = b"".join(self._pieces)
        self._pieces, self.size, self.has_end = [], 0, False
        return text

    def take_long_line(self) -> Iterator[Block]:
        if self._long is not None:
            yield Block(Lines(), long_line=self._long)
            self._long = None


def pieces_of_file(
    open_file: Callable[[], BinaryIO], offset: int = 0, until: int | None = None
) -> Iterator[bytes]:  # fmt: skip
    """The content of a file from a place on, up to another or its end; a compressed one is unpacked up to there."""
    with open_file() as file:
        _skip(file, offset)
        read, rest = _read1(file), math.inf if until is None else until - offset
        while rest > 0 and (piece := read(int(min(_PIECE, rest)))):
            rest -= len(piece)
            yield piece


def _skip(file: BinaryIO, count: int) -> None:
    if file.seekable():
        file.seek(count)
        return
    while count and (piece := file.read(min(count, _PIECE))):
        count -= len(piece)


def pieces_as_they_come(stream: BinaryIO) -> Iterator[bytes | None]:
    """The pieces of a stream, and None whenever nothing more is waiting, or some milliseconds have passed."""
    read = _read1(stream)
    since: float | None = None
    while piece := read(_PIECE):
        yield piece
        since = since or time.monotonic()
        if not _is_waiting(stream) or time.monotonic() - since >= MOST_SECONDS:
            yield None
            since = None


def _read1(stream: BinaryIO) -> Callable[[int], bytes]:
    """A function that reads the available bytes, at least one and at most a number, as unbuffered streams do."""
    return cast(Callable[[int], bytes], getattr(stream, "read1", stream.read))


def _is_waiting(stream: BinaryIO) -> bool:
    """Whether more can be read without waiting; False if the system does not know."""
    try:
        return bool(select.select([stream], [], [], 0)[0])
    except (OSError, ValueError):
        return False


@contextmanager
def unbuffered(stream: BinaryIO) -> Iterator[BinaryIO]:
    """The same stream without a buffer, if it has a file descriptor; it stays open.

    A thread that waits for standard input must not hold the lock of its buffer: Python could not exit.
    """
    try:
        descriptor = os.dup(stream.fileno())
    except (OSError, ValueError):
        yield stream
        return
    with io.FileIO(descriptor, "rb") as raw:
        yield cast(BinaryIO, raw)


def buffered(stream: BinaryIO) -> BinaryIO:
    """The same stream with a buffer, for readers of lines."""
    return io.BufferedReader(stream) if isinstance(stream, io.RawIOBase) else stream
