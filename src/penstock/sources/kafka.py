"""Kafka topics, read by this process. Offsets are in the positions of the run: no consumer group has any."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc

from penstock.rdf.addresses import LATEST, Address
from penstock.rdf.elements import Malformed
from penstock.sources.batches import MOST_BYTES, SCHEMA, Batch, Position
from penstock.sources.kafka_client import KafkaClient
from penstock.sources.messages import MessageColumns, MessageReader
from penstock.sources.partitions import MergedPartitions

if TYPE_CHECKING:
    from confluent_kafka import TopicPartition


Message: TypeAlias = Any
"""A `confluent_kafka.Message`, whose declared types allow None everywhere."""


_MOST_MESSAGES = 20_000
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
        first = self._client.consumer.poll(_TICK)
        if first is None:
            return []
        most = max(1, min(_MOST_MESSAGES, MOST_BYTES // self._largest))
        return [first, *self._client.consumer.consume(most, 0)]

    def _read(self, fetched: list[Message]) -> None:
        from confluent_kafka import KafkaError

        found: dict[int, list[Message]] = {}
        ended: dict[int, int] = {}
        for message in fetched:
            error = message.error()
            if error is None:
                found.setdefault(message.partition(), []).append(message)
            elif error.code() == KafkaError._PARTITION_EOF:
                found.setdefault(message.partition(), [])
                ended[message.partition()] = message.offset()
            else:
                self._client.check(error)
        for number, messages in found.items():
            self._add(number, messages, ended.get(number))

    def _add(self, number: int, messages: list[Message], ended_at: int | None) -> None:
        """The next messages of a partition; `ended_at`: it has ended there, for now."""
        end = None if self._ends is None else self._ends[number]
        messages = [message for message in messages if end is None or message.offset() < end]
        if messages:
            columns = _columns(messages, self._client.name)
            self._largest = max(1, pc.max(pc.fill_null(pc.binary_length(columns.values), 1)).as_py())
            malformed: list[tuple[int, Malformed]] = []
            offsets = pa.array([message.offset() for message in messages], pa.int64())
            elements = self._reader.table(columns, lambda n, entry: malformed.append((messages[n].offset(), entry)))
            place = elements.schema.get_field_index("message")
            elements = elements.set_column(place, "message", offsets.take(elements["message"]))
            self._merged.add(number, elements, malformed, messages[-1].offset() + 1)
        offset = self._merged.offsets[number]
        if self._ends is not None:
            self._note_end(number, max(offset, -1 if ended_at is None else ended_at))
            return
        (place,) = self._places([number])
        _, last = self._client.consumer.get_watermark_offsets(place, cached=True)
        is_at_end = (ended_at is not None and ended_at >= offset) or offset >= last >= 0
        (self._at_end.add if is_at_end else self._at_end.discard)(number)

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


def _columns(messages: list[Message], name: str) -> MessageColumns:
    stamps = [message.timestamp() for message in messages]
    partition = messages[0].partition()
    offsets = [message.offset() for message in messages]
    return MessageColumns(
        pa.array([message.value() for message in messages], pa.large_binary()),
        pa.array([stamp if kind else None for kind, stamp in stamps], pa.int64()),
        pa.array([_content_type(message.headers()) for message in messages], pa.string()),
        pa.array([f"{partition}.{offset}" for offset in offsets], pa.string()),
        lambda number: f"{name}, partition {partition}, offset {offsets[number]}",
    )


def _content_type(headers: list[tuple[str, bytes]] | None) -> str | None:
    for key, value in headers or ():
        if key.lower() == "content-type" and value is not None:
            return value.decode(errors="replace")
    return None
