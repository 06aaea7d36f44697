"""Where the bytes of results are written: standard output, or a file that a restarted run continues."""

from __future__ import annotations

import contextlib
import io
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, Protocol, TypeAlias

import pyarrow as pa

from penstock.sinks.errors import ReaderGoneError, SinkError, told

STANDARD_OUTPUT = "-"

Bytes: TypeAlias = bytes | pa.Buffer


class Target(Protocol):
    @property
    def is_terminal(self) -> bool: ...
    @property
    def is_empty(self) -> bool:
        """Whether nothing was written yet, also not by an earlier run."""

    def write(self, data: Bytes) -> None: ...
    def flush(self) -> None: ...
    def position(self) -> int | None: ...
    def close(self) -> None: ...


def open_target(name: str | Path, position: int | None = None) -> Target:
    """The target that a name stands for, `-` being standard output.

    With a position, the file is truncated there, and writing continues.

    Raises `SinkError`.
    """
    if str(name) == STANDARD_OUTPUT:
        return StandardOutput()
    return File(Path(name), position)


class StandardOutput:
    """Results for the reader of standard output; written bytes cannot be removed."""

    name = "<stdout>"

    def __init__(self) -> None:
        if sys.stdout is None:
            raise SinkError("standard output is closed: name a file")
        self.is_empty = True
        self._stream = sys.stdout

    @property
    def is_terminal(self) -> bool:
        return self._stream.isatty()

    def write(self, data: Bytes) -> None:
        self.is_empty = False
        with self._told():
            buffer = getattr(self._stream, "buffer", None)
            if buffer is None:
                self._stream.write(bytes(data).decode())
            else:
                buffer.write(data)

    def flush(self) -> None:
        with self._told():
            self._stream.flush()

    def position(self) -> int | None:
        return None

    def close(self) -> None:
        self.flush()

    @contextlib.contextmanager
    def _told(self) -> Iterator[None]:
        try:
            with told(self.name):
                yield
        except ReaderGoneError:
            self._drop_the_rest()
            raise

    def _drop_the_rest(self) -> None:
        """Discard Python's buffer: otherwise its last flush would report an error when Python exits."""
        with contextlib.suppress(OSError, ValueError):
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, self._stream.fileno())
            os.close(nowhere)


class File:
    """A file; `position` is how many bytes of it are sure to be there after a crash."""

    def __init__(self, path: Path, position: int | None = None) -> None:
        self.is_terminal = False
        self.is_empty = not position
        self._name = str(path)
        with told(self._name):
            self._file = path.open("wb") if position is None else _cut_off(path, position)
            self._is_seekable = self._file.seekable() and path.is_file()

    def write(self, data: Bytes) -> None:
        self.is_empty = False
        with told(self._name):
            self._file.write(data)

    def flush(self) -> None:
        with told(self._name):
            self._file.flush()

    def position(self) -> int | None:
        if not self._is_seekable:
            return None
        with told(self._name):
            self._file.flush()
            os.fsync(self._file.fileno())
            return self._file.tell()

    def close(self) -> None:
        with told(self._name):
            self._file.close()


def _cut_off(path: Path, position: int) -> BinaryIO:
    """The file up to a position, to be written on."""
    size = path.stat().st_size if path.exists() else 0
    if size < position:
        raise SinkError(
            f"{path}: {position} bytes of results were written here before, and now there are {size}: put the file "
            "back as it was, or begin anew with another file and another checkpoint"
        )
    file = path.open("r+b" if path.exists() else "wb")
    file.truncate(position)
    file.seek(0, io.SEEK_END)
    return file
