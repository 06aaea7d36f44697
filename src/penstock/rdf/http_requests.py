"""HTTP requests with limits: a deadline for the whole request, and a maximum size of the response.

Only http and https are supported, also for redirects, which are followed a few times. A proxy from the environment
(`http_proxy`) is used.
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
from types import MappingProxyType
from typing import Any
from urllib.error import HTTPError
from urllib.parse import urljoin, urlsplit, urlunsplit
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

_MOST_REDIRECTS = 5
_SEND_AGAIN = frozenset({301, 302, 307, 308})
"""The form is sent to the new address as well. After 301 and 302 browsers drop the form, which would lose the query.
After 303 the new address has the answer."""
_SEE_OTHER = 303
_BLOCK = 1 << 16
_COMPRESSED = frozenset({"gzip", "x-gzip", "deflate"})


class TooLargeError(Exception):
    """The response is larger than the limit."""


class RedirectError(Exception):
    """A redirect that is not followed; the message names the target without user and password."""


@dataclass(frozen=True, slots=True)
class Reply:
    """The decompressed content, and its media type without parameters."""

    content: bytes
    media_type: str


def post(
    address: str,
    form: bytes,
    accept: str,
    authorization: Callable[[str], str | None],
    deadline: float,
    most_bytes: int,
    headers: Mapping[str, str] = MappingProxyType({}),
) -> Reply:
    """Sends a form and reads the response until `deadline`, an instant of `time.monotonic`.

    `headers` are sent, too; with a `Content-Type` in them, `form` may be any content. Follows redirects;
    `authorization` returns the credentials for each address, which are not valid for others.
    Raises TimeoutError, TooLargeError, RedirectError, `urllib.error.HTTPError` if the status is not 2xx, OSError,
    HTTPException, and ValueError if the address is invalid.
    """
    data: bytes | None = form
    for _ in range(_MOST_REDIRECTS + 1):
        known = {"Accept": accept, "Accept-Encoding": "gzip", "User-Agent": "penstock"}
        request = Request(address, data, {**known, **headers})
        if request.type not in SCHEMES or not request.host:
            raise ValueError("not an http or https address")
        credentials = authorization(address)
        if credentials is not None:
            request.add_unredirected_header("Authorization", credentials)
        try:
            with _opener(deadline).open(request, timeout=_left(deadline)) as response:
                return Reply(_content(response, most_bytes), response.headers.get_content_type())
        except HTTPError as error:
            if error.code not in _SEND_AGAIN and error.code != _SEE_OTHER:
                raise
            with error:
                address = moved(address, error.headers.get("Location", ""))
            data = form if error.code in _SEND_AGAIN else None
    raise RedirectError(f"redirects more than {_MOST_REDIRECTS} times")


def moved(address: str, location: str) -> str:
    """The target of a redirect. A user and password in it are not the user's own: they are removed."""
    try:
        parts = urlsplit(urljoin(address, location))
        host = parts.netloc.rpartition("@")[2]
        to = urlunsplit((parts.scheme, host, parts.path, parts.query, ""))
    except ValueError:
        to = host = ""
    if not location or not host or parts.scheme not in SCHEMES or not (to.isascii() and to.isprintable()):
        raise RedirectError("redirects to an address that is not http or https")
    if urlsplit(address).scheme == "https" and parts.scheme == "http":
        raise RedirectError(f"redirects from https to {to}, which is not encrypted")
    return to


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
    """Reads the content; the limit applies to the decompressed size."""
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
    """Reads from a socket until a deadline, even if the data arrives in small pieces."""

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
    """A response whose headers are subject to the deadline, too."""

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
    """A connection for `do_open` whose responses are all subject to the deadline, including those of a proxy."""

    def connection(*arguments: Any, **others: Any) -> HTTPConnection:
        made = kind(*arguments, **others)
        made.response_class = partial(_Response, deadline=deadline)  # type: ignore[assignment]
        made._create_connection = partial(_connected, deadline)  # type: ignore[attr-defined]
        return made

    return connection


def _connected(deadline: float, address: tuple[str, int], timeout: object, source: Any = None) -> socket.socket:
    """Tries all addresses of a host; the deadline applies to all of them together."""
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
