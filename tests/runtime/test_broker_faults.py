"""What happens to a run when brokers fail it, on both engines: nothing is lost, and nothing is there twice.

Wrong credentials and topics that do not exist are in tests/runtime/test_topics.py, tests/sources and tests/sinks.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TypeAlias

import pytest
from pyspark.sql import SparkSession
from tests.brokers import Broker, Message, Topic, new_topic
from tests.nightly import IS_NIGHTLY
from tests.runtime.test_topics import COUNT, LATENESS, TOLL, lines, oracle, passage, same
from tests.sinks.brokers import consumed
from tests.sinks.test_receivers import evaluated
from tests.sinks.webhooks import webhook
from tests.sources.test_kafka import wait_until

import penstock as ps
from penstock.rdf.results import Evaluation

pytestmark = [pytest.mark.usefixtures("connector"), pytest.mark.broker]

Session: TypeAlias = "SparkSession | None"
SECONDS = 120
"""A slow machine gets this long for what usually takes some seconds."""


@pytest.fixture(params=["duckdb", "on spark"])
def session(request: pytest.FixtureRequest) -> Session:
    """None for the embedded engine."""
    if request.param == "duckdb":
        return None
    spark: SparkSession = request.getfixturevalue("spark")
    if not spark.sparkContext.getConf().contains("spark.jars"):
        pytest.skip("Spark's Kafka connector cannot be fetched")
    return spark


@pytest.fixture(scope="module")
def own_broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Broker, str]]:
    """A Kafka broker that these tests may kill, and its address."""
    broker = Broker("kafka", tmp_path_factory.mktemp("broker"))
    yield broker, broker.start()["address"]
    broker.stop(kill=True)


def engine(session: Session, address: str) -> ps.Engine:
    on = ps.Engine(session)
    on.stream(TOLL, address)
    return on


def written(folder: Path, *parts: Iterable[str]) -> Path:
    """A file with the lines of all parts."""
    file = folder / "all.tnt"
    file.write_text("".join(f"{line}\n" for part in parts for line in part))
    return file


LAST = passage(20_001, random.Random(0))
"""Its time lets all windows before it close. It is sent when the others have been read: partitions do not wait."""


def rows(found: Iterable[Evaluation]) -> list[Evaluation]:
    return [evaluation for evaluation in found if evaluation.rows]


def test_a_broker_that_goes_away_and_comes_back(
    own_broker: tuple[Broker, str], session: Session, tmp_path: Path
) -> None:
    """It is the source's and the sink's. The consumer of the answers sees those of the oracle."""
    broker, address = own_broker
    read, answers = new_topic(address, 3), new_topic(address, 2)
    first = lines(passage, 10, 3000, 1)
    second = [passage(at, random.Random(at)) for at in range(3000, 6000, 10)]
    read.write(Message(line, 1) for line in first)

    def answered() -> list[Evaluation]:
        return rows(evaluated(consumed(address, answers.name)))

    query = engine(session, read.address).register(COUNT, lateness=LATENESS)
    with query.sink(f"kafka://{address}/{answers.name}", checkpoint=tmp_path / "state") as run:
        wait_until(lambda: bool(answered()), SECONDS)
        broker.stop(kill=True)
        assert run.is_active
        broker.start()
        read.write(Message(line, 1) for line in second)
        wait_until(lambda: answered()[-1].time >= 5500, SECONDS)
        read.write([Message(LAST, 2)])
        expected = oracle(COUNT, {TOLL: written(tmp_path, first, second, [LAST])})
        wait_until(lambda: answered()[-1].time >= expected[-1].time, SECONDS)
    same(answered(), expected)


def test_a_topic_that_gains_partitions(
    kafka: dict[str, str], session: Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("penstock.sources.kafka._SECONDS_BETWEEN_LOOKS", 0.2)
    topic = new_topic(kafka["address"])
    first, second = lines(passage, 10, 3000, 1), [passage(at, random.Random(at)) for at in range(3300, 6000, 10)]
    topic.write(Message(line) for line in first)
    found: list[Evaluation] = []
    with engine(session, topic.address).register(COUNT, lateness=LATENESS).start(found.append):
        wait_until(lambda: bool(found), SECONDS)
        topic.grow(3)
        topic.write(Message(line, 2) for line in second)
        wait_until(lambda: found[-1].time >= 5500, SECONDS)
        topic.write([Message(LAST)])
        expected = oracle(COUNT, {TOLL: written(tmp_path, first, second, [LAST])})
        wait_until(lambda: found[-1].time >= expected[-1].time, SECONDS)
    same(rows(found), expected)


def test_a_message_of_50_megabytes(kafka: dict[str, str], session: Session) -> None:
    if session is not None and not IS_NIGHTLY:
        pytest.skip("Spark takes two minutes for it: by night")
    topic = new_topic(kafka["address"])
    large = "".join(f'<http://ex.org/g> <http://ex.org/sees> "{number:0200}" .\n' for number in range(210_000))
    assert len(large) > 50_000_000
    topic.write(
        [Message(large, 0, 500), Message("<http://ex.org/g> <http://ex.org/sees> <http://ex.org/c> .", 0, 2000)]
    )
    found = engine(session, f"{topic.address}?until=now&format=ntriples").register(COUNT).results()
    assert [(one.time, one.rows[0][1].value) for one in found if one.rows] == [
        (1000, "210000"),
        (2000, "1"),
    ]  # type: ignore[union-attr]


def test_a_slow_sink_holds_the_topic_back(
    kafka: dict[str, str], session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While the receiver is away, the run reads only a little further; then all answers arrive."""
    monkeypatch.setattr("penstock.sources.kafka.MOST_BYTES", 1 << 14)
    topic = new_topic(kafka["address"])
    found = [passage(at, random.Random(at)) for at in range(0, 200_000, 10)]
    query = engine(session, topic.address).register(COUNT)
    topic.write(Message(line) for line in found[:200])
    with webhook() as hook:
        hook.statuses = [503] * 1_000_000
        with query.sink(hook.address) as run:
            wait_until(lambda: len(hook.statuses) < 1_000_000, SECONDS)
            topic.write(Message(line) for line in found[200:])
            assert not run.wait(1)
            assert run.counts.elements < 10_000
            hook.statuses.clear()
            wait_until(lambda: len(hook.received) >= 300, SECONDS)
    times = [int(one.headers["Penstock-Time"]) for one in hook.received[:300]]
    assert times == [*range(1000, 151_000, 500)]


def test_a_message_that_is_no_rdf(kafka: dict[str, str], session: Session, tmp_path: Path) -> None:
    topic = Topic(kafka["address"], new_topic(kafka["address"], 2).name)
    topic.write([Message(passage(100, random.Random(1))), Message("no triple", 1), Message(b"\xff\xfe", 1)])
    topic.write([Message(passage(2000, random.Random(1)), 1)])
    late = tmp_path / "late.jsonl"
    query = engine(session, f"{topic.address}?until=now").register(COUNT, late=late)
    assert [one.time for one in query.results()] == [1000, 2000]
    for offset in (0, 1):
        assert f"{topic.address}, partition 1, offset {offset}" in late.read_text()
