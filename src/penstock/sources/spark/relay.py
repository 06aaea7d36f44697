"""Lines of a server for Spark's socket source. This source reads lines of any length, and would run out of memory for
an endless line, so the driver's Python process, which limits lines, passes them on.
"""

from __future__ import annotations

import socket
import threading
from contextlib import suppress
from typing import BinaryIO, cast

import pyarrow as pa
import pyarrow.compute as pc

from penstock.rdf.elements import Malformed, OnMalformed
from penstock.rdf.errors import ReadingError
from penstock.rdf.formats.tnt import decode_line
from penstock.rdf.limits import shown, too_long
from penstock.sources.blocks import blocks, pieces_as_they_come
from penstock.sources.lines import Lines
from penstock.sources.servers import connected
from penstock.sources.tnt import decode_tnt

_MALFORMED = "\0malformed\0"
"""The prefix of a line that Spark cannot carry; the reason, a zero byte and the text follow."""

_SECONDS_TO_START = 600
"""The time limit for Spark to connect."""


def relayed(host: str, port: int) -> int:
    """The port of this machine where one reader, Spark, finds the lines of a server.

    A line that is too long or not UTF-8 begins with `_MALFORMED` there. Raises SourceError where the server cannot be
    reached.
    """
    server = connected(host, port)
    try:
        listening = socket.create_server(("127.0.0.1", 0), backlog=1)
    except OSError:
        server.close()
        raise
    threading.Thread(target=_pass_on, args=(server, listening), name=f"tcp://{host}:{port}", daemon=True).start()
    found: int = listening.getsockname()[1]
    return found


def read_relayed(lines: pa.ChunkedArray, name: str, scope: str, report: OnMalformed) -> pa.Table:
    """The elements of lines that Spark has read there, in the order of their timestamps."""
    is_malformed = pc.starts_with(lines, _MALFORMED)
    for line in lines.filter(is_malformed).to_pylist():
        reason, _, text = line.removeprefix(_MALFORMED).partition("\0")
        report(Malformed(name, text, reason))
    texts = Lines("".join(f"{line}\n" for line in lines.filter(pc.invert(is_malformed)).to_pylist()).encode())

    def report_line(malformed: Malformed) -> None:
        report(malformed._replace(place=name))

    rows = decode_tnt(texts, name=name, first_line=2, scope=scope, on_malformed=report_line).sort_by("ts")
    return rows.set_column(4, "element", pa.arange(0, rows.num_rows))


def _pass_on(server: socket.socket, listening: socket.socket) -> None:
    """Runs until one of both sides ends."""
    with server, suppress(OSError):
        with listening:
            listening.settimeout(_SECONDS_TO_START)
            reader, _ = listening.accept()
        with reader, server.makefile("rb", buffering=0) as stream:
            for block in blocks(pieces_as_they_come(cast(BinaryIO, stream))):
                lines = [*map(_checked, block.lines)]
                if block.long_line is not None:
                    lines.append(_marked(block.long_line.text, too_long()))
                reader.sendall(b"".join(line + b"\n" for line in lines))


def _checked(line: bytes) -> bytes:
    """The line, marked if it is not UTF-8: Spark would replace such bytes silently."""
    try:
        decode_line(line)
    except ReadingError as error:
        return _marked(shown(line), error.reason)
    return line


def _marked(text: str, reason: str) -> bytes:
    """One line for Spark, for which a carriage return is a line end, too."""
    return f"{_MALFORMED}{reason}\0{text}".replace("\r", " ").encode()
