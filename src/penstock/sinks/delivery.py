"""Delivery of messages to receivers that may be away: they are sent again, with growing pauses, until they arrive."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

import pyarrow as pa

from penstock.rdf.plurals import counted
from penstock.sinks.errors import SinkError
from penstock.sinks.messages import in_pieces

_FIRST_PAUSE, _LONGEST_PAUSE = 0.2, 30.0
"""In seconds; each pause is twice as long as the previous one."""

_MOST_BYTES = 8 << 20
"""The maximum that is sent at a time, so that memory stays bounded and a receiver can confirm it."""


class PassingError(Exception):
    """A receiver does not accept messages now; `received` is the number of sent messages that it has confirmed."""

    def __init__(self, reason: str, received: int = 0) -> None:
        self.reason = reason
        self.received = received
        super().__init__(reason)


class DeliveryStopped(SinkError):  # noqa: N818
    """The run was stopped while it waited for a receiver."""


class Receiver(Protocol):
    """A broker or an endpoint that takes messages (`messages.SCHEMA`)."""

    @property
    def name(self) -> str:
        """The address, without secrets."""

    def connect(self) -> int | None:
        """Connect, or reconnect after an error.

        Returns the number of messages of this run that it has received, if it knows: then each is received once. Raises
        PassingError, and SinkError where waiting does not help.
        """

    def send(self, messages: pa.Table, before: int) -> None:
        """Send messages, and return when it has confirmed them; `before` is how many there were before these.

        Raises as `connect` does.
        """

    def close(self) -> None: ...


@dataclass(slots=True)
class Retries:
    """How long to wait for a receiver: `timeout` in seconds, None without a limit. `report` receives a sentence when
    the waiting begins, and when it is over."""

    timeout: float | None = None
    report: Callable[[str], None] = lambda sentence: None
    stopped: threading.Event = field(default_factory=threading.Event)
    """Ends the waiting; any thread may set it."""


class Delivery:
    """Sends messages to a receiver in order, and waits while it is away."""

    def __init__(self, receiver: Receiver, retries: Retries, sent: int = 0) -> None:
        self._receiver = receiver
        self._retries = retries
        self.sent = sent
        """How many messages this run has sent."""
        self._is_connected = False
        self._away_since: float | None = None
        self._pause = _FIRST_PAUSE

    def connect(self) -> None:
        """Connect now, so that a wrong address is an error at the start."""
        while not self._is_connected:
            try:
                self._connect()
            except PassingError as error:
                self._wait(error)

    def send(self, messages: pa.Table, before: int) -> None:
        """Returns when the receiver has all messages; `before` is how many the run has sent before these.

        Raises SinkError when it has waited too long, or was stopped.
        """
        for piece in in_pieces(messages, _MOST_BYTES):
            self._send(piece, before)
            before += piece.num_rows

    def close(self) -> None:
        self._receiver.close()

    def _send(self, messages: pa.Table, before: int) -> None:
        until = before + messages.num_rows
        while self.sent < until:
            try:
                self._connect()
                if self.sent < until:
                    self._receiver.send(messages.slice(self.sent - before), self.sent)
                    self.sent = until
                self._return()
            except PassingError as error:
                self.sent += error.received
                self._is_connected = False
                self._wait(error)

    def _connect(self) -> None:
        if not self._is_connected:
            received = self._receiver.connect()
            self.sent = max(self.sent, received or 0)
            self._is_connected = True

    def _wait(self, error: PassingError) -> None:
        now = time.monotonic()
        if self._away_since is None:
            self._away_since = now
            self._retries.report(f"{error.reason}; waiting for it")
        timeout, waited = self._retries.timeout, now - self._away_since
        if timeout is not None and waited >= timeout:
            raise SinkError(f"{error.reason} (tried for {timeout:g} s; --retry-timeout sets how long to try)")
        left = _LONGEST_PAUSE if timeout is None else timeout - waited
        if self._retries.stopped.wait(min(self._pause, left)):
            raise DeliveryStopped(f"{self._receiver.name}: stopped while waiting for it")
        self._pause = min(2 * self._pause, _LONGEST_PAUSE)

    def _return(self) -> None:
        if self._away_since is not None:
            waited = round(time.monotonic() - self._away_since)
            self._retries.report(f"{self._receiver.name} takes messages again, after {counted(waited, 'second')}")
            self._away_since, self._pause = None, _FIRST_PAUSE
