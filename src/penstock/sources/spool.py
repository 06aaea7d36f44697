"""Spools: messages that cannot be received again, in files, until the run that reads them has committed.

A spool is a folder of segments. A segment is a file of blocks, one behind the other; its name is the number of its
first message. A block is a header (its size, a checksum, the numbers of its first message and of its messages) and a
record batch of Arrow. A block is on the disk before its messages are acknowledged. If the process is killed while it
writes, the last block is cut off: it is removed when the spool is opened for writing again, and the server sends
its messages again.

One process writes. Others may read, and remove the segments that nobody needs any more.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from zlib import crc32

import pyarrow as pa

from penstock.rdf.durability import sync_folder
from penstock.rdf.errors import SourceError
from penstock.sources.batches import MOST_BYTES
from penstock.sources.subscriptions import Arrival

SCHEMA_OF_SPOOL = pa.schema(
    [
        ("content", pa.large_binary()),
        ("type", pa.string()),
        ("time", pa.int64()),
        ("place", pa.string()),
        ("mark", pa.string()),
        ("error", pa.string()),
    ]
)
"""The fields of `Arrival`."""

KEPT_MESSAGES = 2048
"""So many of the last messages stay: with their marks a subscription recognises what the server sends again."""

_SEGMENT_BYTES = 32 << 20
_HEADER = struct.Struct("<QIQI")
_ENDING = ".spool"


@dataclass(frozen=True, slots=True)
class _SpoolBlock:
    """Where a block is: the file, the place of its record batch there, and its messages."""

    file: Path
    start: int
    size: int
    checksum: int
    first: int
    count: int

    @property
    def end(self) -> int:
        return self.start + self.size

    @property
    def behind(self) -> int:
        """The number of the message behind its last one."""
        return self.first + self.count


class SpoolReader:
    """The messages of a spool by their numbers, from 0."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._blocks: list[_SpoolBlock] = []

    def end(self) -> int:
        """The number of the message behind the last one that is there."""
        self._look()
        return self._blocks[-1].behind if self._blocks else 0

    def read(self, first: int, end: int | None = None, most_bytes: int = MOST_BYTES) -> pa.Table:
        """Messages from a number on: up to another, or at most about so many bytes; empty if there are none yet.

        Raises SourceError if the first of them is not there any more.
        """
        self._look()
        parts = [SCHEMA_OF_SPOOL.empty_table()]
        size = 0
        expected = first
        for block in self._blocks:
            if block.behind <= first:
                continue
            if size >= most_bytes or (end is not None and block.first >= end):
                break
            if block.first > expected:
                raise SourceError(
                    f"{self._folder}: messages from {expected} on are missing: begin with a new checkpoint"
                )
            table = pa.table(_record_batch(block))
            skipped = max(0, first - block.first)
            parts.append(
                table.slice(skipped, None if end is None else max(0, min(block.behind, end) - block.first - skipped))
            )
            size += block.size
            expected = block.behind
        return pa.concat_tables(parts)

    def count(self, first: int, most_bytes: int) -> int:
        """How many messages from a number on `read` would return."""
        self._look()
        size, end = 0, first
        for block in self._blocks:
            if block.behind > first and size < most_bytes:
                size += block.size
                end = block.behind
        return end - first

    def marks(self) -> list[str]:
        """Those of the last messages."""
        self._look()
        blocks: list[_SpoolBlock] = []
        for block in reversed(self._blocks):
            blocks.append(block)
            if self._blocks[-1].behind - block.first >= KEPT_MESSAGES:
                break
        found = [mark for block in reversed(blocks) for mark in _record_batch(block)["mark"].to_pylist()]
        return [mark for mark in found if mark is not None]

    def forget(self, before: int) -> None:
        """The messages before a number will not be read again."""
        self._blocks = [block for block in self._blocks[:-1] if block.behind > before] + self._blocks[-1:]

    def _look(self) -> None:
        """Find the blocks that were written meanwhile."""
        last = self._blocks[-1] if self._blocks else None
        for number, file in _segments(self._folder):
            if last is None or number >= last.first or file == last.file:
                start = last.end if last is not None and file == last.file else 0
                self._blocks += _blocks(file, start)


