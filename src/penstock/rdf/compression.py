"""Opens files, plain or compressed: `.gz`, `.bz2` and `.zst` are decompressed while they are read."""

from __future__ import annotations

import bz2
import gzip
import importlib
import io
import lzma
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO, cast

from penstock.rdf.errors import SourceError


def open_bytes(path: Path) -> BinaryIO:
    """Opens a file and decompresses its content."""
    try:
        opener = _OPENERS.get(path.suffix.lower())
        return path.open("rb") if opener is None else _buffered(opener(path))
    except OSError as error:
        raise SourceError(f"{path}: {_sentence(error)}") from None


def uncompressed_name(path: Path) -> Path:
    """The path without the compression ending: `toll.tnt` for `toll.tnt.gz`."""
    return path.with_suffix("") if path.suffix.lower() in _OPENERS else path


def is_damage(error: Exception) -> bool:
    """Whether an error during reading means that the file is damaged or unreadable."""
    return isinstance(error, OSError | EOFError | zlib.error | lzma.LZMAError) or type(error).__name__ == "ZstdError"


def damage(error: Exception) -> str:
    """Such an error as a sentence."""
    if isinstance(error, EOFError):
        return "the compressed file ends too early: it is incomplete, so copy or compress it again"
    return f"the file cannot be read beyond this point ({error}): if it is compressed, compress it again"


def _sentence(error: OSError) -> str:
    sentences: dict[type[OSError], str] = {
        FileNotFoundError: "there is no such file",
        IsADirectoryError: "this is a directory, but a file was expected: name a file in it",
        PermissionError: "this file cannot be read (permission denied): change its permissions, or copy it",
    }
    return sentences.get(type(error)) or f"this file cannot be read ({error.strerror or error})"


def _buffered(unpacked: io.RawIOBase) -> BinaryIO:
    """Splits lines in C: gzip and bz2 split lines in Python, at a third of the speed."""
    return io.BufferedReader(unpacked, buffer_size=1 << 16)


def _open_gzip(path: Path) -> io.RawIOBase:
    return cast(io.RawIOBase, gzip.open(path, "rb"))


def _open_bzip2(path: Path) -> io.RawIOBase:
    return cast(io.RawIOBase, bz2.open(path, "rb"))


def _open_zstandard(path: Path) -> io.RawIOBase:
    """Uses Python's own module (from 3.14 on) or the package zstandard."""
    try:
        return cast(io.RawIOBase, importlib.import_module("compression.zstd").open(path, "rb"))
    except ImportError:
        pass
    try:
        zstandard = importlib.import_module("zstandard")
    except ImportError:
        raise SourceError(
            f"{path}: to read .zst files, install the package zstandard (pip install zstandard), "
            f"or unpack the file first (zstd -d {path.name})"
        ) from None
    return _Frames(path.open("rb"), zstandard.ZstdDecompressor().decompressobj)


_PIECE = 1 << 10
"""The number of compressed bytes to decompress at a time: four bytes can expand to 128 KiB."""


class _Frames(io.RawIOBase):
    """Decompresses the frames of a file. The reader of the package would accept a truncated file as complete."""

    def __init__(self, file: BinaryIO, new_frame: Callable[[], Any]) -> None:
        self._file = file
        self._new_frame = new_frame
        self._frame: Any = None
        self._packed = memoryview(b"")
        self._unpacked = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self._unpacked:
            self._packed = self._packed or memoryview(self._file.read(1 << 16))
            if not self._packed:
                if self._frame is not None:
                    raise EOFError("the last frame does not end")
                return 0
            self._frame = self._frame or self._new_frame()
            piece, self._packed = self._packed[:_PIECE], self._packed[_PIECE:]
            self._unpacked = memoryview(self._frame.decompress(piece))
            if self._frame.eof:
                rest = self._frame.unused_data
                self._packed, self._frame = memoryview(rest + bytes(self._packed)), None
        count = min(len(buffer), len(self._unpacked))
        buffer[:count] = self._unpacked[:count]
        self._unpacked = self._unpacked[count:]
        return count

    def close(self) -> None:
        self._file.close()
        super().close()


_OPENERS: dict[str, Callable[[Path], io.RawIOBase]] = {
    ".gz": _open_gzip,
    ".bz2": _open_bzip2,
    ".zst": _open_zstandard,
}
