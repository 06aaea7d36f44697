"""Brokers and endpoints that receive answers: what arrives there, and what is said of each mistake."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyoxigraph as ox
import pytest
from tests.brokers import Broker
from tests.endpoint import SparqlServer, sparql_server
from tests.sinks.brokers import Received, consumed, eventually, new_topic, subscribed
from tests.sinks.evaluations import CONSTRUCT, SELECT, TERMS, constructed, ex
from tests.sinks.test_delivery import numbered
from tests.sinks.webhooks import webhook

from penstock.algebra.model import QueryForm
from penstock.rdf.credentials import service_auth
from penstock.rdf.result_batches import ResultBatch
from penstock.rdf.results import Evaluation, from_json_line
from penstock.sinks import SinkError, open_sink
from penstock.sinks.delivery import Retries
from penstock.sinks.opening import Sink, SinkSettings

Kept = dict[str, Any]


def opened(
    address: str,
    format: str = "jsonl",
    form: QueryForm = SELECT,
    *,
    outbox: Path | None = None,
    position: Any = None,
    report: Callable[[str], None] = lambda sentence: None,
    timeout: float | None = 20.0,
    auth: str = "",
) -> Sink:
    known = service_auth([auth] if auth else [])
    settings = SinkSettings(None if outbox is None else (outbox, 0), Retries(timeout, report), known)
    return open_sink(address, format, form, position=position, settings=settings)


def write(sink: Sink, *evaluations: Evaluation) -> None:
    for evaluation in evaluations:
        sink.write(ResultBatch.of(evaluation))
    sink.flush()


def evaluated(received: list[Received]) -> list[Evaluation]:
    return sorted((from_json_line(one.value.decode()) for one in received), key=lambda one: one.time)


# Kafka


def test_kafka_has_each_answer_with_its_key(kafka: dict[str, str]) -> None:
    topic = new_topic(kafka["address"])
    with opened(f"kafka://{kafka['address']}/{topic}") as sink:
        write(sink, *numbered(1, 2))
        write(sink, *numbered(3))
    found = consumed(kafka["address"], topic)
    assert evaluated(found) == numbered(1, 2, 3)
    assert {one.key for one in found} == {"q/1/0", "q/2/0", "q/3/0"}
    assert found[0].headers == {"query": "q", "time": found[0].key.split("/")[1], "content-type": "application/json"}


def test_kafka_messages_wait_for_the_commit_and_are_there_once(kafka: dict[str, str], tmp_path: Path) -> None:
    """The process is gone between the transaction and the removal of the outbox's file: only Kafka knows."""
    topic = new_topic(kafka["address"])
    address = f"kafka://{kafka['address']}/{topic}"
    killed = opened(address, outbox=tmp_path)
    write(killed, *numbered(1, 2))
    assert consumed(kafka["address"], topic) == []
    committed = killed.position()
    (file,) = tmp_path.iterdir()
    content = file.read_bytes()
    killed.deliver()
    assert evaluated(consumed(kafka["address"], topic)) == numbered(1, 2)
    file.write_bytes(content)
    again = opened(address, outbox=tmp_path, position=committed)
    assert not file.exists()
    write(again, *numbered(3))
    again.position()
    again.deliver()
    again.close()
    assert evaluated(consumed(kafka["address"], topic)) == numbered(1, 2, 3)


def test_a_transaction_that_was_left_open_does_not_count(kafka: dict[str, str], tmp_path: Path) -> None:
    """The process is gone in the middle of a transaction, and its successor aborts it."""
    topic = new_topic(kafka["address"])
    address = f"kafka://{kafka['address']}/{topic}"
    killed = opened(address, outbox=tmp_path)
    write(killed, *numbered(1, 2))
    committed = killed.position()
    receiver = killed._delivery._receiver  # type: ignore[attr-defined]
    receiver._producer.begin_transaction()
    (messages,) = killed._outbox.messages()  # type: ignore[attr-defined]
    receiver._produce(receiver._producer, messages)
    receiver._producer.flush(10)
    opened(address, outbox=tmp_path, position=committed).close()
    assert evaluated(consumed(kafka["address"], topic)) == numbered(1, 2)


def test_two_runs_do_not_write_with_the_same_checkpoint(kafka: dict[str, str], tmp_path: Path) -> None:
    address = f"kafka://{kafka['address']}/{new_topic(kafka['address'])}"
    first = opened(address, outbox=tmp_path)
    second = opened(address, outbox=tmp_path, position=first.position())
    write(first, *numbered(3))
    first.position()
    with pytest.raises(SinkError, match="another run writes with the same checkpoint"):
        first.deliver()
    second.close()


