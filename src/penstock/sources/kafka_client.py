"""A client of Kafka's brokers for one topic: connects, asks, and waits while the brokers are away."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from penstock.rdf.addresses import Address
from penstock.rdf.errors import SourceError
from penstock.rdf.kafka_settings import client_settings
from penstock.sources.waiting import Waiting

if TYPE_CHECKING:
    from confluent_kafka import Consumer, KafkaError, TopicPartition

Answer = TypeVar("Answer")

_SETTINGS: dict[str, Any] = {
    "client.id": "penstock",
    "group.id": "penstock",  # the client wants one, and it is never used
    "enable.auto.commit": False,
    "enable.auto.offset.store": False,
    "auto.offset.reset": "error",
    "enable.partition.eof": True,
    "isolation.level": "read_committed",
    "fetch.wait.max.ms": 100,
    # The client would fetch a megabyte at a time, and pause for a second when it is ahead of us.
    "fetch.message.max.bytes": 8 << 20,
    "fetch.queue.backoff.ms": 5,
    "queued.max.messages.kbytes": 32 << 10,
    "receive.message.max.bytes": 512 << 20,
    "reconnect.backoff.max.ms": 5000,
    "log_level": 0,
}

_SECONDS_TO_ANSWER = 5.0


class KafkaClient:
    """A consumer of a topic, and whether the brokers answer.

    `retry_timeout` is the number of seconds to wait for them, None without a limit; `stopped` ends the waiting.
    """

    def __init__(self, address: Address, retry_timeout: float | None, stopped: threading.Event) -> None:
        self.name = address.name
        self.topic = address.path
        self.start = address.start
        self.is_until_now = address.is_until_now
        self.stopped = stopped
        self._waiting = Waiting(address.name, retry_timeout, stopped)
        self._noted: KafkaError | None = None
        self.consumer = self._consumer(client_settings(address))

    def _consumer(self, settings: dict[str, str]) -> Consumer:
        try:
            from confluent_kafka import Consumer, KafkaException
        except ImportError:
            raise SourceError(f"{self.name}: Kafka needs a package: pip install penstock[kafka]") from None
        try:
            return Consumer({**_SETTINGS, **settings, "error_cb": self._note})
        except KafkaException as error:
            raise SourceError(f"{self.name}: {error.args[0].str()}") from None

    def close(self) -> None:
        self.consumer.close()

    def partitions(self) -> list[int]:
        """The numbers of the partitions; waits while the brokers are away. Empty if the run was stopped meanwhile."""
        from confluent_kafka import KafkaException

        while not self.stopped.is_set():
            try:
                found = self.consumer.list_topics(self.topic, timeout=_SECONDS_TO_ANSWER).topics[self.topic]
                if found.error is not None:
                    raise KafkaException(found.error)
            except KafkaException as error:
                self.consumer.poll(0)  # lets the client report the error
                self.wait(error.args[0])
            else:
                self.answered()
                return sorted(found.partitions)
        return []

    def offsets(self, partition: int) -> tuple[int, int]:
        """The first offset of a partition, and the one behind its last message."""

        def ask(place: TopicPartition) -> tuple[int, int]:
            found: tuple[int, int] = self.consumer.get_watermark_offsets(place, timeout=_SECONDS_TO_ANSWER)
            return found

        return self._asked(ask, partition) or (0, 0)

    def offset_at(self, partition: int, instant: int, last: int) -> int:
        """The offset of the first message whose timestamp is not before an instant; `last` if there is none."""

        def ask(place: TopicPartition) -> int:
            (found,) = self.consumer.offsets_for_times([place], timeout=_SECONDS_TO_ANSWER)
            return int(found.offset)

        found = self._asked(ask, partition, instant)
        return last if found is None or found < 0 else found

    def _asked(self, ask: Callable[[TopicPartition], Answer], partition: int, offset: int = 0) -> Answer | None:
        """The answer of the brokers about a partition; None if the run is stopped while they are away."""
        from confluent_kafka import KafkaException, TopicPartition

        while not self.stopped.is_set():
            try:
                return ask(TopicPartition(self.topic, partition, offset))
            except KafkaException as error:
                self.consumer.poll(0)
                self.wait(error.args[0])
        return None

    # Brokers that are away

    @property
    def is_away(self) -> bool:
        return self._noted is not None

    def _note(self, error: KafkaError) -> None:
        from confluent_kafka import KafkaError

        known = self._noted
        if error.code() in (KafkaError._ALL_BROKERS_DOWN, *_rejections()) and (
            known is None or known.code() not in _rejections()
        ):
            self._noted = error

    def check(self, error: KafkaError) -> None:
        """Raises SourceError for an error that waiting does not repair."""
        from confluent_kafka import KafkaError

        codes = {error.code(), *(() if self._noted is None else (self._noted.code(),))}
        if codes & _rejections():
            raise SourceError(
                f"{self.name} rejects the user or the password: check sasl.username, password-file, "
                "security.protocol and sasl.mechanism"
            )
        if error.code() == KafkaError._AUTO_OFFSET_RESET:
            raise SourceError(
                f"{self.name}: messages that were not read yet are gone ({error.str()}): the topic keeps them too "
                "short a time; begin anew without this checkpoint, or with another ?start="
            )
        if error.code() in (KafkaError.UNKNOWN_TOPIC_OR_PART, KafkaError._UNKNOWN_TOPIC, KafkaError._UNKNOWN_PARTITION):
            raise SourceError(f"{self.name}: there is no such topic: create it, or check its name")
        if error.code() == KafkaError.TOPIC_EXCEPTION:
            raise SourceError(f"{self.name}: {self.topic!r} cannot be the name of a topic")
        if error.code() == KafkaError.TOPIC_AUTHORIZATION_FAILED:
            raise SourceError(f"{self.name}: this user may not read the topic: ask for the permission (ACL)")
        if error.fatal():
            raise SourceError(f"{self.name}: {error.str()}")

    def wait(self, error: KafkaError) -> None:
        """A pause, longer each time. Raises SourceError if waiting does not help, or has taken too long."""
        self.check(error)
        self._waiting.pause((self._noted or error).str())

    def answered(self) -> None:
        self._noted = None
        self._waiting.end()


def _rejections() -> frozenset[int]:
    from confluent_kafka import KafkaError

    return frozenset(
        {
            KafkaError._AUTHENTICATION,
            KafkaError._SSL,
            KafkaError.SASL_AUTHENTICATION_FAILED,
            KafkaError.UNSUPPORTED_SASL_MECHANISM,
            KafkaError.ILLEGAL_SASL_STATE,
        }
    )
