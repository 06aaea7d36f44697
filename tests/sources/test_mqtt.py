"""MQTT topics read by this process, from a real broker."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from paho.mqtt.client import Client
from paho.mqtt.enums import CallbackAPIVersion, MQTTProtocolVersion
from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.properties import Properties
from tests.brokers import Broker
from tests.sources.collected import joined
from tests.sources.test_kafka import line, live, wait_until

from penstock.rdf.addresses import parse_address
from penstock.rdf.errors import SourceError
from penstock.sources.message_streams import MessageStream


def publish(address: str, messages: Iterable[tuple[str, str]], content_type: str | None = None) -> None:
    """Topics and contents; returns when the broker has them."""
    client = Client(CallbackAPIVersion.VERSION2, protocol=MQTTProtocolVersion.MQTTv5)
    host, port = address.split(":")
    client.connect(host, int(port))
    client.loop_start()
    properties = Properties(PacketTypes.PUBLISH)
    if content_type is not None:
        properties.ContentType = content_type
    for topic, content in messages:
        client.publish(topic, content, qos=1, properties=properties).wait_for_publish(10)
    client.disconnect()
    client.loop_stop()


def source(address: str, **options: Any) -> MessageStream:
    return MessageStream(parse_address(address), "s", **options)


def test_messages_of_a_filter(mosquitto: dict[str, str]) -> None:
    room = uuid4().hex
    with live(source(f"mqtt://{mosquitto['address']}/{room}/+/temperature")) as batches:

        def is_heard() -> bool:
            publish(mosquitto["address"], [(f"{room}/a/temperature", line(1))])
            return bool(batches)

        wait_until(is_heard)
        publish(mosquitto["address"], [(f"{room}/b/temperature", line(2)), (f"{room}/b/light", line(9))])
        publish(mosquitto["address"], [(f"{room}/b/temperature", "oops")])
        publish(mosquitto["address"], [(f"{room}/c/temperature", "<a:s> <a:p> 1 .")], "text/turtle")
        wait_until(lambda: joined(batches).times[-1] > 1_700_000_000_000)
    assert set(joined(batches).times[:-1]) == {1, 2}
    assert [entry.place for entry in joined(batches).malformed] == [f"MQTT topic {room}/b/temperature"]


@pytest.mark.broker
def test_the_broker_goes_away_and_comes_back(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    broker = Broker("mosquitto", tmp_path)
    address = broker.start()["address"]
    try:
        with caplog.at_level(logging.WARNING, "penstock"), live(source(f"mqtt://{address}/t")) as batches:

            def is_heard() -> bool:
                publish(address, [("t", line(1))])
                return bool(batches)

            wait_until(is_heard)
            broker.stop(kill=True)
            wait_until(lambda: "does not answer" in caplog.text)
            broker.start()

            def is_heard_again() -> bool:
                publish(address, [("t", line(2))])
                return 2 in joined(batches).times

            wait_until(is_heard_again)
            assert "answers again" in caplog.text
    finally:
        broker.stop(kill=True)


def test_credentials(mosquitto: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "wrong").write_text("friend")
    address = f"mqtt://{mosquitto['user']}@{mosquitto['protected']}/t?password-file={tmp_path}/wrong"
    with pytest.raises(SourceError, match="rejects the user or the password") as caught:
        list(source(address).batches())
    assert "friend" not in str(caught.value)
    with pytest.raises(SourceError, match=r"does not answer \(connection refused\); tried for 0.3 s"):
        list(source("mqtt://127.0.0.1:1/t", retry_timeout=0.3).batches())
