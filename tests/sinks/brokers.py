"""Topics of the brokers that tests share, and what consumers read there."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple
from uuid import uuid4

from paho.mqtt.client import Client
from paho.mqtt.enums import CallbackAPIVersion, MQTTProtocolVersion
from paho.mqtt.subscribeoptions import SubscribeOptions


class Received(NamedTuple):
    key: str
    value: bytes
    headers: dict[str, str]


def new_topic(servers: str, partitions: int = 3, **settings: str) -> str:
    """A Kafka topic that nobody else uses."""
    name = f"t-{uuid4().hex}"
    make_topic(servers, name, partitions, **settings)
    return name


def make_topic(servers: str, name: str, partitions: int = 3, **settings: str) -> None:
    from confluent_kafka.admin import AdminClient, NewTopic

    topic = NewTopic(name, partitions, config={key.replace("_", "."): value for key, value in settings.items()})
    admin = AdminClient({"bootstrap.servers": servers})
    for made in admin.create_topics([topic]).values():
        made.result(30)


def consumed(servers: str, topic: str) -> list[Received]:
    """The messages of a topic that a `read_committed` consumer sees, those of each partition in order."""
    from confluent_kafka import Consumer, KafkaError, TopicPartition

    consumer = Consumer(
        {
            "bootstrap.servers": servers,
            "group.id": uuid4().hex,
            "isolation.level": "read_committed",
            "enable.partition.eof": True,
        }
    )
    places = [TopicPartition(topic, number, 0) for number in consumer.list_topics(topic, 30).topics[topic].partitions]
    consumer.assign(places)
    found: list[Received] = []
    read: set[int] = set()
    while len(read) < len(places):
        message = consumer.poll(30)
        assert message is not None, "a transaction is open"
        if message.error() is None:
            headers = {name: value.decode() for name, value in message.headers() or []}
            found.append(Received(message.key().decode(), message.value(), headers))
        else:
            assert message.error().code() == KafkaError._PARTITION_EOF, message.error().str()
            read.add(message.partition())
    consumer.close()
    return found


@contextmanager
def subscribed(address: str, topic: str) -> Iterator[list[Received]]:
    """The messages of an MQTT topic, from now on."""
    host, _, port = address.partition(":")
    found: list[Received] = []
    ready = threading.Event()
    client = Client(CallbackAPIVersion.VERSION2, protocol=MQTTProtocolVersion.MQTTv5)

    def take(client: Client, data: Any, message: Any) -> None:
        properties = dict(message.properties.UserProperty)
        found.append(Received(properties.pop("key"), message.payload, properties))

    client.on_message = take
    client.on_connect = lambda *_: client.subscribe(topic, options=SubscribeOptions(qos=1))
    client.on_subscribe = lambda *_: ready.set()
    client.connect(host, int(port))
    client.loop_start()
    assert ready.wait(20)
    yield found
    client.disconnect()
    client.loop_stop()


def eventually(found: list[Received], number: int) -> None:
    """Waits until there are so many messages."""
    until = time.monotonic() + 20
    while len(found) < number and time.monotonic() < until:
        time.sleep(0.01)
