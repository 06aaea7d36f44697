"""Answers to a Kafka topic, each exactly once.

Every piece of the output is one transaction: the messages, and the number of messages that the run has written to the
topic so far. That number is the offset of a consumer group without consumers (`penstock-RUN`, for partition 0
of the topic), so Kafka commits both together or neither. RUN is a name that the first commit of the checkpoint
contains; the group and the transactional id are derived from it. A run without a checkpoint has a name, too, for as
long as it lasts.

Why the checkpoint and the topic agree after any SIGKILL, of the run or of the broker:

1. Messages leave only after the state of their batch is committed (outbox.py). What was not committed has not left.
2. What was committed and is perhaps not delivered is in the outbox, as the same bytes: no answer is evaluated twice.
3. Whoever connects, a new process or this one after an error, first initialises transactions with the same
   transactional id. The coordinator aborts an open transaction of the predecessor, finishes one that is being
   committed, and fences the predecessor, which can commit no more. So nothing is in flight from then on.
4. Then it reads the number of the group. An offset of a transaction that is not finished cannot be read (the client
   asks for stable offsets). So the number is the number of messages that `read_committed` consumers see, and the
   delivery continues with the message after it.
5. An error of any kind during a transaction, also one that leaves open whether the commit arrived, leads back to 3.

Kafka forgets the offsets of a group without members after `offsets.retention.minutes`, a week by default. The number
matters only if the run was killed between the commit of a transaction and the removal of the file of the outbox: if
that run continues only after the retention, its last messages are written again, with the same keys.
"""

from __future__ import annotations

import logging
import time
from collections import deque
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import pyarrow as pa
from confluent_kafka import OFFSET_INVALID, Consumer, KafkaError, KafkaException, Producer, TopicPartition

from penstock.rdf.addresses import Address
from penstock.rdf.kafka_settings import client_settings
from penstock.sinks.delivery import PassingError
from penstock.sinks.errors import SinkError

_SECONDS = 10.0
"""How long a request may take before the broker counts as away."""
_MOST_NOTED = 100
_ATTEMPTS = 3
_SECONDS_OF_AN_ATTEMPT = 1.0
"""How often it is asked for the topic before it counts as away."""

_SETTINGS: Mapping[str, Any] = {
    "client.id": "penstock",
    "enable.idempotence": True,
    "linger.ms": 1,
    # The client waits this long when the coordinator has not quite finished the last transaction.
    "retry.backoff.ms": 3,
    "queue.buffering.max.kbytes": 65536,
    "transaction.timeout.ms": 60_000,
    "topic.metadata.propagation.max.ms": 5_000,
    # When all brokers have been away, the client's new bootstrap forgets who the coordinator of the group is, and
    # `send_offsets_to_transaction` never returns (librdkafka 2.16).
    "metadata.recovery.strategy": "none",
}

_SILENT = logging.getLogger(f"{__name__}.client")
_SILENT.addHandler(logging.NullHandler())
_SILENT.propagate = False
"""Errors reach the run as such."""

_REFUSED = {
    KafkaError.TOPIC_AUTHORIZATION_FAILED: "may not write to the topic",
    KafkaError.GROUP_AUTHORIZATION_FAILED: "may not use the consumer group",
    KafkaError.TRANSACTIONAL_ID_AUTHORIZATION_FAILED: "may not use the transactional id",
    KafkaError.CLUSTER_AUTHORIZATION_FAILED: "may not write to this cluster",
}
_REJECTED = frozenset(
    {
        KafkaError._AUTHENTICATION,
        KafkaError.SASL_AUTHENTICATION_FAILED,
        KafkaError.UNSUPPORTED_SASL_MECHANISM,
        KafkaError.ILLEGAL_SASL_STATE,
    }
)
_FENCED = frozenset({KafkaError._FENCED, KafkaError.PRODUCER_FENCED, KafkaError.INVALID_PRODUCER_EPOCH})
_UNKNOWN = frozenset({KafkaError.UNKNOWN_TOPIC_OR_PART, KafkaError._UNKNOWN_TOPIC, KafkaError._UNKNOWN_PARTITION})
_TOO_LARGE = frozenset({KafkaError.MSG_SIZE_TOO_LARGE, KafkaError.RECORD_LIST_TOO_LARGE})


