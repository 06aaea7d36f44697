"""Subscriptions: servers that send messages by themselves, over a connection that may break.

A subscription receives in a thread of its own, a bounded number of bytes ahead of whoever takes the messages. A
message is acknowledged when it is safe: when the run has read it, or when it is in the spool.
"""

from __future__ import annotations

import threading
import time
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple, Protocol

from penstock.rdf.limits import shown
from penstock.sources.batches import MOST_BYTES
from penstock.sources.waiting import Waiting

_MOST_AHEAD = 32 << 20
"""About how many bytes are received ahead."""
_TICK = 0.1
_SECONDS_TO_PROVE = 1.0
"""A connection that lasts longer counts as an answer, even if no message comes."""


class Arrival(NamedTuple):
    """A message that has arrived.

    `time` is that of the broker, or of its arrival, in milliseconds. `place` says where it is from. `mark` is what the
    server must know to continue behind the message. `error` is the reason why it cannot be read, if there is one; its
    content is then for the dead letter.
    """

    content: bytes
    content_type: str | None
    time: int
    place: str
    mark: str | None = None
    error: str | None = None

    @classmethod
    def unreadable(cls, content: bytes, place: str, mark: str | None, error: str) -> Arrival:
        return cls(shown(content).encode(), None, now(), place, mark, error)


class Subscription(Protocol):
    """Messages of a server, from `close` on no more."""

    def take(self) -> list[Arrival]:
        """The messages that have arrived; waits a little for the first. Raises SourceError if the server refuses, or
        stays away.
        """

    def acknowledge(self, arrivals: Sequence[Arrival]) -> None:
        """The server need not keep these any more."""

    @property
    def has_ended(self) -> bool:
        """Whether no more messages will come."""

    def close(self) -> None: ...


def now() -> int:
    return time.time_ns() // 1_000_000


class ArrivalQueue:
    """Messages between the thread that receives and the one that takes them, bounded by their size."""

    def __init__(self, stopped: threading.Event) -> None:
        self._stopped = stopped
        self._changed = threading.Condition()
        self._held: deque[Arrival] = deque()
        self._size = 0
        self._is_closed = False

    def put(self, arrival: Arrival) -> bool:
        """Waits until there is room; False if nobody takes it any more."""
        with self._changed:
            while self._held and self._size > _MOST_AHEAD and not (self._is_closed or self._stopped.is_set()):
                self._changed.wait(_TICK)
            if self._is_closed or self._stopped.is_set():
                return False
            self._held.append(arrival)
            self._size += len(arrival.content)
            self._changed.notify_all()
            return True

    def take(self) -> list[Arrival]:
        """Those of one batch; waits a little for the first."""
        with self._changed:
            if not self._held:
                self._changed.wait(_TICK)
            found: list[Arrival] = []
            size = 0
            while self._held and size < MOST_BYTES:
                found.append(self._held.popleft())
                size += len(found[-1].content)
            self._size -= size
            self._changed.notify_all()
            return found

    def close(self) -> None:
        with self._changed:
            self._is_closed = True
            self._changed.notify_all()


class Unavailable(Exception):  # noqa: N818
    """A server that does not answer now; the message is the reason, for a person."""


class OpenConnection(ABC):
    """An open connection. Both methods may be called by different threads."""

    @abstractmethod
    def arrivals(self) -> Iterable[Arrival]:
        """Messages, until the connection ends. Raises Unavailable where it breaks."""

    @abstractmethod
    def close(self) -> None: ...


class Listener(ABC):
    """A subscription over a connection that is opened again whenever it breaks, by a thread of this object.

    `mark` is that of the last message of an earlier run.
    """

    def __init__(self, waiting: Waiting, mark: str | None = None) -> None:
        self.mark = mark
        self.has_ended = False
        self._waiting = waiting
        self._arrivals = ArrivalQueue(waiting.stopped)
        self._connection: OpenConnection | None = None
        self._failure: BaseException | None = None
        self._is_closed = False
        self._has_listened = False
        thread = threading.Thread(target=self._listen, name=f"listener of {waiting.name}", daemon=True)
        thread.start()

    @abstractmethod
    def connected(self) -> OpenConnection | None:
        """A new connection, from `mark` on; None if the stream has ended. Raises Unavailable and SourceError."""

    @property
    def least_pause(self) -> float:
        """How many seconds the server wants clients to wait before they connect again."""
        return 0.0

    def take(self) -> list[Arrival]:
        is_over = self._has_listened  # nothing is put after this
        found = self._arrivals.take()
        if not found and is_over:
            self.has_ended = True
            if self._failure is not None:
                raise self._failure
        return found

    def acknowledge(self, arrivals: Sequence[Arrival]) -> None:  # noqa: B027
        """There is no acknowledgement in this protocol."""

    def close(self) -> None:
        self._is_closed = True
        self._arrivals.close()
        connection = self._connection
        if connection is not None:
            connection.close()

    # In the thread

    @property
    def _is_over(self) -> bool:
        return self._is_closed or self._waiting.stopped.is_set()

    def _listen(self) -> None:
        try:
            while not self._is_over:
                try:
                    connection = self.connected()
                    if connection is None:
                        break
                    self._receive(connection)
                except Unavailable as reason:
                    if not self._is_over:
                        self._waiting.pause(str(reason), self.least_pause)
        except BaseException as error:
            self._failure = error
        self._has_listened = True

    def _receive(self, connection: OpenConnection) -> None:
        self._connection = connection
        proof = threading.Timer(_SECONDS_TO_PROVE, self._waiting.end)
        proof.daemon = True
        proof.start()
        try:
            for arrival in connection.arrivals():
                self._waiting.end()
                if not self._arrivals.put(arrival):
                    return
                self.mark = arrival.mark
        finally:
            proof.cancel()
            self._connection = None
            connection.close()
        raise Unavailable("the connection was closed")


def batches_of(subscription: Subscription, stopped: threading.Event) -> Iterator[list[Arrival]]:
    """Messages as they arrive, until the stream ends or the event is set; each batch is acknowledged after it."""
    while not stopped.is_set():
        arrivals = subscription.take()
        if arrivals:
            yield arrivals
            subscription.acknowledge(arrivals)
        elif subscription.has_ended:
            return
