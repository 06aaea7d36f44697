"""Server-Sent Events (WHATWG HTML §9.2): a response that never ends, with an event after each empty line.

The data of an event is a message. If the connection breaks, the next one asks for what follows the last event that had
an `id`; a server that knows these numbers sends what was missed.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import ExitStack
from http.client import HTTPException, HTTPResponse
from urllib.error import HTTPError

from penstock.rdf.addresses import Address
from penstock.rdf.credentials import ServiceAuth
from penstock.rdf.errors import SourceError
from penstock.rdf.http_requests import Deadline, RedirectError, opened
from penstock.rdf.limits import LARGEST_DOCUMENT, too_large
from penstock.sources.subscriptions import Arrival, Listener, OpenConnection, Unavailable, now
from penstock.sources.waiting import Waiting
from penstock.sources.web_access import WebAccess

_MEDIA_TYPE = "text/event-stream"
_SECONDS_TO_ANSWER = 30.0
_BLOCK = 1 << 16
_LONGEST_WAIT = 3600.0


class EventSource(Listener):
    """The events of an address."""

    def __init__(self, address: Address, auth: ServiceAuth, waiting: Waiting, mark: str | None = None) -> None:
        self._access = WebAccess(address, auth)
        self._pause = 0.0
        super().__init__(waiting, mark)

    @property
    def least_pause(self) -> float:
        return self._pause

    def note_pause(self, seconds: float) -> None:
        """The server has said how long to wait."""
        self._pause = min(seconds, _LONGEST_WAIT)

    def connected(self) -> OpenConnection | None:
        headers = {"Accept": _MEDIA_TYPE, "Cache-Control": "no-store"}
        if self.mark:
            headers["Last-Event-ID"] = self.mark.encode().decode("latin-1")
        deadline = Deadline(time.monotonic() + _SECONDS_TO_ANSWER)
        access, stack = self._access, ExitStack()
        try:
            response, _ = stack.enter_context(opened(access.url, headers, access.authorization, deadline))
        except (HTTPError, OSError, HTTPException, RedirectError, ValueError) as error:
            raise access.failure(error) from None
        if response.status == 204:  # the server wants no more connections
            stack.close()
            return None
        if (found := response.headers.get_content_type()) != _MEDIA_TYPE:
            stack.close()
            raise SourceError(f"{access.name} sends {found}, and not Server-Sent Events ({_MEDIA_TYPE})")
        deadline.lift()
        return _EventStream(self, access.name, response, deadline, stack)


class _EventStream(OpenConnection):
    """The events of one response."""

    def __init__(
        self, source: EventSource, name: str, response: HTTPResponse, deadline: Deadline, stack: ExitStack
    ) -> None:
        self._source = source
        self._name = name
        self._response = response
        self._deadline = deadline
        self._stack = stack
        self._mark = source.mark
        """The last `id`, which counts for the events after it, too."""

    def arrivals(self) -> Iterator[Arrival]:
        lines = EventLines()
        try:
            while block := self._response.read1(_BLOCK):
                for line in lines.feed(block):
                    yield from self._read(line)
        except (OSError, HTTPException, ValueError) as error:
            raise Unavailable(getattr(error, "strerror", None) or "the connection was closed") from None

    def close(self) -> None:
        self._deadline.interrupt()
        self._stack.close()

    _data: bytearray | None = None
    _is_too_large = False

    def _read(self, line: bytes) -> Iterator[Arrival]:
        if not line:
            yield from self._dispatched()
            return
        name, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if name == b"data":
            self._hold(value)
        elif name == b"id" and b"\0" not in value:
            self._mark = value.decode(errors="replace")
        elif name == b"retry" and value.isdigit():
            self._source.note_pause(int(value[:9]) / 1000)

    def _hold(self, value: bytes) -> None:
        if self._data is None:
            self._data = bytearray()
        if len(self._data) + len(value) > LARGEST_DOCUMENT:
            self._is_too_large = True
        else:
            self._data += value + b"\n"

    def _dispatched(self) -> Iterator[Arrival]:
        data, is_too_large = self._data, self._is_too_large
        self._data, self._is_too_large = None, False
        if data is None:
            return
        if is_too_large:
            yield Arrival.unreadable(bytes(data), self._place, self._mark, too_large("the message"))
        else:
            yield Arrival(bytes(data[:-1]), None, now(), self._place, self._mark)

    @property
    def _place(self) -> str:
        return f"{self._name}, event {self._mark}" if self._mark else self._name


class EventLines:
    """Cuts bytes into lines that end with CR, LF, or both. A byte order mark at the beginning is ignored."""

    def __init__(self) -> None:
        self._held: list[bytes] = []
        self._size = 0
        self._is_after_return = False
        self._is_first = True

    def feed(self, block: bytes) -> Iterator[bytes]:
        """The lines that end in this block, without their ends."""
        if self._is_after_return and block.startswith(b"\n"):
            block = block[1:]
        if not block:
            return
        self._is_after_return = block.endswith(b"\r")
        *ended, rest = block.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")
        for line in ended:
            yield self._whole(line)
        if rest and self._size <= LARGEST_DOCUMENT + _BLOCK:  # a longer line is too large in any case
            self._held.append(rest)
            self._size += len(rest)

    def _whole(self, line: bytes) -> bytes:
        found = b"".join([*self._held, line])
        self._held.clear()
        self._size = 0
        if self._is_first:
            self._is_first = False
            found = found.removeprefix(b"\xef\xbb\xbf")
        return found
