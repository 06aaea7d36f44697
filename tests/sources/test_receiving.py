"""Messages that are received into a spool and read from there: nothing is lost, nothing doubled."""

from __future__ import annotations

import logging
from contextlib import closing
from pathlib import Path
from uuid import uuid4

import pytest
from tests.brokers import Broker, post
from tests.sources.collected import joined
from tests.sources.test_kafka import line, live, wait_until
from tests.sources.test_mqtt import publish, source
from tests.sources.test_web_streams import answers, heard

from penstock.rdf.addresses import parse_address
from penstock.rdf.credentials import ServiceAuth
from penstock.rdf.errors import SourceError
from penstock.sources.receiving import SpoolReceiver
from penstock.sources.spool import SpoolReader


def in_spool(folder: Path) -> list[str]:
    return [content.decode() for content in SpoolReader(folder).read(0)["content"].to_pylist()]


def is_subscribed(folder: Path) -> bool:
    return (folder / "session.subscribed").exists()


def test_what_is_published_while_the_run_is_away(mosquitto: dict[str, str], tmp_path: Path) -> None:
    server, topic = mosquitto["address"], uuid4().hex
    stream = source(f"mqtt://{server}/{topic}", spool=tmp_path)
    with live(stream) as batches:
        wait_until(lambda: is_subscribed(tmp_path))
        publish(server, [(topic, line(time)) for time in range(5)])
        wait_until(lambda: len(joined(batches).times) == 5)
    position = batches[-1].position
    publish(server, [(topic, line(time)) for time in range(5, 9)])
    again = source(f"mqtt://{server}/{topic}", spool=tmp_path)
    with live(again, position) as batches:
        wait_until(lambda: len(joined(batches).times) == 4)
        publish(server, [(topic, line(9))])
        wait_until(lambda: len(joined(batches).times) == 5)
    assert joined(batches).times == [5, 6, 7, 8, 9]
    assert in_spool(tmp_path) == [line(time) for time in range(10)]


def test_a_message_that_was_kept_and_not_acknowledged(
    mosquitto: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As if the process had been killed between the two."""
    server, topic = mosquitto["address"], uuid4().hex
    address = parse_address(f"mqtt://{server}/{topic}")
    with monkeypatch.context() as patched:
        patched.setattr("penstock.sources.mqtt.MqttSubscription.acknowledge", lambda self, arrivals: None)
        with closing(SpoolReceiver(address, ServiceAuth(), tmp_path, None)):
            wait_until(lambda: is_subscribed(tmp_path))
            publish(server, [(topic, line(time)) for time in range(5)] + [(topic, line(4))])
            wait_until(lambda: len(in_spool(tmp_path)) == 6)
    for time in (5, 6):
        with closing(SpoolReceiver(address, ServiceAuth(), tmp_path, None)):
            publish(server, [(topic, line(time))])
            wait_until(lambda: line(time) in in_spool(tmp_path))  # noqa: B023
    assert in_spool(tmp_path) == [line(time) for time in (0, 1, 2, 3, 4, 4, 5, 6)]


def test_the_broker_has_forgotten_the_session(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    broker = Broker("mosquitto", tmp_path / "broker")
    address = parse_address(f"mqtt://{broker.start()['address']}/t")
    spool = tmp_path / "spool"
    try:
        with closing(SpoolReceiver(address, ServiceAuth(), spool, None)):
            wait_until(lambda: is_subscribed(spool))
        broker.stop()
        (tmp_path / "broker" / "mosquitto" / "mosquitto.db").unlink()
        broker.start()
        with caplog.at_level(logging.WARNING, "penstock"), closing(SpoolReceiver(address, ServiceAuth(), spool, None)):
            wait_until(lambda: "has not kept the session of this run" in caplog.text)
    finally:
        broker.stop(kill=True)


def test_events_continue_behind_the_last_one_in_the_spool(web: dict[str, str], tmp_path: Path) -> None:
    name = uuid4().hex
    with heard(web, "sse", name, spool=tmp_path) as batches:
        pass
    position = batches[-1].position
    known = len(in_spool(tmp_path))
    for time in range(1, 5):
        post(f"{web['http']}/sse/{name}", line(time))
    with live(source(f"{web['sse']}/{name}", spool=tmp_path), position) as batches:
        wait_until(lambda: 4 in joined(batches).times)
    assert [time for time in joined(batches).times if time] == [1, 2, 3, 4]
    assert len(in_spool(tmp_path)) >= known + 4
    assert sum(line(0) != content for content in in_spool(tmp_path)) == 4


def test_a_stream_that_has_ended_is_not_received_again(tmp_path: Path) -> None:
    with answers([b"data: " + line(1).encode() + b"\n\n"]) as address:
        assert joined(source(address, spool=tmp_path).batches()).times == [1]
    assert joined(source(address, spool=tmp_path).batches()).times == [1]


def test_errors_are_raised_where_the_spool_is_read(tmp_path: Path, web: dict[str, str]) -> None:
    with pytest.raises(SourceError, match="answered 404 Not Found"):
        list(source(f"sse+{web['http']}/nothing", spool=tmp_path / "a").batches())
    (tmp_path / "file").touch()
    with pytest.raises(SourceError, match="messages cannot be kept there"):
        list(source(f"{web['sse']}/t", spool=tmp_path / "file").batches())
