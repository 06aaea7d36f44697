"""Receiving messages: the subscription to an address, and a thread that writes what arrives into a spool.

What arrives is on the disk before it is acknowledged. A message that was not acknowledged is sent again; the marks of
the last messages in the spool tell whether it is there already.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import IO

from penstock.rdf.addresses import Address
from penstock.rdf.credentials import ServiceAuth
from penstock.rdf.durability import sync_folder
from penstock.rdf.errors import SourceError
from penstock.sources.spool import SpoolReader, SpoolWriter
from penstock.sources.subscriptions import Subscription, batches_of
from penstock.sources.waiting import Waiting

try:
    import fcntl
except ImportError:  # not a POSIX system
    fcntl = None  # type: ignore[assignment]

_ENDED, _SESSION, _LOCK = "ended", "session", "lock"
"""Files beside the segments: nothing more will come, the name of the MQTT session, and whose spool it is."""
_SECONDS_TO_CLOSE = 5.0
_SECONDS_TO_WAIT = 60.0
_TICK = 0.1


def subscribe(
    address: Address, auth: ServiceAuth, waiting: Waiting, marks: Sequence[str] = (), session: Path | None = None
) -> Subscription:
    """`marks` are those of the last messages of an earlier run, `session` the file for the name of an MQTT session.

    Raises SourceError if a package is missing or the server refuses.
    """
    if address.scheme in ("mqtt", "mqtts"):
        from penstock.sources.mqtt import MqttSubscription  # slow to load

        return MqttSubscription(address, waiting, session, marks)
    if address.scheme in ("ws", "wss"):
        from penstock.sources.websocket import WebSocket

        return WebSocket(address, auth, waiting)
    mark = marks[-1] if marks else None
    if has_bookmarks(address):
        from penstock.sources.ldes import LinkedDataEventStream

        return LinkedDataEventStream(address, auth, waiting, mark)
    from penstock.sources.server_sent_events import EventSource

    return EventSource(address, auth, waiting, mark)


def has_bookmarks(address: Address) -> bool:
    """Whether its messages can be read again from the mark of any of them."""
    return address.scheme in ("ldes+http", "ldes+https")


class SpoolReceiver:
    """Receives the messages of an address into a folder, until it is closed.

    `on_failure` is called, in the thread, with the error that ends it.
    """

    def __init__(
        self,
        address: Address,
        auth: ServiceAuth,
        folder: Path,
        retry_timeout: float | None,
        on_failure: Callable[[BaseException], None] | None = None,
    ) -> None:
        self.failure: BaseException | None = None
        self.has_ended = False
        """Whether all messages are in the spool."""
        self.address = address
        self._auth = auth
        self._folder = folder
        self._stopped = threading.Event()
        self._waiting = Waiting(address.name, retry_timeout, self._stopped)
        self._on_failure = on_failure
        self._arrived = threading.Event()
        self._thread = threading.Thread(target=self._run, name=f"spool of {address.name}", daemon=True)
        self._thread.start()

    def wait(self, seconds: float) -> None:
        """Until something arrives, or the receiver ends."""
        self._arrived.wait(seconds)
        self._arrived.clear()

    def join(self) -> None:
        """Wait until all messages are in the spool. Raises the error that ended the receiver."""
        self._thread.join()
        if self.failure is not None:
            raise self.failure

    def close(self) -> None:
        self._stopped.set()
        if self._thread is not threading.current_thread():
            self._thread.join(_SECONDS_TO_CLOSE)

    # In the thread

    def _run(self) -> None:
        try:
            self._receive()
        except BaseException as error:
            self.failure = error
            if self._on_failure is not None and not self._stopped.is_set():
                self._on_failure(error)
        self._arrived.set()

    def _receive(self) -> None:
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            with (self._folder / _LOCK).open("w") as lock:
                if self._is_alone(lock):
                    with closing(SpoolWriter(self._folder)) as writer:
                        self._write(writer)
        except OSError as error:
            raise SourceError(f"{self._folder}: messages cannot be kept there ({error.strerror})") from None

    def _is_alone(self, lock: IO[str]) -> bool:
        """No other process writes at the same time: one that was told to stop may not have ended yet.

        False if this one is closed meanwhile.
        """
        if fcntl is None:
            return True
        began = time.monotonic()
        while not self._stopped.is_set():
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return True
            except BlockingIOError:
                if time.monotonic() - began > _SECONDS_TO_WAIT:
                    reason = "another process fills this spool: name another folder"
                    raise SourceError(f"{self._folder}: {reason}") from None
                self._stopped.wait(_TICK)
        return False

    def _write(self, writer: SpoolWriter) -> None:
        """Until everything is there, or this is closed."""
        ended = self._folder / _ENDED
        if not ended.exists():
            self._fill(writer)
            if self._stopped.is_set():
                return
            ended.touch()
            sync_folder(self._folder)
        self.has_ended = True

    def _fill(self, writer: SpoolWriter) -> None:
        marks, session = SpoolReader(self._folder).marks(), self._folder / _SESSION
        with closing(subscribe(self.address, self._auth, self._waiting, marks, session)) as subscription:
            for arrivals in batches_of(subscription, self._stopped):
                writer.append(arrivals)
                self._arrived.set()