class KafkaReceiver:
    """The topic of an address, which receives content of this media type; `run` names the run."""

    def __init__(self, address: Address, run: str, media_type: str) -> None:
        self.name = address.name
        self._topic = address.path
        self._group = f"penstock-{run}"
        self._media_type = media_type.encode()
        self._noted: deque[KafkaError] = deque(maxlen=_MOST_NOTED)
        """The errors of the brokers that the threads of the client have reported since the last connection."""
        self._settings = {**_SETTINGS, **client_settings(address), "error_cb": self._noted.append}
        self._producer: Producer | None = None
        self._member: Any = None
        """What a transaction says of the group."""
        self._is_open = False
        """Whether a transaction is."""
        self._failed: list[KafkaError] = []
        """Why messages of the transaction were not delivered."""

    def connect(self) -> int:
        self.close()
        self._noted.clear()
        try:
            transactional = {"transactional.id": f"{self._group}-{self._topic}"}
            self._producer = Producer({**self._settings, **transactional}, logger=_SILENT)
            self._check_topic(self._producer)
            self._producer.init_transactions(_SECONDS)
            place = self._ask_group()
        except KafkaException as error:
            raise self._explained(error.args[0]) from None
        if place.error is not None:
            raise self._explained(place.error)
        return 0 if place.offset == OFFSET_INVALID else int(place.offset)

    def send(self, messages: pa.Table, before: int) -> None:
        """One transaction."""
        assert self._producer is not None
        self._failed.clear()
        try:
            self._producer.begin_transaction()
            self._is_open = True
            self._produce(self._producer, messages)
            place = TopicPartition(self._topic, 0, before + messages.num_rows)
            self._producer.send_offsets_to_transaction([place], self._member, _SECONDS)
            self._producer.commit_transaction(_SECONDS)
            self._is_open = False
        except KafkaException as error:
            raise self._explained((*self._failed, error.args[0])[0]) from None

    def close(self) -> None:
        """An open transaction is aborted; the coordinator does it later if the broker is away."""
        if self._producer is not None and self._is_open:
            self._producer.purge()
            with suppress(KafkaException):
                self._producer.abort_transaction(0.1)
        self._producer, self._is_open = None, False

    def _ask_group(self) -> TopicPartition:
        """The committed number of the group."""
        consumer = Consumer(self._consumer_settings(), logger=_SILENT)
        try:
            (place,) = consumer.committed([TopicPartition(self._topic, 0)], timeout=_SECONDS)
            self._member = consumer.consumer_group_metadata()
        finally:
            consumer.close()
        return place

    def _produce(self, producer: Producer, messages: pa.Table) -> None:
        columns = [messages[name].to_pylist() for name in ("key", "value", "query", "time")]
        for key, value, query, instant in zip(*columns, strict=True):
            headers = [
                ("query", query.encode()),
                ("time", str(instant).encode()),
                ("content-type", self._media_type),
            ]
            while True:
                try:
                    producer.produce(self._topic, value, key, headers=headers, on_delivery=self._deliver)
                    break
                except BufferError:  # the queue of the client is full
                    producer.poll(0.1)
                    if self._failed:
                        raise KafkaException(self._failed[0]) from None
            producer.poll(0)

    def _consumer_settings(self) -> dict[str, Any]:
        of_producer = ("enable.idempotence", "linger.ms", "queue.", "transaction", "message.", "compression", "batch.")
        settings = {name: value for name, value in self._settings.items() if not name.startswith(of_producer)}
        return {**settings, "group.id": self._group, "isolation.level": "read_committed", "enable.auto.commit": False}

    def _check_topic(self, producer: Producer) -> None:
        """Also checks that the broker answers and accepts the user: `init_transactions` would wait without a message.

        A broker may not yet know a topic that has just been created.
        """
        failure: Exception | None = None
        for _ in range(_ATTEMPTS):
            try:
                found = producer.list_topics(self._topic, timeout=_SECONDS_OF_AN_ATTEMPT).topics[self._topic]
            except KafkaException as error:
                producer.poll(0)  # lets the client report the error
                failure = self._explained(error.args[0])
                if isinstance(failure, SinkError):
                    break
                continue
            if found.error is None:
                return
            failure = self._explained(found.error)
            time.sleep(_SECONDS_OF_AN_ATTEMPT / 2)
        assert failure is not None
        try:
            raise failure from None
        finally:
            del failure  # no cycle with its own traceback, which would keep the run alive

    # Errors

    def _deliver(self, error: KafkaError | None, message: Any) -> None:
        if error is not None and not self._failed:
            self._failed.append(error)

    def _explained(self, error: KafkaError) -> Exception:
        """An error that waiting repairs, or one that it does not."""
        noted, code = list(self._noted), error.code()
        if any(one.code() in _REJECTED for one in (error, *noted)):
            return SinkError(
                f"{self.name} rejects the user or the password: write kafka://USER@HOST:PORT/TOPIC with "
                "?password-file=FILE, and check security.protocol and sasl.mechanisms"
            )
        if code in _REFUSED:
            return SinkError(f"{self.name}: this user {_REFUSED[code]}: ask for the permission (ACL)")
        if code in _UNKNOWN:
            return SinkError(f"{self.name}: there is no such topic: create it first")
        if code in _TOO_LARGE:
            return SinkError(
                f"{self.name}: a message is larger than the topic accepts: raise max.message.bytes of the topic, or "
                "divide large answers with ?message.max.bytes="
            )
        if code in _FENCED:
            return SinkError(
                f"{self.name}: another run writes with the same checkpoint, or this one was suspended for a minute: "
                "end the other one, and start this one again"
            )
        if code == KafkaError._INVALID_ARG:
            return SinkError(f"{self.name}: {error.str()}")
        return PassingError(f"{self.name} does not answer ({_reason(noted[0] if noted else error)})")


def _reason(error: KafkaError) -> str:
    """Without the address, which the client puts before it, and without its measurements."""
    text = error.str().rpartition("failed: ")[2].partition(" (after ")[0]
    return text.removeprefix("Local: ").lower()
