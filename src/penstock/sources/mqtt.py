"""MQTT 5 topics, live. A message that was read is gone: a run over them cannot continue after a restart.

While a run goes on nothing is lost: the broker keeps the session when the connection breaks, and sends what was not
acknowledged again. A message is acknowledged when it is read.
"""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Any, NamedTuple

import pyarrow as pa

from penstock.rdf.addresses import Address
from penstock.rdf.elements import Malformed
from penstock.rdf.errors import SourceError
from penstock.sources.batches import MOST_BYTES, Batch, Position
from penstock.sources.messages import MessageColumns, MessageReader
from penstock.sources.partitions import as_elements
from penstock.sources.waiting import Waiting

_MOST_UNREAD = 2000
"""So many messages the broker sends before the first of them is acknowledged."""
_SECONDS_TO_KEEP = 3600
"""How long the broker keeps the session of a client that is away."""
_KEEPALIVE = 30
_TICK = 0.1
_REFUSALS = frozenset({"Bad user name or password", "Not authorized", "Banned", "Bad authentication method"})


class _Arrival(NamedTuple):
    """A message, and when it has arrived in milliseconds; `packet` is its number for the acknowledgement."""

    topic: str
    content: bytes
    content_type: str | None
    time: int
    packet: int
    quality: int


@dataclass(frozen=True, slots=True)
class MqttTopic:
    """A topic, or a filter with `+` and `#`; it is read until `stopped` is set.

    `retry_timeout` is how many seconds to wait for a broker that is away; None for ever.
    """

    address: Address
    scope: str
    retry_timeout: float | None = None
    stopped: threading.Event = field(default_factory=threading.Event)
    is_live: bool = field(default=True, init=False)
    can_resume: bool = field(default=False, init=False)

    @property
    def name(self) -> str:
        return self.address.name

    def ended_by(self, stopped: threading.Event) -> MqttTopic:
        return replace(self, stopped=stopped)

    def batches(self, position: Position | None = None) -> Iterator[Batch]:
        """Raises SourceError where the broker refuses the user or the topic, or stays away."""
        reader = MessageReader(self.name, self.scope, self.address.format, self.address.time)
        numbers = count()
        with closing(_Subscription(self.address, Waiting(self.name, self.retry_timeout, self.stopped))) as subscription:
            while not self.stopped.is_set():
                arrivals = subscription.take()
                if arrivals:
                    yield _batch(arrivals, reader, numbers)
                    subscription.acknowledge(arrivals)


def _batch(arrivals: list[_Arrival], reader: MessageReader, numbers: Iterator[int]) -> Batch:
    malformed: list[Malformed] = []
    columns = MessageColumns(
        pa.array([arrival.content for arrival in arrivals], pa.large_binary()),
        pa.array([arrival.time for arrival in arrivals], pa.int64()),
        pa.array([arrival.content_type for arrival in arrivals], pa.string()),
        pa.array([str(next(numbers)) for _ in arrivals], pa.string()),
        lambda number: f"MQTT topic {arrivals[number].topic}",
    )
    table = reader.table(columns, lambda _, entry: malformed.append(entry))
    return Batch(as_elements(table), {}, tuple(malformed))


class _Subscription:
    """A connection to the broker; a thread of the client receives messages."""

    def __init__(self, address: Address, waiting: Waiting) -> None:
        self._address = address
        self._waiting = waiting
        self._arrivals: queue.Queue[_Arrival] = queue.Queue(_MOST_UNREAD)
        self._failure: str | None = None
        self._refusal: str | None = None
        self._is_connected = False
        self._client = self._connected()

    def take(self) -> list[_Arrival]:
        """The messages that have arrived; waits a little for the first."""
        if self._refusal is not None:
            raise SourceError(self._refusal)
        if not self._is_connected:
            self._reconnect()
            return []
        self._waiting.end()
        try:
            found = [self._arrivals.get(timeout=_TICK)]
        except queue.Empty:
            return []
        size = len(found[0].content)
        while size < MOST_BYTES and not self._arrivals.empty():
            found.append(self._arrivals.get())
            size += len(found[-1].content)
        return found

    def acknowledge(self, arrivals: list[_Arrival]) -> None:
        for arrival in arrivals:
            self._client.ack(arrival.packet, arrival.quality)

    def close(self) -> None:
        self._client.disconnect()
        self._client.loop_stop()

    def _connected(self) -> Any:
        """A client that connects now, and begins anew: the broker forgets what an earlier run has not read."""
        try:
            from paho.mqtt.client import MQTT_CLEAN_START_FIRST_ONLY, Client
            from paho.mqtt.enums import CallbackAPIVersion, MQTTProtocolVersion
            from paho.mqtt.packettypes import PacketTypes
            from paho.mqtt.properties import Properties
        except ImportError:
            raise SourceError(f"{self._address.name}: MQTT needs a package: pip install penstock[mqtt]") from None
        client = Client(CallbackAPIVersion.VERSION2, protocol=MQTTProtocolVersion.MQTTv5, manual_ack=True)
        client.on_connect, client.on_disconnect = self._note_connected, self._note_disconnected
        client.on_message, client.on_subscribe = self._receive, self._note_subscribed
        client.reconnect_delay_set(1, 30)
        if self._address.user is not None:
            client.username_pw_set(self._address.user, self._address.settings.get("password"))
        if self._address.scheme == "mqtts":
            client.tls_set(self._address.settings.get("ssl.ca.location"))
        properties = Properties(PacketTypes.CONNECT)  # type: ignore[no-untyped-call]
        properties.SessionExpiryInterval = _SECONDS_TO_KEEP
        properties.ReceiveMaximum = _MOST_UNREAD
        host, port = self._address.server
        while not self._waiting.stopped.is_set():
            try:
                client.connect(host, port, _KEEPALIVE, clean_start=MQTT_CLEAN_START_FIRST_ONLY, properties=properties)
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
                client.subscribe(self._address.path, qos=1)

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
        for reason in reasons:
            if reason.is_failure:
                why = str(reason).lower()
                self._refusal = f"{self._address.name}: the broker refuses the topic ({why}): may this user read it?"

    def _receive(self, client: Any, data: Any, message: Any) -> None:
        content_type = getattr(message.properties, "ContentType", None)
        now = time.time_ns() // 1_000_000
        arrival = _Arrival(message.topic, message.payload, content_type, now, message.mid, message.qos)
        while not self._waiting.stopped.is_set():  # the broker waits meanwhile
            try:
                return self._arrivals.put(arrival, timeout=_TICK)
            except queue.Full:
                pass
