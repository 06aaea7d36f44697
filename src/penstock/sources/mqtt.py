"""MQTT 5 topics.

While a run goes on nothing is lost: the broker keeps the session when the connection breaks, and sends what was not
acknowledged again. A message that it sends again although it had arrived is recognised by its number and content. With
a spool the session outlives the process: its name is kept beside the spool.
"""

from __future__ import annotations

import logging
import os
import threading
from collections import deque
from collections.abc import Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Any
from uuid import uuid4

from penstock.rdf.addresses import Address
from penstock.rdf.durability import sync_folder
from penstock.rdf.errors import SourceError
from penstock.sources.subscriptions import Arrival, ArrivalQueue, now
from penstock.sources.waiting import Waiting

LOG = logging.getLogger("penstock")

_MOST_UNREAD = 2000
"""So many messages the broker sends before the first of them is acknowledged, and may send again."""
_SECONDS_TO_KEEP = 3600
"""How long the broker keeps the session of a client that is away."""
_SECONDS_WITH_SPOOL = 7 * 24 * 3600
_NEW_SUBSCRIPTIONS = 1
"""Retained messages are sent when a subscription begins, and not again when it is repeated."""
_KEEPALIVE = 30
_TICK = 0.1
_REFUSALS = frozenset({"Bad user name or password", "Not authorized", "Banned", "Bad authentication method"})


