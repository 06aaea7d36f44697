"""Kills a run from Kafka to Kafka, or the broker itself (SIGKILL), at random points, starts it again, and compares
what a `read_committed` consumer sees with the oracle's answer.

    python scripts/kill_kafka.py [--kills 10] [--seed 1] [--engine duckdb|spark] [--work FOLDER]

A producer writes a stream to a topic with two partitions while the run reads it, with a checkpoint, and writes its
answers to a topic with three partitions. A fifth of the kills hit the broker, too, which is started again. At the end
the topic must contain every evaluation exactly once, and nothing else.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from uuid import uuid4

from confluent_kafka import Consumer, KafkaError, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from penstock.oracle.judging import first_difference
from penstock.rdf.results import Evaluation, from_json_line

BROKERS = Path(__file__).parent / "brokers"
NAMES = "http://ex.org/"
STEP, LATENESS = 10, 1000
QUICK = (
    "spark.sql.shuffle.partitions=2",
    "spark.sql.codegen.wholeStage=false",
    "spark.driver.extraJavaOptions=-XX:TieredStopAtLevel=1",
)
"""Spark compiles little: the processes do not live long enough to benefit from it."""
QUERIES = {
    "tolls": """PREFIX : <http://ex.org/>
REGISTER QUERY tolls AS
SELECT ?gate (COUNT(?car) AS ?cars)
FROM STREAM :toll [RANGE 3s STEP 500ms]
WHERE { ?gate :lets ?car . ?gate :in :centre }
GROUP BY ?gate
""",
    "pairs": """PREFIX : <http://ex.org/>
