"""Kills a run on the embedded engine (SIGKILL) at random points, starts it again, and compares its output.

    python scripts/kill_embedded.py [--kills 10] [--seed 1] [--lines 1000000] [--work FOLDER] [--kafka HOST:PORT]

The output must be, byte for byte, that of a run that was not killed. With `--kafka` the stream is a topic of three
partitions; `python scripts/brokers start kafka` starts a broker.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

QUERY = """PREFIX : <http://ex.org/>
SELECT ?gate (COUNT(?car) AS ?cars)
FROM STREAM :toll [RANGE 3s STEP 1s]
WHERE { ?gate :lets ?car }
GROUP BY ?gate
"""


def write_stream(file: Path, lines: int, chance: random.Random) -> None:
    """A line each 5 ms; some are out of order, and a few of those are late."""
    with file.open("w") as stream:
        for number in range(lines):
            time_of_line = number * 5 - chance.choice((*[0] * 30, 300, 300, 2500))
            gate, car = chance.randrange(50), chance.randrange(3000)
            stream.write(
                f'<http://ex.org/gate{gate}> <http://ex.org/lets> <http://ex.org/car{car}> "{time_of_line}" .\n'
            )


def write_topic(servers: str, file: Path) -> str:
    """A topic with the lines of a file; its address."""
    from confluent_kafka import Producer
    from confluent_kafka.admin import AdminClient, NewTopic

    topic = f"killed-{os.getpid()}"
    admin = AdminClient({"bootstrap.servers": servers})
    for created in admin.create_topics([NewTopic(topic, 3)]).values():
        created.result()
    producer = Producer({"bootstrap.servers": servers, "enable.idempotence": True, "linger.ms": 50})
    for number, line in enumerate(file.read_bytes().splitlines()):
        while True:
            try:
                producer.produce(topic, line, partition=number % 7 % 3)
                break
            except BufferError:
                producer.poll(0.1)
    producer.flush()
    return f"kafka://{servers}/{topic}?until=now"


def command(work: Path, out: str, stream: str) -> list[str]:
    run = [sys.executable, "-m", "penstock", "run", str(work / "query.rq"), "--engine", "duckdb", "--quiet"]
    run += ["--stream", stream, "--lateness", "500ms"]
    return [*run, "--out", str(work / f"{out}.jsonl"), "--late", str(work / f"{out}.late")]


def size_of(file: Path) -> int:
    return file.stat().st_size if file.exists() else 0


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--kills", type=int, default=10)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--lines", type=int, default=1_000_000)
    parser.add_argument("--work", type=Path, default=None)
    parser.add_argument("--kafka", metavar="HOST:PORT", default=None)
    given = parser.parse_args()
    work = given.work or Path(tempfile.mkdtemp(prefix="penstock-kill-"))
    chance = random.Random(given.seed)
    (work / "query.rq").write_text(QUERY)
    write_stream(work / "toll.tnt", given.lines, chance)
    stream = str(work / "toll.tnt")
    if given.kafka is not None:
        stream = write_topic(given.kafka, work / "toll.tnt")
    subprocess.run(
        [*command(work, "whole", stream), "--checkpoint", str(work / "whole")], check=True, capture_output=True
    )
    whole, killed = (work / f"{name}.jsonl" for name in ("whole", "killed"))
    again = [*command(work, "killed", stream), "--checkpoint", str(work / "killed")]
    for number in range(given.kills):
        until = 0.7 * (number + chance.random()) / given.kills * size_of(whole)
        process = subprocess.Popen(again, stderr=subprocess.DEVNULL)
        while process.poll() is None and size_of(killed) < until:
            time.sleep(0.001)
        time.sleep(chance.uniform(0, 0.1))
        assert process.poll() is None, f"the run ended by itself, with status {process.returncode}"
        process.send_signal(signal.SIGKILL)
        process.wait()
        print(f"{number + 1}: killed, {size_of(killed):,} bytes written", flush=True)
    subprocess.run(again, check=True, capture_output=True)
    kinds = ("jsonl", "late")
    same = [(work / f"whole.{kind}").read_bytes() == (work / f"killed.{kind}").read_bytes() for kind in kinds]
    print(f"{size_of(whole):,} bytes of results: {'the same' if all(same) else 'not the same'}")
    return 0 if all(same) else 3


if __name__ == "__main__":
    sys.exit(main())
