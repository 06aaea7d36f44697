"""Kills a run over messages that are sent once (SIGKILL) at random points, starts it again, and compares its answers
with the oracle's.

    python scripts/kill_messages.py mqtt|sse|ws [--kills 10] [--seed 1] [--engine duckdb|spark] [--work FOLDER]

A producer sends a stream while the run reads it, with a checkpoint. MQTT and Server-Sent Events: at the end the spool
must contain each message exactly once, in its order. WebSockets have no acknowledgement: the messages that are in the
spool when the run is killed must be there afterwards. In any case the answers must be those of the oracle over
the messages in the spool, each exactly once. A fifth of the kills hit the server, too, which is started again.
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
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from urllib.request import Request, urlopen

from kill_kafka import GRAPH, LATENESS, NAMES, QUERIES, QUICK, compare, lines, penstock
from paho.mqtt.client import Client
from paho.mqtt.enums import CallbackAPIVersion, MQTTProtocolVersion

from penstock.rdf.results import Evaluation, from_json_line
from penstock.sources.spool import SpoolReader

BROKERS = Path(__file__).parent / "brokers"
SERVERS = {"mqtt": "mosquitto", "sse": "web", "ws": "web"}
TOPIC = "toll"
LEAST = 800
"""So many messages are in the spool at least: enough for some windows to close."""
_SECONDS_OF_SILENCE, _SECONDS_TO_BEGIN = 4.0, 20.0

is_over = threading.Event()
"""There have been enough kills: the producer stops."""


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("kind", choices=SERVERS)
    parser.add_argument("--kills", type=int, default=10)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--engine", choices=("duckdb", "spark"), default="duckdb")
    parser.add_argument("--work", type=Path, default=None)
    given = parser.parse_args()
    work = given.work or Path(tempfile.mkdtemp(prefix="penstock-kill-messages-"))
    work.mkdir(parents=True, exist_ok=True)
    addresses = brokers("start", given.kind, work)
    try:
        return killed_again_and_again(given, work, addresses)
    finally:
        brokers("stop", given.kind, work, "--kill")


def brokers(verb: str, kind: str, work: Path, *options: str) -> dict[str, str]:
    command = [sys.executable, str(BROKERS), verb, SERVERS[kind], "--folder", str(work / "brokers"), *options]
    ran = subprocess.run(command, stdout=subprocess.PIPE, check=True)
    found: dict[str, dict[str, str]] = json.loads(ran.stdout)
    return found.get(SERVERS[kind], {})


def killed_again_and_again(given: argparse.Namespace, work: Path, addresses: dict[str, str]) -> int:
    server = f"mqtt://{addresses['address']}" if given.kind == "mqtt" else addresses[given.kind]
    (work / "graph.ttl").write_text(GRAPH)
    for name, text in QUERIES.items():
        (work / f"{name}.rq").write_text(text)
    queries = [str(work / f"{name}.rq") for name in QUERIES]
    common = [*queries, "--graph", str(work / "graph.ttl"), "--lateness", f"{LATENESS}ms", "--stream"]
    kept = ["--out", str(work / "answers.jsonl"), "--checkpoint", str(work / "checkpoint"), "--quiet"]
    quick = [part for setting in QUICK for part in ("--conf", setting)] if given.engine == "spark" else []
    beginning = "?from=0" if given.kind == "sse" else ""
    command = penstock(
        "run", *common, f"{NAMES}toll={server}/{TOPIC}{beginning}", "--engine", given.engine, *quick, *kept
    )
    with subprocess.Popen(command, start_new_session=True) as first:  # so that the server knows the run
        until = time.monotonic() + 120
        is_known = {"mqtt": lambda: list(spool(work).glob("*.subscribed"))}.get(
            given.kind, lambda: spool(work).exists()
        )
        while not is_known():
            assert time.monotonic() < until, "the run does not begin"
            time.sleep(0.1)
        time.sleep(2)
        os.killpg(first.pid, signal.SIGKILL)
    sent: list[str] = []
    producer = threading.Thread(target=produce, args=(given.kind, addresses, sent), daemon=True)
    producer.start()
    seen = survive(given, command, work, random.Random(given.seed), 12 if given.engine == "spark" else 2)
    drain(command, work, producer)
    held = in_spool(work)
    print(f"{len(sent)} messages sent, {len(held)} in the spool")
    if given.kind != "ws" and held != sent:
        missing, doubled = len(set(sent) - set(held)), len(held) - len(set(held))
        print(f"the spool differs: {missing} are missing, {doubled} are there twice")
        return 3
    if held[: len(seen)] != seen or len(set(held)) < len(held):
        print("messages that were in the spool are lost or doubled")
        return 3
    (work / "held.tnt").write_text("".join(f"{line}\n" for line in held))
    greatest = max(int(line.split('"')[-2]) for line in held)
    return compare(answers(work), penstock("oracle", *common, f"{NAMES}toll={work / 'held.tnt'}"), greatest)


def spool(work: Path) -> Path:
    return next((work / "checkpoint" / "spool").glob("*"), work / "checkpoint" / "spool" / "none")


def in_spool(work: Path) -> list[str]:
    return [content.decode() for content in SpoolReader(spool(work)).read(0, None, 1 << 40)["content"].to_pylist()]


def answers(work: Path) -> list[Evaluation]:
    return [from_json_line(line) for line in (work / "answers.jsonl").read_text().splitlines()]


def produce(kind: str, addresses: dict[str, str], sent: list[str]) -> None:
    """About a hundred messages a second. Each is sent until the server has confirmed it."""
    send = publisher(addresses) if kind == "mqtt" else poster(kind, addresses)
    known: set[str] = set()
    for number, line in enumerate(lines()):
        if line in known:
            continue
        known.add(line)
        sent.append(line)
        send(line)
        if is_over.is_set():
            return
        if number % 10 == 0:
            time.sleep(0.05)


def publisher(addresses: dict[str, str]) -> Callable[[str], None]:
    client = Client(CallbackAPIVersion.VERSION2, "producer", protocol=MQTTProtocolVersion.MQTTv311, clean_session=False)
    host, port = addresses["address"].split(":")
    confirmed: set[int] = set()
    client.on_publish = lambda _client, _data, number, _reason, _properties: confirmed.add(number)
    client.reconnect_delay_set(1, 1)
    client.connect(host, int(port))
    client.loop_start()

    def send(line: str) -> None:
        number = client.publish(TOPIC, line, qos=2).mid  # once, also if the broker is away meanwhile
        while number not in confirmed:
            time.sleep(0.001)
        confirmed.remove(number)

    return send


def poster(kind: str, addresses: dict[str, str]) -> Callable[[str], None]:
    def send(line: str) -> None:
        while True:
            with suppress(OSError), urlopen(Request(f"{addresses['http']}/{kind}/{TOPIC}", line.encode()), timeout=20):
                return
            time.sleep(0.05)

    return send


def survive(
    given: argparse.Namespace, command: list[str], work: Path, chance: random.Random, seconds: float
) -> list[str]:
    """`seconds`: about how long the first answer takes. Returns what was in the spool at the last kill."""
    for number in range(given.kills):
        began = time.monotonic()
        process = subprocess.Popen(command, start_new_session=True)
        time.sleep(chance.uniform(0.2 * seconds, 2 * seconds))
        hits_server = chance.random() < 0.2
        if hits_server:
            # Mosquitto keeps what it has confirmed in memory for up to a second, so it is stopped and not killed.
            brokers("stop", given.kind, work, *(["--kill"] if given.kind != "mqtt" else []))
            time.sleep(chance.uniform(0, 1))
            brokers("start", given.kind, work)
            time.sleep(chance.uniform(0, seconds))
        code = process.poll()
        assert code is None, f"the run ended by itself, with status {code}"
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        print(f"{number}: killed after {time.monotonic() - began:.1f} s{', and the server' * hits_server}", flush=True)
    return in_spool(work)


def drain(command: list[str], work: Path, producer: threading.Thread) -> None:
    """Let a last run read until enough messages are in the spool, and answer until it has nothing more to answer."""
    process = subprocess.Popen(command, start_new_session=True)
    while SpoolReader(spool(work)).end() < LEAST:
        assert process.poll() is None, "the run ended by itself"
        time.sleep(0.5)
    is_over.set()
    producer.join()
    sizes = [size_of_answers(work)]
    began = changed = time.monotonic()
    try:
        while time.monotonic() - changed < (_SECONDS_OF_SILENCE if sizes[-1] > sizes[0] else _SECONDS_TO_BEGIN):
            assert time.monotonic() - began < 300, "the answers do not end"
            time.sleep(0.2)
            assert process.poll() is None, "the run ended by itself"
            sizes.append(size_of_answers(work))
            if sizes[-1] > sizes[-2]:
                changed = time.monotonic()
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def size_of_answers(work: Path) -> int:
    file = work / "answers.jsonl"
    return file.stat().st_size if file.exists() else 0


if __name__ == "__main__":
    sys.exit(main())
