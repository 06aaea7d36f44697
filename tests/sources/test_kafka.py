"""Kafka topics read by this process, from a real broker."""

from __future__ import annotations

import json
import logging
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from confluent_kafka import Producer
from tests.brokers import Broker, Message, Topic, new_topic
from tests.sources.collected import Read, joined

from penstock.rdf.addresses import parse_address
from penstock.rdf.errors import SourceError
from penstock.sources.batches import Batch, Position
from penstock.sources.growing_folders import FollowedFolder
from penstock.sources.kafka import KafkaTopic
from penstock.sources.message_streams import MessageStream


def line(time: int, what: str = "o") -> str:
    return f'<a:s> <a:p> <a:{what}> "{time}" .'


def source(address: str, **options: float) -> KafkaTopic:
    return KafkaTopic(parse_address(address), "s", **options)


def history(topic: Topic, options: str = "", position: Position | None = None) -> Read:
    return joined(source(f"{topic.address}?until=now{options}").batches(position))


@contextmanager
def live(topic: KafkaTopic | FollowedFolder | MessageStream, position: Position | None = None) -> Iterator[list[Batch]]:
    """The batches of a live source, as they arrive in a thread; the error that ends it is raised at the end."""
    batches: list[Batch] = []
    errors: list[BaseException] = []

    def run() -> None:
        try:
            batches.extend(topic.batches(position))
        except BaseException as error:
            errors.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield batches
    finally:
        topic.stopped.set()
        thread.join(30)
        assert not thread.is_alive()
    if errors:
        raise errors[0]


def wait_until(is_so: Callable[[], bool], seconds: float = 30) -> None:
    until = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < until, "nothing came"
        time.sleep(0.02)


