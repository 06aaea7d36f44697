"""HTTP requests that end: bounded in the time that they take as a whole, and in the size of the answer.

Only http and https are known, also where a server redirects to, which is followed a few times. A proxy that the
environment names (`http_proxy`) is used.
"""

from __future__ import annotations

import io
import socket
import time
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from http.client import HTTPConnection, HTTPResponse, HTTPSConnection
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
"""The form is sent to the new place, too. Browsers ask there without a form after 301 and 302, and a query would be
lost. 303 says that the answer itself is there."""
_SEE_OTHER = 303
_BLOCK = 1 << 16
_COMPRESSED = frozenset({"gzip", "x-gzip", "deflate"})


class TooLargeError(Exception):
    """An answer that is larger than it may be."""


class RedirectError(Exception):
    """A server that redirects to where nobody follows; the message says where, without users and passwords."""


@dataclass(frozen=True, slots=True)
class Reply:
    """The content, unpacked, and its media type without parameters."""

    content: bytes
    media_type: str


def post(
    address: str,
    form: bytes,
    accept: str,
    authorization: Callable[[str], str | None],
    deadline: float,
    most_bytes: int,
) -> Reply:
    """Send a form, and read the answer until `deadline`, an instant of `time.monotonic`.

    A redirect is followed, `authorization` says what each address is told: the credentials of one are not for others.
    Raises TimeoutError, TooLargeError, RedirectError, `urllib.error.HTTPError` where the status is not 2xx, OSError,
    HTTPException, and ValueError where the address is none.
    """
    data: bytes | None = form
    for _ in range(_MOST_REDIRECTS + 1):
        request = Request(address, data, {"Accept": accept, "Accept-Encoding": "gzip", "User-Agent": "penstock"})
        if request.type not in SCHEMES or not request.host:
            raise ValueError("no address of http or https")
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
    """Where a redirect leads to. What is in there before an `@` is no credential of ours: it is left out."""
    try:
        parts = urlsplit(urljoin(address, location))
        host = parts.netloc.rpartition("@")[2]
        to = urlunsplit((parts.scheme, host, parts.path, parts.query, ""))
    except ValueError:
        to = host = ""
    if not location or not host or parts.scheme not in SCHEMES or not (to.isascii() and to.isprintable()):
        raise RedirectError("redirects, but not to another address of http or https")
    if urlsplit(address).scheme == "https" and parts.scheme == "http":
        raise RedirectError(f"redirects from https to {to}, which anybody could read and change")
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