REGISTER QUERY pairs AS
SELECT ?car ?from ?to
FROM STREAM :toll [RANGE 1s STEP 200ms]
WHERE { ?from :lets ?car . ?to :lets ?car . ?from :in :centre . FILTER (?from != ?to) }
""",
}
GRAPH = "".join(f"<{NAMES}gate{n}> <{NAMES}in> <{NAMES}centre> .\n" for n in range(0, 7, 2))


def lines() -> Iterator[str]:
    drawn = random.Random(7)
    for number in count():
        triple = f"<{NAMES}gate{drawn.randrange(7)}> <{NAMES}lets> <{NAMES}car{drawn.randrange(30)}>"
        yield f'{triple} "{number * STEP - drawn.choice((*[0] * 12, 30, 30, 90))}" .'


def penstock(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "penstock", *arguments]


def brokers(verb: str, work: Path, *options: str) -> dict[str, str]:
    command = [sys.executable, str(BROKERS), verb, "kafka", "--folder", str(work / "brokers"), *options]
    ran = subprocess.run(command, stdout=subprocess.PIPE, check=True)
    found: dict[str, dict[str, str]] = json.loads(ran.stdout)
    return found.get("kafka", {})


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--kills", type=int, default=10)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--engine", choices=("duckdb", "spark"), default="duckdb")
    parser.add_argument("--work", type=Path, default=None)
    given = parser.parse_args()
    work = given.work or Path(tempfile.mkdtemp(prefix="penstock-kill-kafka-"))
    work.mkdir(parents=True, exist_ok=True)
    servers = brokers("start", work)["address"]
    try:
        return killed_again_and_again(given, work, servers)
    finally:
        brokers("stop", work, "--kill")


def killed_again_and_again(given: argparse.Namespace, work: Path, servers: str) -> int:
    read, written = f"toll-{uuid4().hex}", f"answers-{uuid4().hex}"
    admin = AdminClient({"bootstrap.servers": servers})
    for made in admin.create_topics([NewTopic(read, 2), NewTopic(written, 3)]).values():
        made.result(30)
    (work / "graph.ttl").write_text(GRAPH)
    for name, text in QUERIES.items():
        (work / f"{name}.rq").write_text(text)
    queries = [str(work / f"{name}.rq") for name in QUERIES]
    common = [*queries, "--graph", str(work / "graph.ttl"), "--lateness", f"{LATENESS}ms", "--stream"]
    kept = ["--out", f"kafka://{servers}/{written}", "--checkpoint", str(work / "checkpoint"), "--quiet"]
    quick = [part for setting in QUICK for part in ("--conf", setting)] if given.engine == "spark" else []
    stream = f"{NAMES}toll=kafka://{servers}/{read}?start=earliest"
    command = penstock("run", *common, stream, "--engine", given.engine, *quick, *kept)
    sent: list[int] = []
    producer = threading.Thread(target=produce, args=(servers, read, sent), daemon=True)
    producer.start()
    survive(command, work, random.Random(given.seed), given.kills, 12 if given.engine == "spark" else 3)
    producer.join()
    last = drain(command, servers, written)
    return compare(last, penstock("oracle", *common, f"{stream}&until=now"), max(sent))


def produce(servers: str, topic: str, sent: list[int]) -> None:
    """About a hundred lines a second, each a message; `sent` notes their times."""
    producer = Producer(
        {"bootstrap.servers": servers, "message.timeout.ms": 0, "enable.idempotence": True, "log_level": 0}
    )
    for number, line in enumerate(lines()):
        producer.produce(topic, line, partition=number % 2)
        sent.append(int(line.split('"')[-2]))
        producer.poll(0)
        if number % 10 == 0:
            time.sleep(0.1)
        if is_over.is_set():
            break
    producer.flush(60)


is_over = threading.Event()
"""There have been enough kills: the producer stops."""


def survive(command: list[str], work: Path, chance: random.Random, kills: int, seconds: float) -> None:
    """`seconds`: about how long the first answer takes."""
    for number in range(kills):
        began = time.monotonic()
        process = subprocess.Popen(command, start_new_session=True)
        time.sleep(chance.uniform(0.2 * seconds, 2 * seconds))
        hits_broker = chance.random() < 0.2
        if hits_broker:
            brokers("stop", work, "--kill")
            time.sleep(chance.uniform(0, 1))
            brokers("start", work)
            time.sleep(chance.uniform(0, seconds))
        code = process.poll()
        assert code is None, f"the run ended by itself, with status {code}"
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        print(f"{number}: killed after {time.monotonic() - began:.1f} s{', and the broker' * hits_broker}", flush=True)
    is_over.set()


def drain(command: list[str], servers: str, topic: str) -> list[Evaluation]:
    """What is in the topic when a last run has nothing more to answer."""
    process = subprocess.Popen(command, start_new_session=True)
    found: list[Evaluation] = []
    try:
        for _ in range(30):
            time.sleep(5)
            assert process.poll() is None, "the run ended by itself"
            before, found = found, consumed(servers, topic)
            if found and len(found) == len(before):
                return found
        raise AssertionError("the answers do not end")
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def consumed(servers: str, topic: str) -> list[Evaluation]:
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
    found, read = [], set()
    while len(read) < len(places):
        message = consumer.poll(30)
        assert message is not None, "a transaction is open"
        if message.error() is None:
            found.append(from_json_line(message.value().decode()))
        else:
            assert message.error().code() == KafkaError._PARTITION_EOF, message.error().str()
            read.add(message.partition())
    consumer.close()
    return found


def compare(found: list[Evaluation], oracle: list[str], greatest: int) -> int:
    """The exit status: 0 if each evaluation of the oracle is there exactly once.

    `greatest` is the time of the last element. The live run does not know that the stream has ended: instants that are
    less than the lateness before it are still to come.
    """
    printed = subprocess.run(oracle, stdout=subprocess.PIPE, check=True).stdout.decode().splitlines()
    expected = [from_json_line(line) for line in printed]
    print(f"{len(found)} evaluations in the topic, and {len(expected)} of the oracle")
    status = 0
    for name in QUERIES:
        own = sorted((one for one in found if one.query == name), key=lambda one: one.time)
        until = own[-1].time
        theirs = [one for one in expected if one.query == name and one.time <= until]
        left = [one.time for one in expected if one.query == name and one.time > until]
        difference = first_difference(own, theirs, False)
        print(f"{name}: {'the same' if difference is None else difference.text}; {len(left)} are still to come")
        is_right = difference is None and all(instant >= greatest - LATENESS for instant in left)
        status = status or (0 if is_right else 3)
    return status


if __name__ == "__main__":
    sys.exit(main())
