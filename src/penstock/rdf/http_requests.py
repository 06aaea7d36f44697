"""HTTP requests with limits: a deadline for the whole request, and a maximum size of the response.

Only http and https are supported, also for redirects, which are followed a few times. A proxy from the environment
(`http_proxy`) is used. A response that never ends has a deadline for its headers only (`Deadline.lift`).
"""

from __future__ import annotations

import io
import socket
import time
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from http.client import HTTPConnection, HTTPMessage, HTTPResponse, HTTPSConnection
from types import MappingProxyType
from typing import Any, NamedTuple
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
_SECONDS_OF_SILENCE = 60
"""After these the system asks whether a server is still there."""
_COMPRESSED = frozenset({"gzip", "x-gzip", "deflate"})


class TooLargeError(Exception):
    """The response is larger than the limit."""


class RedirectError(Exception):
    """A redirect that is not followed; the message names the target without user and password."""


@dataclass(frozen=True, slots=True)
class Reply:
    """The decompressed content, its media type without parameters, the headers, and the address after redirects."""

    content: bytes
    media_type: str
    headers: HTTPMessage
    address: str


@dataclass(slots=True)
class Deadline:
    """Until when a request may take, an instant of `time.monotonic`; None is without limit."""

    at: float | None
    _reading: socket.socket | None = field(default=None, init=False)

    @classmethod
    def after(cls, seconds: float) -> Deadline:
        return cls(time.monotonic() + seconds)

    def left(self) -> float | None:
        """Raises TimeoutError if it is over."""
        if self.at is None:
            return None
        left = self.at - time.monotonic()
        if left <= 0:
            raise TimeoutError
        return left

    def lift(self) -> None:
        """The rest of the response may take as long as it takes; the system notices if the server is gone."""
        self.at = None
        if self._reading is not None:
            with suppress(OSError):
                self._reading.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
                if hasattr(socket, "TCP_KEEPIDLE"):
                    self._reading.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE, _SECONDS_OF_SILENCE)

    def attach(self, reading: socket.socket) -> None:
        self._reading = reading

    def interrupt(self) -> None:
        """End the response; any thread may call this."""
        if self._reading is not None:
            with suppress(OSError):
                self._reading.shutdown(socket.SHUT_RDWR)


Authorization = Callable[[str], "str | None"]
"""The credentials for an address, which are not valid for others."""


class Opened(NamedTuple):
    """A response that has begun, and its address after redirects."""

    response: HTTPResponse
    address: str


def post(
    address: str,
    form: bytes,
    accept: str,
    authorization: Authorization,
    deadline: float,
    most_bytes: int,
    headers: Mapping[str, str] = MappingProxyType({}),
) -> Reply:
    """Sends a form and reads the response until `deadline`, an instant of `time.monotonic`.

    `headers` are sent, too; with a `Content-Type` in them, `form` may be any content. Follows redirects.
    Raises TimeoutError, TooLargeError, RedirectError, `urllib.error.HTTPError` if the status is not 2xx, OSError,
    HTTPException, and ValueError if the address is invalid.
    """
    known = {"Accept": accept, "Accept-Encoding": "gzip", **headers}
    return _reply(address, form, known, authorization, deadline, most_bytes)


def get(
    address: str, headers: Mapping[str, str], authorization: Authorization, deadline: float, most_bytes: int
) -> Reply:
    """Fetches a document, with the limits and errors of `post`."""
    return _reply(address, None, {"Accept-Encoding": "gzip", **headers}, authorization, deadline, most_bytes)


def _reply(
    address: str,
    form: bytes | None,
    headers: Mapping[str, str],
    authorization: Authorization,
    deadline: float,
    most_bytes: int,
) -> Reply:
    with opened(address, headers, authorization, Deadline(deadline), form) as (response, at):
        return Reply(_content(response, most_bytes), response.headers.get_content_type(), response.headers, at)


@contextmanager
def opened(
    address: str,
    headers: Mapping[str, str],
    authorization: Authorization,
    deadline: Deadline,
    form: bytes | None = None,
) -> Iterator[Opened]:
    """A response that has begun, after redirects; raises what `post` raises. With `form` it is a POST request."""
    data = form
    for _ in range(_MOST_REDIRECTS + 1):
        request = Request(address, data, {"User-Agent": "penstock", **headers})
        if request.type not in SCHEMES or not request.host:
            raise ValueError("not an http or https address")
        credentials = authorization(address)
        if credentials is not None:
            request.add_unredirected_header("Authorization", credentials)
        try:
            response = _opener(deadline).open(request, timeout=deadline.left())
        except HTTPError as error:
            if error.code not in _SEND_AGAIN and error.code != _SEE_OTHER:
                raise
            with error:
                address = moved(address, error.headers.get("Location", ""))
            data = form if error.code in _SEND_AGAIN else None
        else:
            with response:
                yield Opened(response, address)
            return
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


def _opener(deadline: Deadline) -> OpenerDirector:
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


class _Timed(io.RawIOBase):
    """Reads from a socket until a deadline, even if the data arrives in small pieces."""

    def __init__(self, connected: socket.socket, deadline: Deadline) -> None:
        self._socket, self._deadline = connected, deadline
        deadline.attach(connected)
        self._raw = connected.makefile("rb", buffering=0)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int | None:
        self._socket.settimeout(self._deadline.left())
        return self._raw.readinto(buffer)

    def close(self) -> None:
        self._raw.close()
        super().close()


class _Response(HTTPResponse):
    """A response whose headers are subject to the deadline, too."""

    def __init__(self, sock: socket.socket, *arguments: Any, deadline: Deadline, **others: Any) -> None:
        super().__init__(sock, *arguments, **others)
        self.fp.close()
        self.fp = io.BufferedReader(_Timed(sock, deadline), _BLOCK)


class _Http(HTTPHandler):
    def __init__(self, deadline: Deadline) -> None:
        super().__init__()
        self._deadline = deadline

    def http_open(self, req: Request) -> HTTPResponse:
        return self.do_open(_connecting(HTTPConnection, self._deadline), req)


class _Https(HTTPSHandler):
    def __init__(self, deadline: Deadline) -> None:
        super().__init__()
        self._deadline = deadline

    def https_open(self, req: Request) -> HTTPResponse:
        return self.do_open(_connecting(HTTPSConnection, self._deadline), req)


def _connecting(kind: Callable[..., HTTPConnection], deadline: Deadline) -> Any:
    """A connection for `do_open` whose responses are all subject to the deadline, including those of a proxy."""

    def connection(*arguments: Any, **others: Any) -> HTTPConnection:
        made = kind(*arguments, **others)
        made.response_class = partial(_Response, deadline=deadline)  # type: ignore[assignment]
        made._create_connection = partial(_connected, deadline)  # type: ignore[attr-defined]
        return made

    return connection


def _connected(deadline: Deadline, address: tuple[str, int], timeout: object, source: Any = None) -> socket.socket:
    """Tries all addresses of a host; the deadline applies to all of them together."""
    failure: OSError = ConnectionRefusedError()
    for family, kind, protocol, _, place in socket.getaddrinfo(*address, 0, socket.SOCK_STREAM):
        connected = socket.socket(family, kind, protocol)
        try:
            connected.settimeout(deadline.left())
            connected.connect(place)
        except OSError as error:
            connected.close()
            failure = error
        else:
            return connected
    raise failure
