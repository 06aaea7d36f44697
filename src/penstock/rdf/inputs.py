"""The bytes of a source, line by line or as a whole."""

from __future__ import annotations

import difflib
import io
import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import IO, BinaryIO, cast

from penstock.rdf.compression import damage, is_damage, open_bytes
from penstock.rdf.elements import Malformed, OnMalformed
from penstock.rdf.errors import SourceError
from penstock.rdf.limits import LARGEST_DOCUMENT, LONGEST_LINE, shown, too_large, too_long

_PIECE = 1 << 20
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class Input:
    """An input: `name` appears in messages, `base` resolves relative IRIs.

    A live input, such as standard input, can be read only once, and its end is unknown.
    """

    name: str
    open: Callable[[], AbstractContextManager[BinaryIO]]
    base: str
    is_live: bool

    def lines(self, on_malformed: OnMalformed) -> Iterator[tuple[int, bytes]]:
        """The lines with their numbers, as they arrive; if the file is damaged, up to that point.

        Lines that are too long are reported and skipped.
        """
        number = 0
        with self.open() as file:
            try:
                while line := file.readline(LONGEST_LINE + 1):
                    number += 1
                    if len(line) > LONGEST_LINE and not line.endswith(b"\n"):
                        _skip_line(file)
                        on_malformed(Malformed(f"{self.name}:{number}", shown(line), too_long()))
                    else:
                        yield number, line.removeprefix(_BYTE_ORDER_MARK) if number == 1 else line
            except Exception as error:
                if not is_damage(error):
                    raise
                on_malformed(Malformed(f"{self.name}:{number + 1}", "", damage(error)))

    def content(self, on_malformed: OnMalformed) -> bytes | None:
        """The whole content; None, after a report, if it is damaged or too large."""
        with self.open() as file:
            try:
                content = _read_document(file)
            except Exception as error:
                if not is_damage(error):
                    raise
                on_malformed(Malformed(self.name, "", damage(error)))
                return None
        if len(content) > LARGEST_DOCUMENT:
            on_malformed(Malformed(self.name, shown(content), too_large("the document")))
            return None
        return content.removeprefix(_BYTE_ORDER_MARK)


def _skip_line(file: BinaryIO) -> None:
    """Reads to the end of a line and discards it."""
    while (piece := file.readline(_PIECE)) and not piece.endswith(b"\n"):
        pass


def _read_document(file: BinaryIO) -> bytes:
    """The whole content, or slightly more than the limit."""
    pieces: list[bytes] = []
    size = 0
    while size <= LARGEST_DOCUMENT and (piece := file.read(_PIECE)):
        pieces.append(piece)
        size += len(piece)
    return b"".join(pieces)


def check_readable(path: Path) -> None:
    """Raises `SourceError` if the path cannot be read; suggests a similar name."""
    if not path.exists():
        siblings = [sibling.name for sibling in path.parent.iterdir()] if path.parent.is_dir() else []
        near = difflib.get_close_matches(path.name, siblings, n=1)
        proposal = f": did you mean {path.with_name(near[0])}?" if near else ""
        raise SourceError(f"{path}: there is no such file or folder{proposal}")
    if not os.access(path, os.R_OK | (os.X_OK if path.is_dir() else 0)):
        kind = "folder" if path.is_dir() else "file"
        raise SourceError(f"{path}: this {kind} cannot be read (permission denied): change its permissions")


def file_input(path: Path) -> Input:
    """A file; a named pipe is live."""
    return Input(str(path), lambda: open_bytes(path), path.resolve().as_uri(), is_live=not path.is_file())


def stream_input(stream: IO[bytes] | IO[str], name: str) -> Input:
    """An open stream such as `sys.stdin`, which stays open; relative IRIs resolve against the working directory."""
    return Input(name, lambda: nullcontext(bytes_of(stream)), f"{Path.cwd().as_uri()}/", is_live=True)


def bytes_of(stream: IO[bytes] | IO[str]) -> BinaryIO:
    """The bytes of an open binary or text stream."""
    if isinstance(stream, io.StringIO):
        return io.BytesIO(stream.read().encode())
    return cast(BinaryIO, getattr(stream, "buffer", stream))
