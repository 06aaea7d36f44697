"""HTTP requests that end: bounded in the time that they take as a whole, and in the size of the answer.

Only http and https are known, and no redirect is followed. A proxy that the environment names (`http_proxy`) is used.
"""

from __future__ import annotations

import io
import socket
import time
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from http.client import HTTPConnection, HTTPResponse, HTTPSConnection
from typing import Any
from urllib.request import (
    HTTPDefaultErrorHandler,
    HTTPErrorProcessor,
    HTTPHandler,
    HTTPSHandler,
    OpenerDirector,
    ProxyHandler,
    Request,
)

SCHEMES = ("http", "https")
_BLOCK = 1 << 16
_COMPRESSED = frozenset({"gzip", "x-gzip", "deflate"})


class TooLargeError(Exception):
    """An answer that is larger than it may be."""


@dataclass(frozen=True, slots=True)
class Reply:
    """The content, unpacked, and its media type without parameters."""

    content: bytes
    media_type: str


def post(address: str, form: bytes, headers: Mapping[str, str], deadline: float, most_bytes: int) -> Reply:
    """Send a form, and read the answer until `deadline`, an instant of `time.monotonic`.

    Raises TimeoutError, TooLargeError, `urllib.error.HTTPError` where the status is not 2xx, OSError, HTTPException,
    and ValueError where the address is none.
    """
    request = Request(address, form, {**headers, "Accept-Encoding": "gzip", "User-Agent": "penstock"})
    if request.type not in SCHEMES or not request.host:
        raise ValueError("no address of http or https")
    with _opener(deadline).open(request, timeout=_left(deadline)) as response:
        return Reply(_content(response, most_bytes), response.headers.get_content_type())


def _opener(deadline: float) -> OpenerDirector:
    opener = OpenerDirector()
    for handler in (
        ProxyHandler(),
        _Http(deadline),
        _Https(deadline),
        HTTPErrorProcessor(),
        HTTPDefaultErrorHandler(),
    ):
        opener.add_handler(handler)
    return opener


def _content(response: HTTPResponse, most_bytes: int) -> bytes:
    """What is compressed counts unpacked; a little of it may be much."""
    encoding = response.headers.get("Content-Encoding", "").strip().lower()
    unpacker = zlib.decompressobj(wbits=zlib.MAX_WBITS | 32) if encoding in _COMPRESSED else None
    blocks: list[bytes] = []
    size = 0
    while block := response.read1(_BLOCK):
        pending = block
        while pending:
            found = pending if unpacker is None else unpacker.decompress(pending, _BLOCK)
            pending = b"" if unpacker is None else unpacker.unconsumed_tail
            blocks.append(found)
            size += len(found)
            if size > most_bytes:
                raise TooLargeError
    if unpacker is not None and not unpacker.eof:
        raise ConnectionResetError
    return b"".join(blocks)


def _left(deadline: float) -> float:
    left = deadline - time.monotonic()
    if left <= 0:
        raise TimeoutError
    return left


class _Timed(io.RawIOBase):
    """Reads from a socket until an instant, however little comes at a time."""

    def __init__(self, connected: socket.socket, deadline: float) -> None:
        self._socket, self._deadline = connected, deadline
        self._raw = connected.makefile("rb", buffering=0)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int | None:
        self._socket.settimeout(_left(self._deadline))
        return self._raw.readinto(buffer)

    def close(self) -> None:
        self._raw.close()
        super().close()


class _Response(HTTPResponse):
    """Headers count, too."""

    def __init__(self, sock: socket.socket, *arguments: Any, deadline: float, **others: Any) -> None:
        super().__init__(sock, *arguments, **others)
        self.fp.close()
        self.fp = io.BufferedReader(_Timed(sock, deadline), _BLOCK)


class _Http(HTTPHandler):
    def __init__(self, deadline: float) -> None:
        super().__init__()
        self._deadline = deadline

    def http_open(self, req: Request) -> HTTPResponse:
        return self.do_open(_connecting(HTTPConnection, self._deadline), req)


class _Https(HTTPSHandler):
    def __init__(self, deadline: float) -> None:
        super().__init__()
        self._deadline = deadline

    def https_open(self, req: Request) -> HTTPResponse:
        return self.do_open(_connecting(HTTPSConnection, self._deadline), req)


def _connecting(kind: Callable[..., HTTPConnection], deadline: float) -> Any:
    """A connection as `do_open` makes it, of which all answers are timed, those of a proxy as well."""

    def connection(*arguments: Any, **others: Any) -> HTTPConnection:
        made = kind(*arguments, **others)
        made.response_class = partial(_Response, deadline=deadline)  # type: ignore[assignment]
        made._create_connection = partial(_connected, deadline)  # type: ignore[attr-defined]
        return made

    return connection


def _connected(deadline: float, address: tuple[str, int], timeout: object, source: Any = None) -> socket.socket:
    """A host may have many addresses: all of them together have until the deadline."""
    failure: OSError = ConnectionRefusedError()
    for family, kind, protocol, _, place in socket.getaddrinfo(*address, 0, socket.SOCK_STREAM):
        connected = socket.socket(family, kind, protocol)
        try:
            connected.settimeout(_left(deadline))
            connected.connect(place)
        except OSError as error:
            connected.close()
            failure = error
        else:
            return connected
    raise failure
