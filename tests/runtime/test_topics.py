"""Queries over topics of a real Kafka broker, on both engines: the answers are those of the oracle."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Mapping
from itertools import count
from pathlib import Path
from uuid import uuid4

import pytest
from click.testing import CliRunner
from pyspark.sql import SparkSession
from tests.brokers import Message, Topic, new_topic, post
from tests.sources.test_kafka import wait_until
from tests.sources.test_ldes import START, add
from tests.sources.test_mqtt import publish

import penstock as ps
from penstock.cli import commands
from penstock.oracle.judging import first_difference
from penstock.rdf.errors import SourceError
from penstock.rdf.results import Evaluation, from_json_line

TOLL, ROAD = "http://ex.org/toll", "http://ex.org/road"
COUNT = """PREFIX : <http://ex.org/>
SELECT ?gate (COUNT(?car) AS ?cars) FROM STREAM :toll [RANGE 1s STEP 500ms] WHERE { ?gate :sees ?car } GROUP BY ?gate
"""
JOIN = """PREFIX : <http://ex.org/>
SELECT ?gate ?car ?speed
FROM NAMED WINDOW :a ON :toll [RANGE 1s STEP 500ms]
FROM NAMED WINDOW :b ON :road [RANGE 2s STEP 500ms]
WHERE { WINDOW :a { ?gate :sees ?car } WINDOW :b { ?car :drives ?speed } }
"""
LATENESS = 300

pytestmark = pytest.mark.usefixtures("connector")


def passage(time: int, chance: random.Random) -> str:
    return (
        f'<http://ex.org/g{chance.randrange(4)}> <http://ex.org/sees> <http://ex.org/c{chance.randrange(9)}> "{time}" .'
    )


def speed(time: int, chance: random.Random) -> str:
    return f'<http://ex.org/c{chance.randrange(9)}> <http://ex.org/drives> "{chance.randrange(50)}" "{time}" .'


def lines(make: Callable[[int, random.Random], str], step: int, until: int, seed: int) -> list[str]:
    """Some are out of order, by at most the lateness."""
    chance = random.Random(seed)
    return [make(max(0, at - chance.choice((0, 0, 0, 100, LATENESS))), chance) for at in range(0, until, step)]


def spread(found: Iterable[str], partitions: int) -> list[Message]:
    """Messages in several partitions; the last partition is empty."""
    return [Message(line, number * 7 % max(1, partitions - 1)) for number, line in enumerate(found)]


def answers(on: ps.Engine, text: str, streams: dict[str, str]) -> list[Evaluation]:
    for iri, address in streams.items():
        on.stream(iri, address)
    return list(on.register(text, lateness=LATENESS).results())


@pytest.fixture
def toll(kafka: dict[str, str], tmp_path: Path) -> tuple[Topic, Path]:
    """A topic of four partitions, one of them empty, and a file with the same elements in order of writing."""
    found = lines(passage, 10, 8000, 1)
    topic = new_topic(kafka["address"], 4)
    topic.write(spread(found, 4))
    (tmp_path / "toll.tnt").write_text("".join(f"{line}\n" for line in found))
    return topic, tmp_path / "toll.tnt"


def oracle(text: str, files: Mapping[str, str | Path]) -> list[Evaluation]:
    """The answer over files with the same elements."""
    streams = [part for iri, file in files.items() for part in ("--stream", f"{iri}={file}")]
    done = CliRunner().invoke(commands, ["oracle", "-", "--lateness", f"{LATENESS}ms", *streams], input=text)
    assert done.exit_code == 0, done.stderr
    return [evaluation for line in done.stdout.splitlines() if (evaluation := from_json_line(line)).rows]


def same(found: list[Evaluation], expected: list[Evaluation]) -> None:
    assert expected
    difference = first_difference(found, expected, False)
    assert difference is None, difference.text


def test_a_topic_as_history_has_the_answer_of_the_file(toll: tuple[Topic, Path], tmp_path: Path) -> None:
    topic, file = toll
    found = answers(ps.Engine(), COUNT, {TOLL: f"{topic.address}?until=now"})
    assert len(found) > 10
    same(found, oracle(COUNT, {TOLL: file}))


@pytest.mark.parametrize("has_checkpoint", [False, True])
def test_on_spark_too(toll: tuple[Topic, Path], spark: SparkSession, tmp_path: Path, has_checkpoint: bool) -> None:
    topic, file = toll
    address = f"{topic.address}?until=now"
    if has_checkpoint:
        on = ps.Engine(spark)
        on.stream(TOLL, address)
        found: list[Evaluation] = []
        query = on.register(COUNT, lateness=LATENESS)
        query.start(found.append, checkpoint=tmp_path / "state").wait()
    else:
        found = answers(ps.Engine(spark), COUNT, {TOLL: address})
    same(found, oracle(COUNT, {TOLL: file}))


def two_topics(kafka: dict[str, str], folder: Path) -> tuple[dict[str, str], dict[str, str]]:
    """Two topics of different rates, and files with the same elements."""
    topics, files = {}, {}
    for iri, make, step, partitions in ((TOLL, passage, 10, 3), (ROAD, speed, 170, 2)):
        found = lines(make, step, 6000, step)
        topic = new_topic(kafka["address"], partitions)
        topic.write(spread(found, partitions))
        file = folder / f"{step}.tnt"
        file.write_text("".join(f"{line}\n" for line in found))
        topics[iri], files[iri] = f"{topic.address}?until=now", str(file)
    return topics, files


def test_two_topics_of_different_rates(kafka: dict[str, str], tmp_path: Path) -> None:
    topics, files = two_topics(kafka, tmp_path)
    found = answers(ps.Engine(), JOIN, topics)
    assert found
    same(found, oracle(JOIN, files))


def test_two_topics_of_different_rates_on_spark(kafka: dict[str, str], tmp_path: Path, spark: SparkSession) -> None:
    topics, files = two_topics(kafka, tmp_path)
    same(answers(ps.Engine(spark), JOIN, topics), oracle(JOIN, files))


@pytest.mark.parametrize("most", [None, 0])
def test_live_on_spark(
    toll: tuple[Topic, Path], spark: SparkSession, tmp_path: Path, most: int | None
) -> None:  # fmt: skip
    """Micro-batches; with `most`, each is too large for the driver, and executors decode it."""
    topic, file = toll
    last = passage(20_000, random.Random(0))
    topic.write([Message("oops", 1), Message(last, 2)])
    with file.open("a") as opened:
        opened.write(last)
    on = ps.Engine(spark)
    on.stream(TOLL, topic.address)
    late = tmp_path / "late.jsonl"
    found: list[Evaluation] = []
    query = on.register(COUNT, lateness=LATENESS, late=late)
    if most is not None:
        spark.conf.set("spark.penstock.batch.maxRows", str(most))
    try:
        query.start(found.append, until_read=True).wait()
    finally:
        spark.conf.unset("spark.penstock.batch.maxRows")
    same(found, oracle(COUNT, {TOLL: file}))
    assert f"{topic.address}, partition 1, offset " in late.read_text()


class TestErrorsOnSpark:
    def test_a_topic_that_does_not_exist(self, kafka: dict[str, str], spark: SparkSession) -> None:
        for options in ("?until=now", ""):
            on = ps.Engine(spark)
            on.stream(TOLL, f"kafka://{kafka['address']}/nowhere{options}")
            query = on.register(COUNT)
            with pytest.raises(SourceError, match="/nowhere: there is no such topic"):
                query.start(print)

    def test_a_session_without_the_connector(self, spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("penstock.sources.spark.topics._CLIENT", "org.apache.kafka.clients.consumer.Unknown")
        with pytest.raises(
            SourceError, match=r"this Spark session has no Kafka connector: start Spark with --packages"
        ):
            answers(ps.Engine(spark), COUNT, {TOLL: "kafka://localhost/toll?until=now"})

    def test_credentials(self, kafka: dict[str, str], spark: SparkSession, tmp_path: Path) -> None:
        topic = new_topic(kafka["address"])
        topic.write([Message(passage(at, random.Random(at))) for at in (1, 2000)])
        for name, content in (("right", kafka["password"]), ("wrong", "friend")):
            (tmp_path / name).write_text(content)
        address = f"kafka://{kafka['user']}@{kafka['sasl']}/{topic.name}?until=now"
        settings = "&security.protocol=SASL_PLAINTEXT&sasl.mechanism=PLAIN&password-file="
        assert answers(ps.Engine(spark), COUNT, {TOLL: f"{address}{settings}{tmp_path}/right"})
        with pytest.raises(SourceError, match="rejects the user or the password") as caught:
            answers(ps.Engine(spark), COUNT, {TOLL: f"{address}{settings}{tmp_path}/wrong"})
        assert "friend" not in str(caught.value)


def heard(on: ps.Engine, address: str, send: Callable[[list[str]], object]) -> list[Evaluation]:
    """The first evaluations of a live run, to which messages are sent until it has answered."""
    on.stream(TOLL, address)
    found: list[Evaluation] = []
    with on.register(COUNT).start(found.append):
        starts = count(0, 1_000_000)  # the first message that is heard may be any: what is sent next is later than it

        def has_answered() -> bool:
            start = next(starts)
            send([passage(start + at, random.Random(at)) for at in (600, 1200, 90_000)])
            return bool(found)

        wait_until(has_answered, 100)
    return found


LIVE = ("mqtt", "sse", "ws")


def live(kind: str, mosquitto: dict[str, str], web: dict[str, str]) -> tuple[str, Callable[[list[str]], object]]:
    """An address of its own, and a function that sends messages there."""
    name = uuid4().hex
    if kind == "mqtt":
        server = mosquitto["address"]
        return f"mqtt://{server}/{name}", lambda found: publish(server, [(name, message) for message in found])
    return f"{web[kind]}/{name}", lambda found: [post(f"{web['http']}/{kind}/{name}", one) for one in found]


@pytest.mark.parametrize("kind", LIVE)
def test_live_messages(kind: str, mosquitto: dict[str, str], web: dict[str, str]) -> None:
    assert heard(ps.Engine(), *live(kind, mosquitto, web))[0].rows


@pytest.mark.parametrize("kind", LIVE)
def test_live_messages_on_spark(kind: str, mosquitto: dict[str, str], web: dict[str, str], spark: SparkSession) -> None:
    assert heard(ps.Engine(spark), *live(kind, mosquitto, web))[0].rows


@pytest.mark.parametrize("on_spark", [False, True])
def test_an_event_stream_as_history(
    on_spark: bool, web: dict[str, str], request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    engine = ps.Engine(request.getfixturevalue("spark")) if on_spark else ps.Engine()
    name = uuid4().hex
    add(web, name, *range(12))
    text = """PREFIX : <http://ex.org/>
    SELECT (COUNT(?s) AS ?n) FROM STREAM :toll [RANGE 5s STEP 2s] WHERE { ?s :celsius ?c }"""
    found = answers(engine, text, {TOLL: f"{web['ldes']}/{name}?until=now"})
    (tmp_path / "q.rq").write_text(text)
    same = [f'<http://ex.org/m{n}> <http://ex.org/celsius> "{n}" "{START + 1000 * n}" .' for n in range(12)]
    (tmp_path / "s.tnt").write_text("\n".join(same) + "\n")
    expected = answers(ps.Engine(), text, {TOLL: str(tmp_path / "s.tnt")})
    assert first_difference(found, expected, False) is None
    assert len(found) == len(expected) > 4
