"""WebSocket (RFC 6455): each message of the server is a message of the stream.

The protocol has no acknowledgement, and no position to continue from: what the server sends while there is no
connection is lost.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, suppress
from typing import TYPE_CHECKING

from penstock.rdf.addresses import Address
from penstock.rdf.credentials import ServiceAuth
from penstock.rdf.errors import SourceError
from penstock.rdf.limits import LARGEST_DOCUMENT, too_large
from penstock.sources.subscriptions import Arrival, Listener, OpenConnection, Unavailable, now
from penstock.sources.waiting import Waiting
from penstock.sources.web_access import WebAccess

if TYPE_CHECKING:
    from websockets.sync.client import ClientConnection

_SECONDS_TO_ANSWER = 30.0
_SECONDS_BETWEEN_PINGS = 20.0
_MESSAGES_AHEAD = 16
_TOO_LARGE = 1009
"""The reason for which this side closes a connection after a message that is too large."""


class WebSocket(Listener):
    """The messages of an address."""

    def __init__(self, address: Address, auth: ServiceAuth, waiting: Waiting) -> None:
        self._access = WebAccess(address, auth)
        try:
            import websockets.sync.client  # noqa: F401
        except ImportError:
            raise SourceError(f"{address.name}: WebSocket needs a package: pip install penstock[websocket]") from None
        super().__init__(waiting)

    def connected(self) -> OpenConnection | None:
        from websockets.exceptions import InvalidHandshake, InvalidStatus, InvalidURI, SecurityError
        from websockets.sync.client import connect

        access, stack = self._access, ExitStack()
        authorization = access.authorization(access.url)
        try:
            connecting = connect(
                access.url,
                additional_headers=None if authorization is None else {"Authorization": authorization},
                user_agent_header="penstock",
                open_timeout=_SECONDS_TO_ANSWER,
                ping_interval=_SECONDS_BETWEEN_PINGS,
                ping_timeout=_SECONDS_BETWEEN_PINGS,
                max_size=LARGEST_DOCUMENT,
                max_queue=_MESSAGES_AHEAD,
            )
            connection = stack.enter_context(connecting)
        except InvalidStatus as error:
            raise access.refusal(error.response.status_code) from None
        except InvalidURI:
            raise SourceError(f"{access.name} is no address of a web server") from None
        except SecurityError as error:
            raise SourceError(f"{access.name}: {error}") from None
        except InvalidHandshake as error:
            raise Unavailable(str(error)) from None
        except (OSError, EOFError) as error:
            raise access.failure(error if isinstance(error, OSError) else ConnectionResetError()) from None
        return _Messages(access.name, connection, stack)


class _Messages(OpenConnection):
    """The messages of one connection."""

    def __init__(self, name: str, connection: ClientConnection, stack: ExitStack) -> None:
        self._name = name
        self._connection = connection
        self._stack = stack

    def arrivals(self) -> Iterator[Arrival]:
        from websockets.exceptions import ConnectionClosed

        try:
            while True:
                content = self._connection.recv(decode=False)
                yield Arrival(bytes(content), None, now(), self._name)
        except ConnectionClosed as closed:
            if closed.sent is not None and closed.sent.code == _TOO_LARGE and not closed.rcvd_then_sent:
                yield Arrival.unreadable(b"", self._name, None, too_large("the message"))
            raise Unavailable(_reason(closed.rcvd)) from None

    def close(self) -> None:
        with suppress(OSError):
            self._stack.close()


def _reason(frame: object) -> str:
    """Why the server has closed the connection, if it says so."""
    said = getattr(frame, "reason", "")
    return f"the connection was closed: {said}" if said else "the connection was closed"
