"""Streams of messages that a server sends: MQTT, Server-Sent Events, WebSocket, and Linked Data Event Streams.

The members of an event stream can be read again, from a bookmark. Other messages that were read are gone, unless there
is a spool: then the spool is read, and the position is that of a message there.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from penstock.rdf.addresses import ARRIVAL, RECORD, Address
from penstock.rdf.credentials import ServiceAuth
from penstock.rdf.elements import Malformed
from penstock.sources.batches import Batch, Position
from penstock.sources.messages import MessageColumns, MessageReader
from penstock.sources.partitions import as_elements
from penstock.sources.receiving import SpoolReceiver, has_bookmarks, subscribe
from penstock.sources.spool import SpoolReader, record_batch, release
from penstock.sources.subscriptions import batches_of
from penstock.sources.waiting import Waiting

_TICK = 0.1


@dataclass(frozen=True, slots=True)
class MessageStream:
    """The messages of an address, read until `stopped` is set, or, with `until=now`, as far as they are there now.

    `retry_timeout` is how many seconds to wait for a server that is away; None for ever. `spool` is a folder.
    """

    address: Address
    scope: str
    auth: ServiceAuth = field(default_factory=ServiceAuth, repr=False)
    retry_timeout: float | None = None
    stopped: threading.Event = field(default_factory=threading.Event)
    spool: Path | None = None

    @property
    def is_live(self) -> bool:
        return not self.address.is_until_now

    @property
    def can_resume(self) -> bool:
        return self.spool is not None or has_bookmarks(self.address)

    @property
    def name(self) -> str:
        return self.address.name

    def ended_by(self, stopped: threading.Event) -> MessageStream:
        return replace(self, stopped=stopped)

    def spooled(self, checkpoint: Path, iri: str) -> MessageStream:
        """The same stream, by a spool in the folder of a checkpoint; `iri` is its name in the run."""
        return replace(self, spool=checkpoint / "spool" / blake2b(iri.encode(), digest_size=8).hexdigest())

    def batches(self, position: Position | None = None) -> Iterator[Batch]:
        """Raises SourceError where the server refuses the user or the address, or stays away."""
        if self.spool is not None:
            return self._of_spool(self.spool, 0 if position is None else position["spool"])
        return self._as_they_arrive(*((None, 0) if position is None else (position["mark"], position["number"])))

    def release(self, position: Position) -> None:
        """What is before a position is not needed any more."""
        if self.spool is not None:
            release(self.spool, position["spool"])

    def _as_they_arrive(self, mark: str | None, number: int) -> Iterator[Batch]:
        """`number` is that of the first message in the stream."""
        reader = reader_of(self.address, self.scope)
        waiting = Waiting(self.name, self.retry_timeout, self.stopped)
        marks = () if mark is None else (mark,)
        with closing(subscribe(self.address, self.auth, waiting, marks)) as subscription:
            for arrivals in batches_of(subscription, self.stopped):
                batch = _batch(pa.table(record_batch(arrivals)), number, reader)
                number += len(arrivals)
                mark = arrivals[-1].mark or mark
                yield replace(batch, position={"mark": mark, "number": number})

    def _of_spool(self, folder: Path, number: int) -> Iterator[Batch]:
        reader, messages = reader_of(self.address, self.scope, is_spooled=True), SpoolReader(folder)
        with closing(SpoolReceiver(self.address, self.auth, folder, self.retry_timeout)) as receiver:
            while not self.stopped.is_set():
                is_over = receiver.has_ended or receiver.failure is not None
                found = messages.read(number)
                if found.num_rows:
                    batch = _batch(found, number, reader)
                    number += found.num_rows
                    messages.forget(number)
                    yield replace(batch, position={"spool": number})
                elif receiver.failure is not None:
                    raise receiver.failure
                elif is_over:
                    return
                else:
                    receiver.wait(_TICK)


def reader_of(address: Address, scope: str, *, is_spooled: bool = False) -> MessageReader:
    """The time of a member of an event stream is known to the client, and the time of an arrival to the spool."""
    if has_bookmarks(address):
        return MessageReader(address.name, scope, "nq", RECORD)
    time = RECORD if is_spooled and address.time == ARRIVAL else address.time
    return MessageReader(address.name, scope, address.format, time)


def message_columns(messages: pa.Table, labels: pa.Array) -> MessageColumns:
    """Messages of a spool (`spool.SCHEMA_OF_SPOOL`)."""
    columns = {name: messages[name].combine_chunks() for name in messages.column_names}
    return MessageColumns(
        columns["content"],
        columns["time"],
        columns["type"],
        labels,
        lambda number: str(columns["place"][number]),
        columns["error"],
    )


def _batch(messages: pa.Table, first: int, reader: MessageReader) -> Batch:
    """`first` is the number of the first message in the stream."""
    malformed: list[Malformed] = []
    labels = pc.cast(pa.arange(first, first + messages.num_rows), pa.string())
    table = reader.table(message_columns(messages, labels), lambda _, entry: malformed.append(entry))
    return Batch(as_elements(table), {}, tuple(malformed))
