"""Addresses as people write them on the command line."""

from __future__ import annotations

from pathlib import Path

import pytest

from penstock.rdf.addresses import FILE, STANDARD_INPUT, Address, parse_address, refuse_endless
from penstock.rdf.errors import SourceError
from penstock.rdf.kafka_settings import client_settings, java_settings

PROV = "http://www.w3.org/ns/prov#generatedAtTime"


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("toll.tnt", Address(FILE, "toll.tnt")),
        ("toll.tnt?", Address(FILE, "toll.tnt")),
        ("-?format=trig", Address(STANDARD_INPUT, "-", format="trig")),
        ("csrbench/data?unit=1s", Address(FILE, "csrbench/data", unit_ms=1000)),
        ("data?unit=1000", Address(FILE, "data", unit_ms=1000)),
        ("data?unit=500ms&format=ttl", Address(FILE, "data", unit_ms=500, format="ttl")),
        ("data?unit=5%20min", Address(FILE, "data", unit_ms=300_000)),
        ("a.trig?time=prov:generatedAtTime", Address(FILE, "a.trig", time=PROV)),
        ("a.trig?time=http://ex.org/at?x=1#y", Address(FILE, "a.trig", time="http://ex.org/at?x=1#y")),
        ("a.trig?time=<http://ex.org/a%26b>", Address(FILE, "a.trig", time="http://ex.org/a&b")),
        ("toll/?follow&format=nq", Address(FILE, "toll/", format="nq", is_followed=True)),
        ("replay+a.tnt?speed=10", Address(FILE, "a.tnt", speed=10)),
        ("tcp://[::1]:7700", Address("tcp", "", "[::1]:7700")),
        ("kafka://h/toll", Address("kafka", "toll", "h:9092")),
        ("kafka://a,b:9093/t?until=now", Address("kafka", "t", "a:9092,b:9093", is_until_now=True)),
        (
            "kafka://ana@h:1/t?start=latest&time=record",
            Address("kafka", "t", "h:1", "ana", start="latest", time="record"),
        ),
        ("kafka://h/t?start=1970-01-01T00:00:01Z", Address("kafka", "t", "h:9092", start=1000)),
        ("kafka://h/t?security.protocol=SSL", Address("kafka", "t", "h:9092", settings={"security.protocol": "SSL"})),
        ("mqtts://ana@h/room/+/%23", Address("mqtts", "room/+/#", "h:8883", "ana")),
    ],
)
def test_what_an_address_says(text: str, address: Address) -> None:
    assert parse_address(text) == address


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("?format=tnt", "?format=tnt: the source has no name: write a file, a folder, or - for standard input"),
        ("a?fromat=tnt", "a: there is no option fromat: the options are format (as in format=tnt), unit"),
        ("a?format", "a: the option format has no value: write format=tnt"),
        ("a?follow=1", "a: the option follow is written without a value: write follow"),
        ("a?unit=", "a: the option unit has no value: write unit=1s"),
        ("a?unit=soon", "unit=soon: this is not a duration"),
        ("a?unit=0", "unit=0: this is not a duration"),
        ("a?unit=-1s", "unit=-1s: this is not a duration"),
        ("a?unit=1 fortnight", "unit=1 fortnight: this is not a duration"),
        ("a?time=record", "a: time=record: only messages have such a time"),
        ("a?security.protocol=SSL", "a: there is no option security.protocol"),
        ("replay+a?speed=0", "speed=0: this is not a speed"),
        ("replay+-", "replay+-: a replay is one of a file or folder"),
        ("replay+kafka://h/t", "replay+kafka://h/t: a replay is one of a file or folder"),
        ("kafka://h", "kafka://h: the address is written as kafka://HOST:PORT/TOPIC"),
        ("kafka://h:x/t", "kafka://h:x/t: the address is written as kafka://HOST:PORT/TOPIC"),
        ("kafka://h/t?until=1", "until=1: a stream can end with what is there now: until=now"),
        ("kafka://h/t?start=soon", "start=soon: write start=earliest, start=latest, or an instant"),
        ("tcp://h", "tcp://h: the address is written as tcp://HOST:PORT"),
        ("amqp://h/t", "amqp://h/t: there are no addresses that begin with amqp://"),
    ],
)
def test_what_is_wrong_is_said(text: str, message: str) -> None:
    with pytest.raises(SourceError) as caught:
        parse_address(text)
    assert str(caught.value).startswith(message)


class TestSecrets:
    @pytest.mark.parametrize(
        "text",
        [
            "kafka://ana:sesame@h/t",
            "kafka://h/t?sasl.password=sesame",
            "kafka://h/t?password=sesame",
            "kafka://h/t?ssl.key.password=sesame",
            "kafka://h/t?sasl.jaas.config=sesame",
            "mqtt://ana:sesame@h/t?until=now",
        ],
    )
    def test_they_are_not_in_an_address(self, text: str) -> None:
        with pytest.raises(SourceError, match="does not belong into an address") as caught:
            parse_address(text)
        assert "sesame" not in str(caught.value)

    def test_they_come_from_files(self, tmp_path: Path) -> None:
        (tmp_path / "secret").write_text("open sesame\n")
        address = parse_address(f"kafka://h/t?password-file={tmp_path}/secret&ssl.key.password-file={tmp_path}/secret")
        assert address.settings == {"sasl.password": "open sesame", "ssl.key.password": "open sesame"}
        assert "sesame" not in repr(address)
        assert address.name == "kafka://h:9092/t"
        with pytest.raises(SourceError, match=r"password-file=/none: this file cannot be read \(No such file"):
            parse_address("kafka://h/t?password-file=/none")

    def test_they_come_from_the_environment(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("PENSTOCK_KAFKA_PASSWORD", "open sesame")
        monkeypatch.setenv("PENSTOCK_MQTT_PASSWORD", "please")
        assert parse_address("kafka://h/t").settings == {"sasl.password": "open sesame"}
        assert parse_address("mqtts://h/t").settings == {"password": "please"}


def test_streams_without_end() -> None:
    refuse_endless(map(parse_address, ["a", "-", "replay+a", "kafka://h/t?until=now"]))
    for text, ending in {"a/?follow": "folder", "tcp://h:1": "folder", "kafka://h/t": r"\?until=now"}.items():
        with pytest.raises(SourceError, match=f"has no end, .*{ending}$"):
            refuse_endless([parse_address(text)])


def test_settings_of_clients(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PENSTOCK_KAFKA_PASSWORD", 'a "word"')
    (tmp_path / "ca.pem").write_text("CERTIFICATE")
    address = parse_address(
        f"kafka://ana@h/t?security.protocol=SASL_SSL&sasl.mechanisms=SCRAM-SHA-256&ssl.ca.location={tmp_path}/ca.pem"
    )
    assert client_settings(address) == {
        "bootstrap.servers": "h:9092",
        "sasl.mechanisms": "SCRAM-SHA-256",
        "sasl.password": 'a "word"',
        "sasl.username": "ana",
        "security.protocol": "SASL_SSL",
        "ssl.ca.location": f"{tmp_path}/ca.pem",
    }
    assert java_settings(address) == {
        "bootstrap.servers": "h:9092",
        "sasl.jaas.config": "org.apache.kafka.common.security.scram.ScramLoginModule required "
        'username="ana" password="a \\"word\\"";',
        "sasl.mechanism": "SCRAM-SHA-256",
        "security.protocol": "SASL_SSL",
        "ssl.truststore.certificates": "CERTIFICATE",
        "ssl.truststore.type": "PEM",
    }
