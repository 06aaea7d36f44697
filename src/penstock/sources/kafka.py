"""Kafka topics, read by this process. Offsets are in the positions of the run: no consumer group has any."""

from __future__ import annotations

import gc
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from itertools import pairwise
from operator import methodcaller
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from penstock.rdf.addresses import LATEST, Address
from penstock.rdf.elements import Malformed
from penstock.sources.batches import MOST_BYTES, SCHEMA, Batch, Position
from penstock.sources.kafka_client import KafkaClient
from penstock.sources.messages import MessageColumns, MessageReader
from penstock.sources.partitions import MergedPartitions

if TYPE_CHECKING:
    from confluent_kafka import KafkaError, TopicPartition


Message: TypeAlias = Any
"""A `confluent_kafka.Message`, whose declared types allow None everywhere."""

_ERROR, _PARTITION, _OFFSET = methodcaller("error"), methodcaller("partition"), methodcaller("offset")
_VALUE, _HEADERS, _TIMESTAMP = methodcaller("value"), methodcaller("headers"), methodcaller("timestamp")
"""Called for each message: what is faster than a loop in Python counts."""

_MOST_MESSAGES = 100_000
_AT_A_TIME, _FEW = 10_000, 1_000
"""So many messages are taken from the client at a time; after fewer than a few, no more are waiting."""
_MOST_WAITING = 64 << 20
"""About how many bytes wait for partitions that are behind, before those that are ahead pause."""
_TICK = 0.1
_SECONDS_BETWEEN_LOOKS = 3.0
"""How often a live topic is asked for new partitions."""


@dataclass(frozen=True, slots=True)
class KafkaTopic:
    """A topic. The position has, for each partition, the next element (the offset of its message, and its number there)
    and the greatest delivered time.

    A live topic is read until `stopped` is set; with `until=now` it ends where it ended when it was first read.
    `retry_timeout` is the number of seconds to wait for brokers that do not answer; None is without limit.
    """

    address: Address
    scope: str
    retry_timeout: float | None = None
    stopped: threading.Event = field(default_factory=threading.Event)
    can_resume: bool = field(default=True, init=False)

    @property
    def name(self) -> str:
        return self.address.name

    @property
    def is_live(self) -> bool:
        return not self.address.is_until_now

    def ended_by(self, stopped: threading.Event) -> KafkaTopic:
        return replace(self, stopped=stopped)

    def batches(self, position: Position | None = None) -> Iterator[Batch]:
        """Raises SourceError where there is no such topic, it may not be read, or the brokers stay away."""
        reader = MessageReader(self.name, self.scope, self.address.format, self.address.time)
        with closing(KafkaClient(self.address, self.retry_timeout, self.stopped)) as client:
            yield from _Reading(client, reader, position).batches()