class TestHistory:
    def test_partitions_are_merged_by_time(self, kafka: dict[str, str]) -> None:
        topic = new_topic(kafka["address"], 4)
        times = [[*range(0, 9000, 3)], [*range(1, 9000, 100)], [4, 2, 8990], []]
        topic.write(Message(line(at), number) for number, partition in enumerate(times) for at in partition)
        found = history(topic).times
        assert sorted(found) == sorted(at for partition in times for at in partition)
        late = [at for place, at in enumerate(found) if at < max(found[: place + 1])]
        assert late == [2]

    def test_it_continues_from_any_position(self, kafka: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("penstock.sources.kafka.MOST_BYTES", 200)
        topic = new_topic(kafka["address"], 2)
        topic.write(Message(line(at) if at % 10 else "wrong", at % 2) for at in range(100))
        whole = list(source(f"{topic.address}?until=now").batches())
        topic.write([Message(line(1000), 1)])  # after its end
        expected = joined(whole)
        assert len(whole) > 5
        for count in (1, len(whole) // 2, len(whole)):
            position = json.loads(json.dumps(whole[count - 1].position))
            rest = source(f"{topic.address}?until=now").batches(position)
            found = joined([*whole[:count], *rest])
            assert found.elements == expected.elements
            assert sorted(found.malformed) == sorted(expected.malformed)

    def test_where_it_starts(self, kafka: dict[str, str]) -> None:
        topic = new_topic(kafka["address"], 2)
        topic.write(Message(line(at), at % 2, 1_700_000_000_000 + at) for at in range(10))
        assert history(topic, "&start=latest").times == []
        assert history(topic, "&start=earliest").times == [*range(10)]
        assert history(topic, "&start=1700000000006").times == [6, 7, 8, 9]
        assert history(topic, "&start=2023-11-14T22:13:20.004Z").times == [4, 5, 6, 7, 8, 9]

    def test_the_time_of_the_broker_and_the_content_type(self, kafka: dict[str, str]) -> None:
        topic = new_topic(kafka["address"])
        topic.write([Message("<a:s> <a:p> <a:o> .", 0, 77, {"content-type": "text/turtle"}), Message(line(8), 0, 5)])
        assert history(topic).times == [77, 8]
        assert history(topic, "&time=record").times == [77, 5]

    def test_what_is_malformed_has_its_partition_and_offset(self, kafka: dict[str, str]) -> None:
        topic = new_topic(kafka["address"], 2)
        topic.write([Message(line(1), 1), Message("oops", 1), Message(None, 0)])
        found = history(topic)
        assert found.times == [1]
        assert [entry.place for entry in found.malformed] == [
            f"{topic.address}, partition 0, offset 0",
            f"{topic.address}, partition 1, offset 1",
        ]
        assert found.malformed[1].text == "oops"

    def test_a_large_message(self, kafka: dict[str, str]) -> None:
        topic = new_topic(kafka["address"])
        large = "".join(f'<a:s> <a:p> "{number:0200}" .\n' for number in range(240_000))
        assert len(large) > 50_000_000
        topic.write([Message("<a:s> <a:p> 1 .", 0, 1), Message(large, 0, 2), Message("<a:s> <a:p> 2 .", 0, 3)])
        rows = [batch.table for batch in source(f"{topic.address}?until=now&format=turtle").batches()]
        assert sum(table.num_rows for table in rows) == 240_002

    def test_what_is_not_committed_is_not_there(self, kafka: dict[str, str]) -> None:
        topic = new_topic(kafka["address"])
        producer = Producer({"bootstrap.servers": topic.servers, "transactional.id": topic.name})
        producer.init_transactions()
        for number, is_kept in enumerate((True, False, True)):
            producer.begin_transaction()
            producer.produce(topic.name, line(number))
            if is_kept:
                producer.commit_transaction()
            else:
                producer.flush()
                producer.abort_transaction()
        assert history(topic).times == [0, 2]


class TestLive:
    def test_messages_come_soon(self, kafka: dict[str, str]) -> None:
        topic = new_topic(kafka["address"], 3)
        with live(source(topic.address)) as batches:
            for number in range(6):
                topic.write([Message(line(number), number % 2)])  # partition 2 is idle
                began = time.monotonic()
                wait_until(lambda number=number: number in joined(batches).times)
                assert time.monotonic() - began < 2
        assert joined(batches).times == [*range(6)]

    def test_the_topic_gains_partitions(self, kafka: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("penstock.sources.kafka._SECONDS_BETWEEN_LOOKS", 0.2)
        topic = new_topic(kafka["address"])
        topic.write([Message(line(1))])
        with live(source(f"{topic.address}?start=latest")) as batches:
            wait_until(lambda: bool(batches))
            topic.grow(3)
            topic.write([Message(line(2), 2)])
            wait_until(lambda: joined(batches).times == [2])
        with live(source(topic.address), batches[0].position) as batches:
            wait_until(lambda: joined(batches).times == [2])

    @pytest.mark.broker
    def test_the_broker_goes_away_and_comes_back(self, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
        broker = Broker("kafka", tmp_path)
        topic = new_topic(broker.start()["address"], 2)
        try:
            with caplog.at_level(logging.WARNING, "penstock"), live(source(topic.address)) as batches:
                topic.write(Message(line(number), number % 2) for number in range(10))
                wait_until(lambda: sorted(joined(batches).times) == [*range(10)])
                broker.stop(kill=True)
                wait_until(lambda: "does not answer" in caplog.text)
                broker.start()
                topic.write(Message(line(number), number % 2) for number in range(10, 20))
                wait_until(lambda: sorted(joined(batches).times) == [*range(20)])
                wait_until(lambda: "answers again" in caplog.text)
            assert caplog.text.count("does not answer") == 1
            broker.stop(kill=True)
            with pytest.raises(SourceError, match=r"does not answer \(.*tried for 0.5 s \(--retry-timeout"):
                list(source(topic.address, retry_timeout=0.5).batches())
        finally:
            broker.stop(kill=True)


class TestErrors:
    def test_a_topic_that_does_not_exist(self, kafka: dict[str, str]) -> None:
        with pytest.raises(SourceError, match="/nowhere: there is no such topic: create it, or check its name"):
            list(source(f"kafka://{kafka['address']}/nowhere").batches())

    def test_credentials(self, kafka: dict[str, str], tmp_path: Path) -> None:
        topic = new_topic(kafka["address"])
        topic.write([Message(line(1))])
        right, wrong = tmp_path / "right", tmp_path / "wrong"
        right.write_text(kafka["password"] + "\n")
        wrong.write_text("friend")
        address = f"kafka://{kafka['user']}@{kafka['sasl']}/{topic.name}?until=now"
        settings = "&security.protocol=SASL_PLAINTEXT&sasl.mechanism=PLAIN&password-file="
        assert joined(source(f"{address}{settings}{right}").batches()).times == [1]
        with pytest.raises(SourceError, match="rejects the user or the password") as caught:
            list(source(f"{address}{settings}{wrong}").batches())
        assert "friend" not in str(caught.value)

    def test_a_setting_that_does_not_exist(self, kafka: dict[str, str]) -> None:
        with pytest.raises(SourceError, match="No such configuration property"):
            list(source(f"kafka://{kafka['address']}/t?no.such=1").batches())

    def test_messages_that_are_gone(self, kafka: dict[str, str]) -> None:
        topic = new_topic(kafka["address"])
        topic.write([Message(line(1))])
        position = {"partitions": {"0": [5, 0, None]}, "ends": None}
        with pytest.raises(SourceError, match="messages that were not read yet are gone"):
            list(source(topic.address).batches(position))
