"""Kafka to answer: throughput next to a file, memory over a long topic, and latency from a record to its result.

    python benchmarks/kafka.py throughput --engine duckdb spark      # T1 of penstock/bench/limits
    python benchmarks/kafka.py memory
    python benchmarks/kafka.py latency --engine duckdb spark --check

It starts a broker of its own (scripts/brokers). With --check the exit status is 1 when a target is missed.

`throughput` answers T1 over `--triples` lines in a file, and over the same lines in a topic of four partitions, each a
message, with `?until=now`. Both are answered by one process, on Spark by one session, and take turns for `--rounds`
rounds; the best of each counts.

`memory` is the greatest resident memory of `penstock run` over the first, the first five and all ten tenths of
`--messages` messages of a topic.

`latency` runs `penstock run` from a topic to a topic. A record each `PACE` seconds ends a window. The clock runs from
the call that sends the record to the arrival of the window's result at a consumer; the first `WARM_UP` seconds do not
count.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import count, islice
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple
from uuid import uuid4

from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic
from targets import Target

import penstock as ps
from penstock.bench.limits import data
from penstock.bench.limits.queries import WORKLOADS
from penstock.bench.stopwatch import measure

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

BROKERS = Path(__file__).parent.parent / "scripts" / "brokers"
T1 = WORKLOADS[0]
PARTITIONS = 4
LEAST_SHARE, MOST_GROWTH = 0.7, 1.2
MOST_DELAY = {"duckdb": 25, "spark": 400}
"""In milliseconds, p50."""
PACE, STEP = 0.1, 100
WARM_UP = {"duckdb": 5.0, "spark": 30.0}
"""Seconds, from the first result on."""
WINDOW = """PREFIX : <http://ex.org/>
REGISTER QUERY passages AS
SELECT ?gate (COUNT(?car) AS ?cars) FROM STREAM :toll [RANGE 1s STEP 100ms] WHERE { ?gate :sees ?car } GROUP BY ?gate
"""


class Servers(NamedTuple):
    address: str
    folder: Path

    def new_topic(self, partitions: int) -> str:
        name = f"t-{uuid4().hex}"
        admin = AdminClient({"bootstrap.servers": self.address})
        admin.create_topics([NewTopic(name, partitions)])[name].result(30)
        return name

    def fill(self, topic: str, lines: Iterable[bytes]) -> None:
        """Lines as messages, each partition a part of them in their order."""
        producer = Producer({"bootstrap.servers": self.address, "enable.idempotence": True, "linger.ms": 50})
        for number, line in enumerate(lines):
            while True:
                try:
                    producer.produce(topic, line, partition=number % PARTITIONS)
                    break
                except BufferError:
                    producer.poll(0.1)
            if number % 1000 == 0:
                producer.poll(0)
        assert producer.flush(60) == 0


@contextmanager
def broker() -> Iterator[Servers]:
    with tempfile.TemporaryDirectory(prefix="penstock-kafka-") as folder:
        command = [sys.executable, str(BROKERS), "{}", "kafka", "--folder", f"{folder}/brokers"]
        started = subprocess.run([part.format("start") for part in command], stdout=subprocess.PIPE, check=True)
        try:
            yield Servers(json.loads(started.stdout)["kafka"]["address"], Path(folder))
        finally:
            subprocess.run([*(part.format("stop") for part in command), "--kill"], stdout=subprocess.PIPE, check=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("what", choices=("throughput", "memory", "latency"))
    parser.add_argument("--engine", nargs="+", choices=("duckdb", "spark"), default=["duckdb"])
    parser.add_argument("--triples", type=int, default=2_000_000, metavar="N", help="of throughput (%(default)s)")
    parser.add_argument("--messages", type=int, default=10_000_000, metavar="N", help="of memory (%(default)s)")
    parser.add_argument("--results", type=int, default=300, metavar="N", help="of latency (%(default)s)")
    parser.add_argument("--rounds", type=int, default=2, metavar="N", help="of throughput (%(default)s)")
    parser.add_argument("--check", action="store_true", help="exit 1 when a target is missed")
    given = parser.parse_args()
    with broker() as servers:
        targets = MEASUREMENTS[given.what](given, servers)
    print(f"load {', '.join(f'{load:.1f}' for load in os.getloadavg())} on {os.cpu_count()} cores")
    print(*targets, sep="\n")
    return 1 if given.check and not all(target.is_met for target in targets) else 0


# Throughput


def throughput(given: argparse.Namespace, servers: Servers) -> list[Target]:
    file, graph = data.write_passages(servers.folder, given.triples), data.write_streets(servers.folder)
    topic = servers.new_topic(PARTITIONS)
    with file.open("rb") as lines:
        servers.fill(topic, (line.rstrip(b"\n") for line in lines))
    found = []
    for name in given.engine:
        spark = _session() if name == "spark" else None
        sources = {"file": str(file), "topic": f"kafka://{servers.address}/{topic}?until=now"}
        answers = {what: servers.folder / f"{name}-{what}.jsonl" for what in sources}
        ways = {what: _answered(spark, source, graph, answers[what]) for what, source in sources.items()}
        times = measure(ways, given.rounds)
        assert answers["file"].read_bytes() == answers["topic"].read_bytes(), "the answers differ"
        for what, seconds in times.items():
            print(f"{name}, {what}: {seconds.wall:.2f} s, {given.triples / seconds.wall:,.0f} triples/s", flush=True)
        share = times["file"].wall / times["topic"].wall
        found.append(Target(f"T1 from Kafka, {name}", share, LEAST_SHARE, "times the triples/s of a file", True))
        if spark is not None:
            spark.stop()
    return found


def _answered(spark: SparkSession | None, source: str, graph: Path, out: Path) -> Callable[[], None]:
    def answer() -> None:
        out.unlink(missing_ok=True)
        engine = ps.Engine(spark)
        engine.stream(data.STREAM, source)
        engine.graph(graph)
        run = engine.register(T1.text).sink(str(out))
        run.wait()
        run.stop()

    return answer


def _session() -> SparkSession:
    from penstock.engines.spark.session import session

    return session(None, {}, reads_kafka=True)


# Memory


def memory(given: argparse.Namespace, servers: Servers) -> list[Target]:
    graph = data.write_streets(servers.folder)
    query = servers.folder / "query.rq"
    query.write_text(T1.text)
    topic = servers.new_topic(PARTITIONS)
    lines = (line.rstrip("\n").encode() for line in data._passages(given.messages))
    peaks: dict[int, float] = {}
    written = 0
    for tenths in (1, 5, 10):
        messages = given.messages * tenths // 10
        servers.fill(topic, islice(lines, messages - written))
        written = messages
        command = ["run", "--engine", "duckdb", str(query), "--graph", str(graph), "--quiet"]
        command += ["--stream", f"kafka://{servers.address}/{topic}?until=now", "--out", f"{query}.{messages}"]
        began = time.monotonic()
        process = subprocess.Popen([sys.executable, "-m", "penstock", *command])
        _, status, used = os.wait4(process.pid, 0)
        assert status == 0
        peaks[messages] = used.ru_maxrss / 1024
        seconds = time.monotonic() - began
        print(f"{messages:,} messages: at most {peaks[messages]:,.0f} MB, {seconds:.1f} s", flush=True)
    least, *_, most = peaks.values()
    return [Target("memory of duckdb", most / least, MOST_GROWTH, f"times that of {min(peaks):,} messages")]


# Latency


def latency(given: argparse.Namespace, servers: Servers) -> list[Target]:
    found = []
    for name in given.engine:
        for checkpoint in (False, True):
            delays = _delays(name, given.results, servers, checkpoint)
            middle, tail = statistics.median(delays), statistics.quantiles(delays, n=20)[-1]
            how = "with a checkpoint" if checkpoint else "without one"
            print(f"{name}, {how}: p50 {middle:.1f} ms, p95 {tail:.1f} ms, {len(delays)} results", flush=True)
            if not checkpoint:
                found.append(Target(f"from record to result, {name}", middle, MOST_DELAY[name], "ms, p50"))
    return found


def _delays(engine: str, results: int, servers: Servers, checkpoint: bool) -> list[float]:
    """In milliseconds, from a record to the result of the window that it ends."""
    read, written = servers.new_topic(1), servers.new_topic(1)
    query = servers.folder / "window.rq"
    query.write_text(WINDOW)
    command = [sys.executable, "-m", "penstock", "run", str(query), "--engine", engine, "--quiet"]
    command += ["--stream", f"kafka://{servers.address}/{read}", "--out", f"kafka://{servers.address}/{written}"]
    if checkpoint:
        command += ["--checkpoint", str(servers.folder / f"checkpoint-{engine}")]
    process = subprocess.Popen(command)
    sent: dict[int, float] = {}
    is_over = threading.Event()
    producer = threading.Thread(target=_send, args=(servers.address, read, sent, is_over))
    producer.start()
    try:
        return list(islice(_received(servers.address, written, sent, WARM_UP[engine]), results))
    finally:
        is_over.set()
        producer.join()
        process.kill()
        process.wait()


def _send(address: str, topic: str, sent: dict[int, float], is_over: threading.Event) -> None:
    """A record each `PACE` seconds; `sent` notes when the one was sent that ends the window of an instant."""
    producer = Producer({"bootstrap.servers": address, "linger.ms": 0})
    due = time.perf_counter()
    for number in count(1):
        due += PACE
        if is_over.wait(max(0, due - time.perf_counter())):
            break
        instant = number * STEP
        line = f'<http://ex.org/gate{number % 7}> <http://ex.org/sees> <http://ex.org/car{number}> "{instant + 1}" .'
        sent[instant] = time.perf_counter()
        producer.produce(topic, line.encode(), partition=0)
        producer.poll(0)
    producer.flush(10)


def _received(address: str, topic: str, sent: dict[int, float], warm_up: float) -> Iterator[float]:
    settings = {"bootstrap.servers": address, "group.id": topic, "isolation.level": "read_committed"}
    consumer = Consumer(settings)
    consumer.assign([TopicPartition(topic, 0, 0)])
    began: float | None = None
    try:
        while True:
            message = consumer.poll(120)
            now = time.perf_counter()
            assert message is not None, "there are no results"
            assert message.error() is None, message.error()
            began = now if began is None else began
            instant = int(dict(message.headers())["time"])
            if now - began >= warm_up:
                yield (now - sent[instant]) * 1000
    finally:
        consumer.close()


MEASUREMENTS = {"throughput": throughput, "memory": memory, "latency": latency}

if __name__ == "__main__":
    sys.exit(main())