class _Reading:
    """One reading of a topic, from a position on."""

    def __init__(self, client: KafkaClient, reader: MessageReader, position: Position | None) -> None:
        self._client = client
        self._reader = reader
        self._merged = MergedPartitions(None if position is None else position["partitions"])
        self._ends: dict[int, int] | None = None
        if position is not None and position["ends"] is not None:
            self._ends = {int(number): offset for number, offset in position["ends"].items()}
        self._is_new = position is None
        self._assigned: set[int] = set()
        self._at_end: set[int] = set()
        self._paused: set[int] = set()
        self._largest = 1 << 10
        """About how many bytes a message has."""

    def batches(self) -> Iterator[Batch]:
        self._begin(self._client.partitions())
        yield self._placed(Batch(SCHEMA.empty_table(), {}))  # so that a checkpoint knows where it began
        looked = time.monotonic()
        while not self._client.stopped.is_set():
            batch = self._merged.take(self._behind)
            if batch is not None:
                yield self._placed(batch)
            if self._ends is not None and not self._behind:
                return
            self._balance()
            self._read(self._fetched())
            is_due = self._client.is_away or time.monotonic() - looked >= _SECONDS_BETWEEN_LOOKS
            if is_due and self._ends is None:
                self._begin(self._client.partitions())
                looked = time.monotonic()
            elif self._client.is_away:
                self._client.partitions()

    @property
    def _behind(self) -> set[int]:
        return self._merged.offsets.keys() - self._at_end

    def _placed(self, batch: Batch) -> Batch:
        ends = None if self._ends is None else {str(number): offset for number, offset in self._ends.items()}
        return Batch(batch.table, {"partitions": self._merged.position, "ends": ends}, batch.malformed)

    def _begin(self, partitions: Iterable[int]) -> None:
        """Start to read partitions: at first all of them, later those that the topic has gained."""
        client, is_first = self._client, not self._assigned
        if is_first and self._is_new and client.is_until_now:
            self._ends = {}
        for number in partitions:
            if number not in self._merged and (self._ends is None or self._is_new):
                self._merged.begin(number, self._start(number, client.start if is_first and self._is_new else None))
        fresh = [number for number in self._merged.offsets if number not in self._assigned]
        if fresh:
            client.consumer.incremental_assign(self._places(fresh))
            self._assigned.update(fresh)
        for number in fresh if self._ends is not None else ():
            self._note_end(number, self._merged.offsets[number])

    def _start(self, number: int, start: str | int | None) -> int:
        """The offset at which reading of a partition starts."""
        first, last = self._client.offsets(number)
        if self._ends is not None:
            self._ends[number] = last
        if isinstance(start, int):
            return self._client.offset_at(number, start, last)
        return last if start == LATEST else first

    def _note_end(self, number: int, offset: int) -> None:
        if self._ends is not None and offset >= self._ends[number]:
            self._at_end.add(number)
            self._pause([number])

    def _fetched(self) -> list[Message]:
        """The messages that are there; waits a little for the first."""
        consumer = self._client.consumer
        first = consumer.poll(_TICK)
        if first is None:
            return []
        fetched, most = [first], max(1, min(_MOST_MESSAGES, MOST_BYTES // self._largest))
        with _no_garbage_collection():
            while len(fetched) < most:
                more = consumer.consume(min(_AT_A_TIME, most - len(fetched)), 0)
                fetched += more
                if len(more) < _FEW:
                    break
        return fetched

    def _read(self, fetched: list[Message]) -> None:
        errors = list(map(_ERROR, fetched))
        ended: dict[int, int] = {}
        if any(errors):
            ended = self._ended(fetched, errors)
            fetched = [message for message, error in zip(fetched, errors, strict=True) if error is None]
        found = {number: self._until_end(number, some) for number, some in _by_partition(fetched).items()}
        self._add({number: some for number, some in found.items() if some})
        for number in {**found, **ended}:
            self._note_place(number, ended.get(number))

    def _until_end(self, number: int, messages: list[Message]) -> list[Message]:
        end = None if self._ends is None else self._ends[number]
        if end is None or messages[-1].offset() < end:
            return messages
        return [message for message in messages if message.offset() < end]

    def _ended(self, fetched: list[Message], errors: list[KafkaError | None]) -> dict[int, int]:
        """Where partitions have ended, for now."""
        from confluent_kafka import KafkaError

        ended: dict[int, int] = {}
        for message, error in zip(fetched, errors, strict=True):
            if error is not None and error.code() == KafkaError._PARTITION_EOF:
                ended[message.partition()] = message.offset()
            elif error is not None:
                self._client.check(error)
        return ended

    def _add(self, found: dict[int, list[Message]]) -> None:
        """The next messages of partitions: decoded together, added to each."""
        if not found:
            return
        messages = [message for some in found.values() for message in some]
        numbers = np.repeat(list(found), [len(some) for some in found.values()])
        offsets = pa.concat_arrays([_offsets(some) for some in found.values()])
        columns = self._columns(messages, pa.array(numbers), offsets)
        self._largest = max(1, pc.max(pc.fill_null(pc.binary_length(columns.values), 1)).as_py())
        malformed: dict[int, list[tuple[int, Malformed]]] = {}

        def report(message: int, entry: Malformed) -> None:
            malformed.setdefault(int(numbers[message]), []).append((offsets[message].as_py(), entry))

        elements = self._reader.table(columns, report)
        message = elements["message"].combine_chunks()
        elements = elements.set_column(elements.schema.get_field_index("message"), "message", offsets.take(message))
        begin = 0
        for number, some in found.items():
            end = begin + len(some)
            first, last = np.searchsorted(message, [begin, end])
            own = elements.slice(first, last - first)
            self._merged.add(number, own, malformed.get(number, []), some[-1].offset() + 1)
            begin = end

    def _note_place(self, number: int, ended_at: int | None) -> None:
        """Note whether a partition has ended; `ended_at`: it has ended there, for now."""
        offset = self._merged.offsets[number]
        if self._ends is not None:
            self._note_end(number, max(offset, -1 if ended_at is None else ended_at))
            return
        (place,) = self._places([number])
        _, last = self._client.consumer.get_watermark_offsets(place, cached=True)
        is_at_end = (ended_at is not None and ended_at >= offset) or offset >= last >= 0
        (self._at_end.add if is_at_end else self._at_end.discard)(number)

    def _columns(self, messages: list[Message], partitions: pa.Array, offsets: pa.Array) -> MessageColumns:
        headers = list(map(_HEADERS, messages))
        types = pa.nulls(len(headers), pa.string())
        if headers.count(None) < len(headers):
            types = pa.array(map(_content_type, headers), pa.string())
        times = pa.nulls(len(messages), pa.int64())
        if self._reader.takes_times(types):
            stamps = map(_TIMESTAMP, messages)
            times = pa.array([stamp if kind else None for kind, stamp in stamps], pa.int64())
        name = self._client.name
        return MessageColumns(
            pa.array(map(_VALUE, messages), pa.large_binary()),
            times,
            types,
            pc.binary_join_element_wise(pc.cast(partitions, pa.string()), pc.cast(offsets, pa.string()), "."),
            lambda number: f"{name}, partition {partitions[number].as_py()}, offset {offsets[number].as_py()}",
        )

    # Memory

    def _balance(self) -> None:
        """Partitions that are far ahead of others pause."""
        waiting = self._merged.waiting
        if sum(waiting.values()) > _MOST_WAITING:
            behind = self._behind
            slowest = min(behind, key=lambda number: waiting[number], default=None)
            self._pause([number for number, size in waiting.items() if size and number != slowest])
        elif self._paused and sum(waiting.values()) < _MOST_WAITING // 2:
            again = [number for number in self._paused if self._ends is None or number not in self._at_end]
            self._client.consumer.resume(self._places(again))
            self._paused.difference_update(again)

    def _pause(self, numbers: list[int]) -> None:
        fresh = [number for number in numbers if number not in self._paused]
        if fresh:
            self._client.consumer.pause(self._places(fresh))
            self._paused.update(fresh)

    def _places(self, numbers: Iterable[int]) -> list[TopicPartition]:
        from confluent_kafka import TopicPartition

        return [TopicPartition(self._client.topic, number, self._merged.offsets[number]) for number in numbers]


@contextmanager
def _no_garbage_collection() -> Iterator[None]:
    """Many new messages make Python look for cycles in everything: that was half of the time to consume them."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def _by_partition(messages: list[Message]) -> dict[int, list[Message]]:
    """The messages of each partition, in their order. Those of a partition come many in a row."""
    found: dict[int, list[Message]] = {}
    partitions = np.fromiter(map(_PARTITION, messages), np.int32, len(messages))
    bounds = [0, *(np.flatnonzero(np.diff(partitions)) + 1).tolist(), len(messages)]
    for start, end in pairwise(bounds):
        if start < end:
            found.setdefault(int(partitions[start]), []).extend(messages[start:end])
    return found


def _offsets(messages: list[Message]) -> pa.Array:
    """The offsets of messages of a partition; they grow, mostly by one."""
    first, last = messages[0].offset(), messages[-1].offset()
    if last - first == len(messages) - 1:
        return pa.arange(first, last + 1)
    return pa.array(map(_OFFSET, messages), pa.int64())


def _content_type(headers: list[tuple[str, bytes]] | None) -> str | None:
    for key, value in headers or ():
        if key.lower() == "content-type" and value is not None:
            return value.decode(errors="replace")
    return None
