"""`scripts/brokers`: what tests and the tutorial rely on."""

from __future__ import annotations

import time
from pathlib import Path
from urllib.parse import urlencode
from urllib.request import Request, urlopen

import pytest
from confluent_kafka import Consumer, TopicPartition
from paho.mqtt.client import Client
from paho.mqtt.enums import CallbackAPIVersion
from tests.brokers import Broker, Message, new_topic


@pytest.mark.broker
def test_kafka_keeps_what_it_was_given_when_it_is_killed(tmp_path: Path) -> None:
    broker = Broker("kafka", tmp_path)
    addresses = broker.start()
    try:
        topic = new_topic(addresses["address"], partitions=2)
        topic.write([Message(b"a message", partition=1)])
        broker.stop(kill=True)
        assert broker.start() == addresses
        consumer = Consumer({"bootstrap.servers": topic.servers, "group.id": "nobody"})
        consumer.assign([TopicPartition(topic.name, 1, 0)])
        (message,) = consumer.consume(1, timeout=20)
        assert message.value() == b"a message"
        consumer.close()
    finally:
        broker.stop(kill=True)


def test_mosquitto_delivers(mosquitto: dict[str, str]) -> None:
    host, port = mosquitto["address"].split(":")
    received: list[bytes] = []
    client = Client(CallbackAPIVersion.VERSION2)
    client.on_message = lambda _client, _data, message: received.append(message.payload)
    client.connect(host, int(port))
    client.subscribe("brokers/tried", qos=1)
    client.publish("brokers/tried", b"a message", qos=1)
    until = time.monotonic() + 10
    while not received and time.monotonic() < until:
        client.loop(timeout=0.1)
    client.disconnect()
    assert received == [b"a message"]


def test_oxigraph_answers_queries_and_takes_updates(tmp_path: Path) -> None:
    endpoint = Broker("oxigraph", tmp_path)
    addresses = endpoint.start()
    try:
        update = Request(
            addresses["update"], b"INSERT DATA { <a:s> <a:p> 1 }", {"Content-Type": "application/sparql-update"}
        )
        assert urlopen(update, timeout=10).status == 204
        endpoint.stop()
        assert endpoint.start() == addresses
        asked = f"{addresses['query']}?{urlencode({'query': 'SELECT ?o { <a:s> <a:p> ?o }'})}"
        assert b'"value":"1"' in urlopen(asked, timeout=10).read()
    finally:
        endpoint.stop(kill=True)