def test_a_kafka_message_has_no_more_bytes_than_it_may(kafka: dict[str, str]) -> None:
    topic = new_topic(kafka["address"], 1)
    rows = tuple((ex("gate"), ex("x" * 200 + str(number))) for number in range(10_000))
    with opened(f"kafka://{kafka['address']}/{topic}") as sink:
        write(sink, Evaluation("q", 5, ("gate", "cars"), rows))
    found = consumed(kafka["address"], topic)
    assert len(found) > 2
    assert tuple(row for one in evaluated(found) for row in one.rows or ()) == rows
    small = new_topic(kafka["address"], 1, max_message_bytes="1000")
    with pytest.raises(SinkError, match="a message is larger than the topic accepts"):
        write(opened(f"kafka://{kafka['address']}/{small}"), Evaluation("q", 5, ("gate", "cars"), rows[:20]))
    with opened(f"kafka://{kafka['address']}/{small}?message.max.bytes=1000") as sink:
        write(sink, Evaluation("q", 5, ("gate", "cars"), rows[:20]))
    assert tuple(row for one in evaluated(consumed(kafka["address"], small)) for row in one.rows or ()) == rows[:20]


def test_mistakes_with_kafka(kafka: dict[str, str], tmp_path: Path) -> None:
    servers, topic = kafka["address"], new_topic(kafka["address"])
    (tmp_path / "password").write_text("wrong\n")
    sasl = "security.protocol=SASL_PLAINTEXT&sasl.mechanisms=PLAIN"
    for address, message in {
        f"kafka://{servers}/nowhere": "there is no such topic: create it first",
        f"kafka://{servers}": "the address is written as kafka://HOST:PORT/TOPIC",
        f"kafka://{servers}/{topic}?linger.mss=1": 'No such configuration property: "linger.mss"',
        f"kafka://{servers}/{topic}?colour=red": "there is no option colour: the options are format",
        f"kafka://{servers}/{topic}?start=latest": "of the options of a stream, answers have format= only",
        f"kafka://ana:secret@{servers}/{topic}": "a password does not belong into an address",
        f"kafka://{servers}/{topic}?format=table": "table cannot be sent as messages: choose jsonl, csv",
        f"kafka://reader@{kafka['sasl']}/{topic}?{sasl}&password-file={tmp_path / 'password'}": "rejects the user",
        f"kafka://reader@{kafka['sasl']}/{topic}?{sasl}&password-file={tmp_path / 'none'}": "this file cannot be read",
    }.items():
        with pytest.raises(SinkError, match=message) as caught:
            opened(address)
        assert "wrong" not in str(caught.value)
    (tmp_path / "password").write_text(kafka["password"])
    opened(f"kafka://reader@{kafka['sasl']}/{topic}?{sasl}&password-file={tmp_path / 'password'}").close()


def test_a_kafka_broker_that_is_not_there() -> None:
    told: list[str] = []
    with pytest.raises(SinkError, match="does not answer"):
        opened("kafka://127.0.0.1:1/t", timeout=0.1, report=told.append)
    assert told == ["kafka://127.0.0.1:1/t does not answer (connection refused); waiting for it"]


# MQTT


def test_mqtt_has_each_answer_with_its_key(mosquitto: dict[str, str], tmp_path: Path) -> None:
    with subscribed(mosquitto["address"], "answers/jsonl") as found:
        with opened(f"mqtt://{mosquitto['address']}/answers/jsonl") as sink:
            write(sink, *numbered(*range(2000)))
        eventually(found, 2000)
    assert evaluated(found) == numbered(*range(2000))
    assert found[7].key == "q/7/0"
    assert found[7].headers == {"query": "q", "time": "7"}