class SpoolWriter:
    """Adds messages to a spool."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._folder = folder
        segments = _segments(folder)
        self.next = 0
        """The number of the next message."""
        self._file: int | None = None
        self._size = 0
        if segments:
            self._reopen(*segments[-1])

    def append(self, arrivals: Sequence[Arrival]) -> None:
        """When this returns, the messages are on the disk."""
        content = record_batch(arrivals).serialize()
        if self._file is None or self._size > _SEGMENT_BYTES:
            self._begin()
        assert self._file is not None
        header = _HEADER.pack(content.size, crc32(content), self.next, len(arrivals))
        _write_whole(self._file, header)
        _write_whole(self._file, content)
        os.fsync(self._file)
        self._size += len(header) + content.size
        self.next += len(arrivals)

    def close(self) -> None:
        if self._file is not None:
            os.close(self._file)
            self._file = None

    def _begin(self) -> None:
        self.close()
        self._file = os.open(_named(self._folder, self.next), os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        self._size = 0
        sync_folder(self._folder)

    def _reopen(self, number: int, file: Path) -> None:
        """Go on in the last segment, without a block that is cut off."""
        blocks = list(_blocks(file, 0))
        self.next = blocks[-1].behind if blocks else number
        self._size = blocks[-1].end if blocks else 0
        self._file = os.open(file, os.O_WRONLY)
        os.ftruncate(self._file, self._size)
        os.lseek(self._file, 0, os.SEEK_END)
        os.fsync(self._file)


def record_batch(arrivals: Sequence[Arrival]) -> pa.RecordBatch:
    columns = zip(*arrivals, strict=True)
    arrays = [pa.array(column, field.type) for column, field in zip(columns, SCHEMA_OF_SPOOL, strict=True)]
    return pa.record_batch(arrays, schema=SCHEMA_OF_SPOOL)


def release(folder: Path, before: int) -> None:
    """Remove the segments that have only messages before a number, and not the last ones."""
    segments = _segments(folder)
    if len(segments) < 2:
        return
    bound = min(before, segments[-1][0] - KEPT_MESSAGES)
    for (_, file), (following, _) in pairwise(segments):
        if following <= bound:
            file.unlink(missing_ok=True)


def _named(folder: Path, number: int) -> Path:
    return folder / f"{number:020}{_ENDING}"


def _segments(folder: Path) -> list[tuple[int, Path]]:
    """The segments, in order, with the numbers of their first messages."""
    return sorted((int(file.stem), file) for file in folder.glob(f"*{_ENDING}"))


def _blocks(file: Path, start: int) -> Iterator[_SpoolBlock]:
    """The whole blocks of a segment, from a place on."""
    try:
        opened = file.open("rb")
    except FileNotFoundError:  # it was released meanwhile
        return
    with opened:
        whole = os.fstat(opened.fileno()).st_size
        while start + _HEADER.size <= whole:
            opened.seek(start)
            size, checksum, first, count = _HEADER.unpack(opened.read(_HEADER.size))
            block = _SpoolBlock(file, start + _HEADER.size, size, checksum, first, count)
            if block.end > whole or crc32(opened.read(size)) != checksum:
                return
            yield block
            start = block.end


def _record_batch(block: _SpoolBlock) -> pa.RecordBatch:
    with block.file.open("rb") as opened:
        opened.seek(block.start)
        content = opened.read(block.size)
    return pa.ipc.read_record_batch(pa.py_buffer(content), SCHEMA_OF_SPOOL)


def _write_whole(file: int, content: bytes | pa.Buffer) -> None:
    left = memoryview(content)
    while left:
        left = left[os.write(file, left) :]
