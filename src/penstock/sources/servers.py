"""Servers that send lines, `tcp://HOST:PORT`."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO, cast

from penstock.rdf.errors import SourceError

_SECONDS_TO_CONNECT = 30


def connected(host: str, port: int) -> socket.socket:
    """Raises SourceError where the server cannot be reached."""
    try:
        server = socket.create_connection((host, port), timeout=_SECONDS_TO_CONNECT)
    except OSError as error:
        reason = error.strerror or str(error) or "no answer"
        raise SourceError(f"{reason} by tcp://{host}:{port}: start the server first, and check host and port") from None
    server.settimeout(None)
    return server


@contextmanager
def stream_of_server(host: str, port: int) -> Iterator[BinaryIO]:
    """The bytes that a server sends, unbuffered. Raises SourceError."""
    with connected(host, port) as server, server.makefile("rb", buffering=0) as stream:
        yield cast(BinaryIO, stream)
