"""Lines of a server for Spark's socket source, which reads lines of any length, and would run out of memory with one
that never ends: they come by way of the driver's Python process, where a line has a bound.
"""

from __future__ import annotations

import socket
import threading
from contextlib import suppress
from typing import BinaryIO, cast

from penstock.rdf.errors import SourceError
from penstock.sources.blocks import blocks, pieces_as_they_come
from penstock.sources.spark.lines import LONG_LINE

_SECONDS_TO_CONNECT = 30
_SECONDS_TO_START = 600
"""So long Spark may take until it reads."""


def relayed(host: str, port: int) -> int:
    """The port of this machine where Spark finds the lines of a server, for one who reads them.

    A line that is too long is one that begins with `LONG_LINE` there. Raises SourceError where the server cannot be
    reached.
    """
    server = _connected(host, port)
    try:
        listening = socket.create_server(("127.0.0.1", 0), backlog=1)
    except OSError:
        server.close()
        raise
    threading.Thread(target=_pass_on, args=(server, listening), name=f"tcp://{host}:{port}", daemon=True).start()
    found: int = listening.getsockname()[1]
    return found


def _connected(host: str, port: int) -> socket.socket:
    try:
        server = socket.create_connection((host, port), timeout=_SECONDS_TO_CONNECT)
    except OSError as error:
        reason = error.strerror or str(error) or "no answer"
        raise SourceError(
            f"{reason} by tcp://{host}:{port}: start the server first, and see that host and port are right"
        ) from None
    server.settimeout(None)
    return server


def _pass_on(server: socket.socket, listening: socket.socket) -> None:
    """Until one of both sides ends."""
    with server, suppress(OSError):
        with listening:
            listening.settimeout(_SECONDS_TO_START)
            reader, _ = listening.accept()
        with reader, server.makefile("rb", buffering=0) as stream:
            for block in blocks(pieces_as_they_come(cast(BinaryIO, stream))):
                lines = block.lines.to_pylist()
                if block.long_line is not None:
                    lines.append(LONG_LINE + block.long_line.text.encode())
                reader.sendall(b"".join(line + b"\n" for line in lines))
