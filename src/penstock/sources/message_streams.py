"""Streams of messages that a server sends: MQTT, Server-Sent Events, WebSocket, and Linked Data Event Streams.

The members of an event stream can be read again, from a bookmark; other messages that were read are gone.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace

import pyarrow as pa

from penstock.rdf.addresses import ARRIVAL, RECORD, Address
from penstock.rdf.credentials import ServiceAuth
from penstock.rdf.elements import Malformed
from penstock.sources.batches import Batch, Position
from penstock.sources.messages import MessageColumns, MessageReader
from penstock.sources.partitions import as_elements
from penstock.sources.subscriptions import Arrival, Subscription, batches_of
from penstock.sources.waiting import Waiting


@dataclass(frozen=True, slots=True)
class MessageStream:
    """The messages of an address, read until `stopped` is set, or, with `until=now`, as far as they are there now.

    `retry_timeout` is how many seconds to wait for a server that is away; None for ever.
    """

    address: Address
    scope: str
    auth: ServiceAuth = field(default_factory=ServiceAuth, repr=False)
    retry_timeout: float | None = None
    stopped: threading.Event = field(default_factory=threading.Event)

    @property
    def is_live(self) -> bool:
        return not self.address.is_until_now

    @property
    def can_resume(self) -> bool:
        return _has_bookmarks(self.address)

    @property
    def name(self) -> str:
        return self.address.name

    def ended_by(self, stopped: threading.Event) -> MessageStream:
        return replace(self, stopped=stopped)

    def batches(self, position: Position | None = None) -> Iterator[Batch]:
        """Raises SourceError where the server refuses the user or the address, or stays away."""
        mark, number = (None, 0) if position is None else (position["mark"], position["number"])
        reader = reader_of(self.address, self.scope)
        waiting = Waiting(self.name, self.retry_timeout, self.stopped)
        with closing(subscribe(self.address, self.auth, waiting, mark)) as subscription:
            for arrivals in batches_of(subscription, self.stopped):
                batch = _batch(arrivals, number, reader)
                number += len(arrivals)
                mark = arrivals[-1].mark or mark
                yield replace(batch, position={"mark": mark, "number": number})


def _has_bookmarks(address: Address) -> bool:
    return address.scheme in ("ldes+http", "ldes+https")


def reader_of(address: Address, scope: str) -> MessageReader:
    """The time of a member of an event stream is that of its timestamp path, which the client reads."""
    if _has_bookmarks(address):
        return MessageReader(address.name, scope, "nq", address.time if address.time == ARRIVAL else RECORD)
    return MessageReader(address.name, scope, address.format, address.time)


def subscribe(address: Address, auth: ServiceAuth, waiting: Waiting, mark: str | None = None) -> Subscription:
    """`mark` is that of the last message of an earlier run. Raises SourceError if a package is missing or the server
    refuses.
    """
    if address.scheme in ("mqtt", "mqtts"):
        from penstock.sources.mqtt import MqttSubscription  # slow to load

        return MqttSubscription(address, waiting)
    if address.scheme in ("ws", "wss"):
        from penstock.sources.websocket import WebSocket

        return WebSocket(address, auth, waiting)
    if _has_bookmarks(address):
        from penstock.sources.ldes import LinkedDataEventStream

        return LinkedDataEventStream(address, auth, waiting, mark)
    from penstock.sources.server_sent_events import EventSource

    return EventSource(address, auth, waiting, mark)


def _batch(arrivals: Sequence[Arrival], first: int, reader: MessageReader) -> Batch:
    """`first` is the number of the first message in the stream."""
    malformed = [Malformed(one.place, one.content.decode(), one.error) for one in arrivals if one.error is not None]
    found = [(one, str(number)) for number, one in enumerate(arrivals, first) if one.error is None]
    columns = MessageColumns(
        pa.array([arrival.content for arrival, _ in found], pa.large_binary()),
        pa.array([arrival.time for arrival, _ in found], pa.int64()),
        pa.array([arrival.content_type for arrival, _ in found], pa.string()),
        pa.array([label for _, label in found], pa.string()),
        lambda number: found[number][0].place,
    )
    table = reader.table(columns, lambda _, entry: malformed.append(entry))
    return Batch(as_elements(table), {}, tuple(malformed))