class MqttSubscription:
    """A topic, or a filter with `+` and `#`; a thread of the client receives messages.

    `session` is the file for the name of the session, if it is to outlive the process, and `marks` are those of the
    last messages that arrived in it.
    """

    def __init__(
        self, address: Address, waiting: Waiting, session: Path | None = None, marks: Sequence[str] = ()
    ) -> None:
        self._session = session
        self._address = address
        self._waiting = waiting
        self._arrivals = ArrivalQueue(waiting.stopped)
        self._known: deque[str] = deque(marks, maxlen=_MOST_UNREAD)
        """The receipts of the last messages of this session."""
        self._unread: set[str] = set()
        """Those of messages that have arrived and are not acknowledged."""
        self._failure: str | None = None
        self._refusal: str | None = None
        self._is_connected = False
        self._lock = threading.Lock()
        self._client = self._connected()

    def take(self) -> list[Arrival]:
        if self._refusal is not None:
            raise SourceError(self._refusal)
        if not self._is_connected:
            self._reconnect()
            return []
        self._waiting.end()
        return self._arrivals.take()

    @property
    def has_ended(self) -> bool:
        return False

    def acknowledge(self, arrivals: Sequence[Arrival]) -> None:
        with self._lock:
            for arrival in arrivals:
                if arrival.mark in self._unread:  # otherwise the broker has begun a new session meanwhile
                    self._unread.remove(arrival.mark)
                    self._client.ack(_packet(arrival.mark), 1)

    def close(self) -> None:
        self._arrivals.close()
        self._client.disconnect()
        self._client.loop_stop()

    def _connected(self) -> Any:
        """A client that connects now. Without a session it begins anew: the broker forgets what an earlier run has
        not read.
        """
        try:
            from paho.mqtt.client import MQTT_CLEAN_START_FIRST_ONLY, Client
            from paho.mqtt.enums import CallbackAPIVersion, MQTTProtocolVersion
            from paho.mqtt.packettypes import PacketTypes
            from paho.mqtt.properties import Properties
        except ImportError:
            raise SourceError(f"{self._address.name}: MQTT needs a package: pip install penstock[mqtt]") from None
        name, self._has_session = "", False
        if self._session is not None:
            name, self._has_session = _session_named(self._session)
        client = Client(CallbackAPIVersion.VERSION2, name, protocol=MQTTProtocolVersion.MQTTv5, manual_ack=True)
        client.on_connect, client.on_disconnect = self._note_connected, self._note_disconnected
        client.on_message, client.on_subscribe = self._receive, self._note_subscribed
        client.reconnect_delay_set(1, 30)
        if self._address.user is not None:
            client.username_pw_set(self._address.user, self._address.settings.get("password"))
        if self._address.scheme == "mqtts":
            client.tls_set(self._address.settings.get("ssl.ca.location"))
        properties = Properties(PacketTypes.CONNECT)  # type: ignore[no-untyped-call]
        properties.SessionExpiryInterval = _SECONDS_TO_KEEP if self._session is None else _SECONDS_WITH_SPOOL
        properties.ReceiveMaximum = _MOST_UNREAD
        host, port = self._address.server
        while not self._waiting.stopped.is_set():
            try:
                clean = MQTT_CLEAN_START_FIRST_ONLY if self._session is None else False
                client.connect(host, port, _KEEPALIVE, clean_start=clean, properties=properties)
                self._is_connected = True
                break
            except OSError as error:
                self._waiting.pause((error.strerror or str(error)).lower())
        client.loop_start()
        return client

    def _reconnect(self) -> None:
        """The client connects by itself; this waits for it."""
        self._waiting.pause(self._failure or "the connection was closed")

    # Called by the client's thread

    def _note_connected(self, client: Any, data: Any, flags: Any, reason: Any, properties: Any) -> None:
        if reason.is_failure:
            self._note_failure(str(reason))
        else:
            self._is_connected, self._failure = True, None
            if not flags.session_present:
                with self._lock:
                    self._known.clear()
                    self._unread.clear()
                if self._has_session:
                    LOG.warning(
                        f"{self._address.name}: the broker has not kept the session of this run: messages that were "
                        "published while it was away may be lost"
                    )
            from paho.mqtt.subscribeoptions import SubscribeOptions

            # Also in a session that is there: an earlier run may have ended before it subscribed.
            options = SubscribeOptions(qos=1, retainHandling=_NEW_SUBSCRIPTIONS)
            client.subscribe(self._address.path, options=options)
            self._has_session = True

    def _note_failure(self, reason: str) -> None:
        self._is_connected, self._failure = False, reason.lower()
        if reason in _REFUSALS:
            self._refusal = (
                f"{self._address.name} rejects the user or the password ({reason.lower()}): write "
                "mqtt://USER@HOST/TOPIC and ?password-file=FILE"
            )

    def _note_disconnected(self, client: Any, data: Any, flags: Any, reason: Any, properties: Any) -> None:
        self._is_connected = False

    def _note_subscribed(self, client: Any, data: Any, number: int, reasons: list[Any], properties: Any) -> None:
        if self._session is not None:
            _note_subscribed(self._session)
        for reason in reasons:
            if reason.is_failure:
                why = str(reason).lower()
                self._refusal = f"{self._address.name}: the broker refuses the topic ({why}): may this user read it?"

    def _receive(self, client: Any, data: Any, message: Any) -> None:
        receipt = None if message.qos == 0 else _receipt(message)
        if receipt is not None:
            with self._lock:
                if message.dup and receipt in self._known:
                    if receipt not in self._unread:
                        client.ack(message.mid, message.qos)
                    return
                self._known.append(receipt)
                self._unread.add(receipt)
        content_type = getattr(message.properties, "ContentType", None)
        # While there is no room, the broker waits.
        self._arrivals.put(Arrival(message.payload, content_type, now(), f"MQTT topic {message.topic}", receipt))


def _session_named(file: Path) -> tuple[str, bool]:
    """The name of the session, which is new if there is none yet, and whether it has subscribed."""
    if not file.exists():
        new = file.with_suffix(".new")
        with new.open("w") as opened:
            opened.write(f"penstock-{uuid4().hex}")
            opened.flush()
            os.fsync(opened.fileno())
        new.replace(file)
        sync_folder(file.parent)
    return file.read_text(), _subscribed(file).exists()


def _note_subscribed(file: Path) -> None:
    _subscribed(file).touch()


def _subscribed(file: Path) -> Path:
    return file.with_suffix(".subscribed")


def _receipt(message: Any) -> str:
    """The number of a message for its acknowledgement, and a hash of the message: numbers are used again."""
    digest = blake2b(message.payload, digest_size=16, person=b"mqtt")
    digest.update(message.topic.encode())
    return f"{message.mid}.{digest.hexdigest()}"


def _packet(receipt: str) -> int:
    return int(receipt.partition(".")[0])
