"""Answers to an MQTT 5 topic, at least once: each evaluation is a message with quality of service 1.

The user properties are the `key` of the message, and the `query` and `time` of the evaluation. A message that the
broker has not confirmed when the connection breaks is sent again with the same key.
"""

from __future__ import annotations

import threading
import time
from typing import Any

import pyarrow as pa
from paho.mqtt.client import Client, MQTTMessageInfo
from paho.mqtt.enums import CallbackAPIVersion, MQTTProtocolVersion
from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.properties import Properties

from penstock.rdf.addresses import Address
from penstock.sinks.delivery import PassingError
from penstock.sinks.errors import SinkError

_SECONDS = 20.0
"""How long the broker may take before it counts as away."""
_MOST_IN_FLIGHT = 1000
_REJECTED = frozenset({"Bad user name or password", "Not authorized", "Banned", "Bad authentication method"})


class MqttReceiver:
    """The topic of an address, which receives content of this media type."""

    def __init__(self, address: Address, media_type: str) -> None:
        if set(address.path) & {"+", "#"}:
            raise SinkError(f"{address.name}: results go to a single topic, without + and #")
        self.name = address.name
        self._address = address
        self._media_type = media_type
        self._client: Client | None = None
        self._changed = threading.Condition()
        self._answer: Any = None
        """The broker's answer to the request for a connection."""
        self._is_connected = False
        self._confirmed: set[int] = set()
        self._refusal: str | None = None

    def connect(self) -> None:
        self.close()
        client = Client(CallbackAPIVersion.VERSION2, protocol=MQTTProtocolVersion.MQTTv5)
        client.on_connect, client.on_disconnect = self._connected, self._disconnected
        client.on_publish = self._published
        client.max_inflight_messages_set(_MOST_IN_FLIGHT)
        if self._address.user is not None:
            client.username_pw_set(self._address.user, self._address.settings.get("password"))
        if self._address.scheme == "mqtts":
            client.tls_set(self._address.settings.get("ssl.ca.location"))
        self._answer, self._is_connected = None, False
        try:
            client.connect(*self._address.server, keepalive=30)
        except OSError as error:
            raise PassingError(f"{self.name} does not answer ({(error.strerror or str(error)).lower()})") from None
        client.loop_start()
        self._client = client
        with self._changed:
            self._changed.wait_for(lambda: self._answer is not None, _SECONDS)
        if self._answer is None:
            raise PassingError(f"{self.name} does not answer")
        if self._answer.is_failure:
            self.close()
            raise self._refused(str(self._answer))

    def _refused(self, reason: str) -> Exception:
        if reason in _REJECTED:
            return SinkError(
                f"{self.name} rejects the user or the password ({reason.lower()}): write mqtt://USER@HOST/TOPIC and "
                "?password-file=FILE"
            )
        return PassingError(f"{self.name} accepts no connection ({reason.lower()})")

    def send(self, messages: pa.Table, before: int) -> None:
        assert self._client is not None
        self._confirmed.clear()
        columns = [messages[name].to_pylist() for name in ("key", "value", "query", "time")]
        sent = [self._publish(self._client, *row) for row in zip(*columns, strict=True)]
        numbers = [info.mid for info in sent]
        waiting = set(numbers)
        heard = time.monotonic()
        with self._changed:
            while self._is_connected and self._refusal is None and time.monotonic() - heard < _SECONDS:
                if waiting <= self._confirmed:
                    return
                known = len(self._confirmed)
                self._changed.wait(1)
                heard = time.monotonic() if len(self._confirmed) > known else heard
        if self._refusal is not None:
            raise SinkError(
                f"{self.name}: the broker refuses the answer ({self._refusal.lower()}): may this user write to the "
                "topic, and is the answer not too large?"
            )
        received = next((place for place, number in enumerate(numbers) if number not in self._confirmed), len(numbers))
        raise PassingError(f"{self.name}: the connection was closed", received)

    def close(self) -> None:
        if self._client is not None:
            self._client.disconnect()
            self._client.loop_stop()
            self._client = None

    def _publish(self, client: Client, key: str, value: bytes, query: str, time: int) -> MQTTMessageInfo:
        properties = Properties(PacketTypes.PUBLISH)  # type: ignore[no-untyped-call]
        properties.ContentType = self._media_type
        properties.UserProperty = [("key", key), ("query", query), ("time", str(time))]
        return client.publish(self._address.path, value, qos=1, properties=properties)

    # Called by the client's thread

    def _connected(self, client: Client, data: Any, flags: Any, reason: Any, properties: Any) -> None:
        with self._changed:
            self._answer, self._is_connected = reason, not reason.is_failure
            self._changed.notify()

    def _disconnected(self, client: Client, data: Any, flags: Any, reason: Any, properties: Any) -> None:
        with self._changed:
            self._is_connected = False
            self._changed.notify()

    def _published(self, client: Client, data: Any, number: int, reason: Any, properties: Any) -> None:
        with self._changed:
            if reason.is_failure:
                self._refusal = str(reason)
            self._confirmed.add(number)
            self._changed.notify()
