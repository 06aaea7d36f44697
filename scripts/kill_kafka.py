"""Kills a run that writes to Kafka, or the broker itself (SIGKILL), at random points, starts it again, and compares
what a `read_committed` consumer sees with the oracle's answer.

    python scripts/kill_kafka.py [--kills 10] [--seed 1] [--engine duckdb|spark] [--work FOLDER]

A run reads a file of a stream, whose lines come in small pieces, and writes its answers to a Kafka topic with three
partitions. Every few kills hit the broker, which is started again. At the end the topic must contain every evaluation
exactly once, and nothing else.
"""

from __future__ import annotations

import argparse
import json
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from uuid import uuid4

from confluent_kafka import Consumer, KafkaError, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from penstock.oracle.judging import first_difference
from penstock.rdf.results import Evaluation, from_json_line

BROKERS = Path(__file__).parent / "brokers"
NAMES = "http://ex.org/"
STEP, LATENESS = 10, 50
QUERIES = {
    "tolls": """PREFIX : <http://ex.org/>
REGISTER QUERY tolls AS
SELECT ?gate (COUNT(?car) AS ?cars)
FROM STREAM :toll [RANGE 30s STEP 10s]
WHERE { ?gate :lets ?car . ?gate :in :centre }
GROUP BY ?gate
""",
    "pairs": """PREFIX : <http://ex.org/>
REGISTER QUERY pairs AS
SELECT ?car ?from ?to
FROM STREAM :toll [RANGE 5s STEP 5s]
WHERE { ?from :lets ?car . ?to :lets ?car . ?from :in :centre . FILTER (?from != ?to) }
""",
}
GRAPH = "".join(f"<{NAMES}gate{n}> <{NAMES}in> <{NAMES}centre> .\n" for n in range(0, 7, 2))


def lines(count: int) -> str:
    drawn = random.Random(7)
    return "".join(
        f"<{NAMES}gate{drawn.randrange(7)}> <{NAMES}lets> <{NAMES}car{drawn.randrange(24)}> "
        f'"{number * STEP - drawn.choice((*[0] * 12, 30, 30, 250))}" .\n'
        for number in range(count)
    )


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
    topic = f"answers-{uuid4().hex}"
    admin = AdminClient({"bootstrap.servers": servers})
    for made in admin.create_topics([NewTopic(topic, 3)]).values():
        made.result(30)
    stream = work / "toll"
    stream.mkdir(exist_ok=True)
    pieces = lines(1_200_000).splitlines(keepends=True)
    for number in range(24):
        (stream / f"{number:04}.tnt").write_text("".join(pieces[number * 50_000 : number * 50_000 + 50_000]))
    (work / "graph.ttl").write_text(GRAPH)
    for name, text in QUERIES.items():
        (work / f"{name}.rq").write_text(text)
    common = [
        *(str(work / f"{name}.rq") for name in QUERIES),
        *("--graph", str(work / "graph.ttl"), "--lateness", f"{LATENESS}ms", "--stream", str(stream)),
    ]
    kept = ["--out", f"kafka://{servers}/{topic}", "--checkpoint", str(work / "checkpoint")]
    command = penstock("run", *common, "--engine", given.engine, *kept, "--quiet")
    survive(command, work, random.Random(given.seed), given.kills)
    return compare(consumed(servers, topic), penstock("oracle", *common))


def survive(command: list[str], work: Path, chance: random.Random, kills: int) -> None:
    began = time.monotonic()
    for number in range(kills):
        started = time.monotonic()
        process = subprocess.Popen(command, start_new_session=True)
        hits_broker = chance.random() < 0.25
        try:
            process.wait(chance.uniform(0.5, 12))
        except subprocess.TimeoutExpired:
            if hits_broker:
                brokers("stop", work, "--kill")
                time.sleep(chance.uniform(0, 1))
                brokers("start", work)
                time.sleep(chance.uniform(0, 1))
        code = process.poll()
        if code is None:
            process.send_signal(signal.SIGKILL)
            process.wait()
        said = f"ended with status {code}" if code is not None else "killed"
        print(f"{number}: {said} after {time.monotonic() - started:.1f} s{', broker killed' * hits_broker}", flush=True)
        assert code in (None, 0), "the run failed"
        if code == 0:
            break
    subprocess.run(command, check=True)
    print(f"ended after {time.monotonic() - began:.1f} s")


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


def compare(found: list[Evaluation], oracle: list[str]) -> int:
    """The exit status: 0 if each evaluation of the oracle is there exactly once."""
    printed = subprocess.run(oracle, stdout=subprocess.PIPE, check=True).stdout.decode().splitlines()
    expected = [from_json_line(line) for line in printed]
    print(f"{len(found)} evaluations in the topic, and {len(expected)} of the oracle")
    status = 0
    for name in QUERIES:
        own = sorted((one for one in found if one.query == name), key=lambda one: one.time)
        difference = first_difference(own, [one for one in expected if one.query == name], False)
        print(f"{name}: {'the same' if difference is None else difference.text}")
        status = status or (0 if difference is None else 3)
    return status


if __name__ == "__main__":
    sys.exit(main())
