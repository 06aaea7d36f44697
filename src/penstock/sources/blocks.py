"""Bytes cut into blocks of whole lines: some megabytes of a file, or what a live source has to give."""

from __future__ import annotations

import io
import os
import select
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import BinaryIO, cast

import pyarrow as pa
import pyarrow.compute as pc

from penstock.rdf.compression import damage, is_damage
from penstock.sources.batches import MOST_BYTES, MOST_SECONDS

_PIECE = 1 << 16
"""As many bytes as the line reader's buffer holds: what a damaged file still gives depends on it."""


@dataclass(frozen=True, slots=True)
class Block:
    """Lines as bytes, without their ends; `damage` says why there are no more, if the file is damaged behind them."""

    lines: pa.Array
    damage: str | None = None


def blocks(pieces: Iterable[bytes | None]) -> Iterator[Block]:
    """Blocks from pieces of a text; where a piece is None, what there is goes out, as far as its lines are whole."""
    held: list[bytes] = []
    size = 0
    has_end = False
    try:
        for piece in pieces:
            if piece is not None:
                held.append(piece)
                size += len(piece)
                has_end = has_end or b"\n" in piece
            if has_end and (piece is None or size >= MOST_BYTES):
                whole, _, rest = b"".join(held).rpartition(b"\n")
                yield Block(split_lines(whole))
                held, size, has_end = [rest], len(rest), False
    except Exception as error:
        if not is_damage(error):
            raise
        whole, end, _ = b"".join(held).rpartition(b"\n")
        yield Block(split_lines(whole) if end else split_lines(b"")[:0], damage(error))
        return
    if rest := b"".join(held):
        yield Block(split_lines(rest.removesuffix(b"\n")))


def split_lines(text: bytes) -> pa.Array:
    return pc.split_pattern(pa.array([text], pa.large_binary()), pattern=b"\n").values


def pieces_of_file(open_file: Callable[[], BinaryIO], offset: int = 0) -> Iterator[bytes]:
    """The content of a file from a place on; a compressed one is unpacked up to there."""
    with open_file() as file:
        _skip(file, offset)
        read = _read1(file)
        while piece := read(_PIECE):
            yield piece


def _skip(file: BinaryIO, count: int) -> None:
    if file.seekable():
        file.seek(count)
        return
    while count and (piece := file.read(min(count, _PIECE))):
        count -= len(piece)


def pieces_as_they_come(stream: BinaryIO) -> Iterator[bytes | None]:
    """What a stream gives, and None whenever nothing more is waiting, or some milliseconds have passed."""
    read = _read1(stream)
    since: float | None = None
    while piece := read(_PIECE):
        yield piece
        since = since or time.monotonic()
        if not _is_waiting(stream) or time.monotonic() - since >= MOST_SECONDS:
            yield None
            since = None


def _read1(stream: BinaryIO) -> Callable[[int], bytes]:
    """Reads what there is, at least one byte and at most so many; what has no buffer does so by itself."""
    return cast(Callable[[int], bytes], getattr(stream, "read1", stream.read))


def _is_waiting(stream: BinaryIO) -> bool:
    """Whether there is more to read at once; where the system cannot tell, there is not."""
    try:
        return bool(select.select([stream], [], [], 0)[0])
    except (OSError, ValueError):
        return False


@contextmanager
def unbuffered(stream: BinaryIO) -> Iterator[BinaryIO]:
    """The same stream without a buffer, where it has a file descriptor; it stays open.

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
    """The same stream with a buffer, for what reads line by line."""
    return io.BufferedReader(stream) if isinstance(stream, io.RawIOBase) else stream
