"""Real brokers for tests, started with `scripts/brokers`."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple
from urllib.request import Request, urlopen
from uuid import uuid4

import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewPartitions, NewTopic

SCRIPT = Path(__file__).parent.parent / "scripts" / "brokers"
UNAVAILABLE = 2


@dataclass(frozen=True)
class Broker:
    """A broker whose data is in a folder: `kafka`, `mosquitto`, `web`. Started again, it has the same data.

    Its addresses stay the same, too.
    """

    name: str
    folder: Path

    def start(self) -> dict[str, str]:
        """Its addresses; skips the test where the broker cannot be had."""
        ran = self._run("start")
        if ran.returncode == UNAVAILABLE:
            pytest.skip(ran.stderr.strip())
        assert ran.returncode == 0, ran.stderr
        addresses: dict[str, str] = json.loads(ran.stdout)[self.name]
        return addresses

    def stop(self, kill: bool = False) -> None:
        ran = self._run("stop", *(["--kill"] if kill else []))
        assert ran.returncode == 0, ran.stderr

    def _run(self, verb: str, *options: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, SCRIPT, verb, self.name, "--folder", self.folder, *options]
        return subprocess.run(command, capture_output=True, encoding="utf-8", timeout=300)


@dataclass(frozen=True)
class Topic:
    """A topic of its own; `address` is for `--stream`."""

    servers: str
    name: str

    @property
    def address(self) -> str:
        return f"kafka://{self.servers}/{self.name}"

    def write(self, messages: Iterable[Message]) -> None:
        """Write messages, and wait until they are there."""
        settings = {"enable.idempotence": True, "message.max.bytes": 100_000_000}  # retries must not change the order
        producer = Producer({"bootstrap.servers": self.servers, **settings})
        for message in messages:
            value, partition, time, headers = message
            producer.produce(self.name, value, partition=partition, timestamp=time, headers=headers or [])
            producer.poll(0)
        assert producer.flush(30) == 0

    def grow(self, partitions: int) -> None:
        admin = AdminClient({"bootstrap.servers": self.servers})
        for changed in admin.create_partitions([NewPartitions(self.name, partitions)]).values():
            changed.result()


class Message(NamedTuple):
    """A message for a partition; `time` is in milliseconds, by default that of the broker."""

    value: str | bytes | None
    partition: int = 0
    time: int = 0
    headers: dict[str, str] | None = None


def new_topic(servers: str, partitions: int = 1) -> Topic:
    topic = Topic(servers, f"tried-{uuid4().hex}")
    admin = AdminClient({"bootstrap.servers": servers})
    settings = {"max.message.bytes": "100000000"}
    for created in admin.create_topics([NewTopic(topic.name, partitions, config=settings)]).values():
        created.result()
    return topic


def post(address: str, content: str) -> str:
    """Send content to the web server, and return its answer."""
    with urlopen(Request(address, content.encode()), timeout=20) as response:
        answer: str = response.read().decode()
    return answer