def test_mistakes_with_mqtt(mosquitto: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    protected = mosquitto["protected"]
    for address, message in {
        f"mqtt://{protected}/a": r"rejects the user or the password \(not authorized\): write mqtt://USER@HOST",
        f"mqtt://{mosquitto['address']}/a/%23": "results go to a single topic, without",
        f"mqtt://{mosquitto['address']}/": "the address is written as mqtt://HOST/TOPIC",
        "mqtt://localhost:one/a": "the address is written as mqtt://HOST/TOPIC",
    }.items():
        with pytest.raises(SinkError, match=message):
            opened(address)
    with pytest.raises(SinkError, match=r"does not answer \(connection refused\)"):
        opened("mqtt://127.0.0.1:1/a", timeout=0.1)
    monkeypatch.setenv("PENSTOCK_MQTT_PASSWORD", mosquitto["password"])
    opened(f"mqtt://{mosquitto['user']}@{protected}/a").close()


@pytest.mark.broker
def test_an_mqtt_broker_that_goes_away_and_comes_back(tmp_path: Path) -> None:
    broker = Broker("mosquitto", tmp_path)
    address = f"mqtt://{broker.start()['address']}/answers"
    told: list[str] = []
    sink = opened(address, report=told.append, timeout=None)
    try:
        write(sink, *numbered(1))
        broker.stop(kill=True)
        writing = threading.Thread(target=write, args=(sink, *numbered(2, 3)))
        writing.start()
        writing.join(1)
        assert writing.is_alive()
        broker.start()
        writing.join(20)
        assert not writing.is_alive()
    finally:
        sink.close()
        broker.stop(kill=True)
    assert told[0].startswith(address)
    assert told[0].endswith("; waiting for it")
    assert "takes messages again" in told[1]


# Webhooks


def test_a_webhook_receives_each_answer_with_its_key() -> None:
    with webhook() as hook:
        with opened(hook.address) as sink:
            write(sink, *numbered(1, 2))
        with opened(f"{hook.address}?user=7&format=trig", form=CONSTRUCT, auth=f"{hook.address}=Bearer abc") as sink:
            write(sink, constructed(3, ex("a")))
    assert evaluated(hook.received[:2]) == numbered(1, 2)
    assert [one.key for one in hook.received] == ["q/1/0", "q/2/0", "a query/3/0"]
    assert hook.received[0].headers["Content-Type"] == "application/json"
    assert hook.received[0].headers["Penstock-Query"] == "q"
    assert hook.received[0].headers["Penstock-Time"] == "1"
    assert hook.received[2].headers["Content-Type"] == "application/trig"
    assert hook.received[2].headers["Authorization"] == "Bearer abc"


def test_a_webhook_that_is_busy_is_asked_again() -> None:
    told: list[str] = []
    with webhook() as hook:
        hook.statuses = [200, 503, 429, 500]
        with opened(hook.address, report=told.append) as sink:
            write(sink, *numbered(1, 2, 3))
    assert evaluated(hook.received) == numbered(1, 2, 3)
    assert told == [
        f"{hook.address} answered 503 Service Unavailable; waiting for it",
        f"{hook.address} takes messages again, after 0 seconds",
    ] or told[1].startswith(f"{hook.address} takes messages again, after")


@pytest.mark.parametrize(
    ("status", "message"),
    [
        (400, r"answered 400 Bad Request: it rejects the answer \(too many cars\)"),
        (401, "answered 401 Unauthorized: it requires a user and password"),
        (404, r"answered 404 Not Found: is this the right address for POST requests\?"),
        (413, "answered 413"),
    ],
)
def test_a_webhook_that_refuses_ends_the_run_and_nothing_is_lost(status: int, message: str, tmp_path: Path) -> None:
    with webhook() as hook:
        sink = opened(hook.address, outbox=tmp_path)
        write(sink, *numbered(1, 2, 3))
        committed = sink.position()
        hook.statuses = [200, status]
        with pytest.raises(SinkError, match=message):
            sink.deliver()
        sink.close()
        opened(hook.address, outbox=tmp_path, position=committed).close()
    assert [one.key for one in hook.received] == ["q/1/0", "q/1/0", "q/2/0", "q/3/0"]


# SPARQL Update


def graphs(server: SparqlServer) -> set[str]:
    return {graph.value for graph in server.store.named_graphs() if isinstance(graph, ox.NamedNode)}


def test_an_endpoint_has_a_graph_for_each_answer() -> None:
    with sparql_server() as server:
        for _ in range(2):
            with opened(f"sparql+{server.address}", form=CONSTRUCT) as sink:
                write(sink, constructed(8000, *TERMS[:6]), constructed(9000, ex("b")))
            assert graphs(server) == {"urn:penstock:a%20query:8000", "urn:penstock:a%20query:9000"}
            assert len(server.store) == 2 + 6 + 1, "the same answers again change nothing"
        dated = server.store.query("SELECT ?graph ?time { ?graph <http://www.w3.org/ns/prov#generatedAtTime> ?time }")
        assert {(row["graph"].value, row["time"].value) for row in dated} == {  # type: ignore[union-attr]
            ("urn:penstock:a%20query:8000", "8000"),
            ("urn:penstock:a%20query:9000", "9000"),
        }
        with pytest.raises(SinkError, match="stores results of CONSTRUCT or DESCRIBE, but this is SELECT"):
            opened(f"sparql+{server.address}")
        with pytest.raises(SinkError, match="takes no format: remove format=trig"):
            opened(f"sparql+{server.address}?format=trig", form=CONSTRUCT)


def test_an_endpoint_that_is_busy_or_refuses() -> None:
    with sparql_server() as server:
        server.statuses = [503, 204]
        with opened(f"sparql+{server.address}", form=CONSTRUCT) as sink:
            write(sink, constructed(1, ex("a")))
        server.statuses = [403]
        with pytest.raises(SinkError, match="answered 403 Forbidden"):
            write(opened(f"sparql+{server.address}", form=CONSTRUCT), constructed(2, ex("a")))
        assert graphs(server) == {"urn:penstock:a%20query:1"}


def test_an_address_that_no_sink_has() -> None:
    with pytest.raises(SinkError, match=r"there is no sink for ftp://: name a file, or write kafka://HOST:PORT/TOPIC"):
        opened("ftp://host/file")
