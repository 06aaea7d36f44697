"""Streams of messages that a server sends: MQTT, Server-Sent Events and WebSocket. They are live."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from itertools import count

import pyarrow as pa

from penstock.rdf.addresses import Address
from penstock.rdf.credentials import ServiceAuth
from penstock.rdf.elements import Malformed
from penstock.sources.batches import Batch, Position
from penstock.sources.messages import MessageColumns, MessageReader
from penstock.sources.partitions import as_elements
from penstock.sources.subscriptions import Arrival, Subscription, batches_of
from penstock.sources.waiting import Waiting


@dataclass(frozen=True, slots=True)
class MessageStream:
    """The messages of an address, read until `stopped` is set. A message that was read is gone.

    `retry_timeout` is how many seconds to wait for a server that is away; None for ever.
    """

    address: Address
    scope: str
    auth: ServiceAuth = field(default_factory=ServiceAuth, repr=False)
    retry_timeout: float | None = None
    stopped: threading.Event = field(default_factory=threading.Event)
    is_live: bool = field(default=True, init=False)
    can_resume: bool = field(default=False, init=False)

    @property
    def name(self) -> str:
        return self.address.name

    def ended_by(self, stopped: threading.Event) -> MessageStream:
        return replace(self, stopped=stopped)

    def batches(self, position: Position | None = None) -> Iterator[Batch]:
        """Raises SourceError where the server refuses the user or the address, or stays away."""
        reader = MessageReader(self.name, self.scope, self.address.format, self.address.time)
        numbers = count()
        waiting = Waiting(self.name, self.retry_timeout, self.stopped)
        with closing(subscribe(self.address, self.auth, waiting)) as subscription:
            for arrivals in batches_of(subscription, self.stopped):
                yield _batch(arrivals, [str(next(numbers)) for _ in arrivals], reader)


def subscribe(address: Address, auth: ServiceAuth, waiting: Waiting) -> Subscription:
    """Raises SourceError if a package is missing or the server refuses."""
    if address.scheme in ("mqtt", "mqtts"):
        from penstock.sources.mqtt import MqttSubscription  # slow to load

        return MqttSubscription(address, waiting)
    if address.scheme in ("ws", "wss"):
        from penstock.sources.websocket import WebSocket

        return WebSocket(address, auth, waiting)
    from penstock.sources.server_sent_events import EventSource

    return EventSource(address, auth, waiting)


def _batch(arrivals: Sequence[Arrival], labels: Sequence[str], reader: MessageReader) -> Batch:
    malformed = [Malformed(one.place, one.content.decode(), one.error) for one in arrivals if one.error is not None]
    found = [(one, label) for one, label in zip(arrivals, labels, strict=True) if one.error is None]
    columns = MessageColumns(
        pa.array([arrival.content for arrival, _ in found], pa.large_binary()),
        pa.array([arrival.time for arrival, _ in found], pa.int64()),
        pa.array([arrival.content_type for arrival, _ in found], pa.string()),
        pa.array([label for _, label in found], pa.string()),
        lambda number: found[number][0].place,
    )
    table = reader.table(columns, lambda _, entry: malformed.append(entry))
    return Batch(as_elements(table), {}, tuple(malformed))
