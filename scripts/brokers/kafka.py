"""A Kafka broker of one node, which is its own controller."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

from servers import CACHE, HOST, Addresses, Server, UnavailableError, alone, found, install

VERSION = "4.3.1"
USER, PASSWORD = "reader", "open sesame"

POM = f"""<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>org.example</groupId><artifactId>brokers</artifactId><version>1</version>
  <dependencies>
    <dependency><groupId>org.apache.kafka</groupId><artifactId>kafka_2.13</artifactId><version>{VERSION}</version></dependency>
    <dependency><groupId>org.slf4j</groupId><artifactId>slf4j-simple</artifactId><version>1.7.36</version></dependency>
  </dependencies>
</project>
"""

SETTINGS = """process.roles=broker,controller
node.id=1
controller.quorum.voters=1@{host}:{controller}
listeners=PLAINTEXT://{host}:{plain},SASL_PLAINTEXT://{host}:{sasl},CONTROLLER://{host}:{controller}
advertised.listeners=PLAINTEXT://{host}:{plain},SASL_PLAINTEXT://{host}:{sasl}
controller.listener.names=CONTROLLER
listener.security.protocol.map=PLAINTEXT:PLAINTEXT,SASL_PLAINTEXT:SASL_PLAINTEXT,CONTROLLER:PLAINTEXT
listener.name.sasl_plaintext.sasl.enabled.mechanisms=PLAIN
listener.name.sasl_plaintext.plain.sasl.jaas.config=\\
  org.apache.kafka.common.security.plain.PlainLoginModule required user_{user}="{password}";
log.dirs={folder}/data
log.retention.ms=-1
num.partitions=1
auto.create.topics.enable=false
offsets.topic.replication.factor=1
offsets.topic.num.partitions=4
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
transaction.state.log.num.partitions=4
share.coordinator.state.topic.replication.factor=1
share.coordinator.state.topic.min.isr=1
group.initial.rebalance.delay.ms=0
broker.heartbeat.interval.ms=300
broker.session.timeout.ms=1000
message.max.bytes=110000000
replica.fetch.max.bytes=110000000
socket.request.max.bytes=220000000
"""
"""Messages of 100 MB are let through, those with timestamps of long ago are kept, and a broker that was killed may come
back after a second."""


class Kafka(Server):
    name = "kafka"
    ports = ("plain", "sasl", "controller")

    def addresses(self) -> Addresses:
        ports = self.chosen_ports()
        return {
            "address": f"{HOST}:{ports['plain']}",
            "sasl": f"{HOST}:{ports['sasl']}",
            "user": USER,
            "password": PASSWORD,
        }

    def fetch(self) -> None:
        if shutil.which(java()) is None:
            raise UnavailableError("Kafka needs Java 17 or later")
        library = CACHE / f"kafka-{VERSION}"
        with alone(CACHE / "kafka.lock"):
            if library.is_dir():
                return
            if not found("mvn"):
                install("maven")
            pom = CACHE / "pom.xml"
            pom.write_text(POM)
            part = CACHE / f"kafka-{VERSION}.part"
            shutil.rmtree(part, ignore_errors=True)
            command = ["mvn", "-q", "-B", "-f", pom, "dependency:copy-dependencies", "-DincludeScope=runtime"]
            fetched = subprocess.run(
                [*command, f"-DoutputDirectory={part}"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
            )
            if fetched.returncode != 0:
                raise UnavailableError(f"Maven could not fetch Kafka:\n{fetched.stdout.strip()}")
            part.rename(library)

    def command(self, ports: dict[str, int]) -> list[str]:
        settings = self.folder / "server.properties"
        settings.write_text(SETTINGS.format(host=HOST, folder=self.folder, user=USER, password=PASSWORD, **ports))
        run = [
            java(),
            "-Xmx512m",
            "-XX:+UseSerialGC",
            "-XX:TieredStopAtLevel=1",
            "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn",
            "-cp",
            f"{CACHE / f'kafka-{VERSION}'}/*",
        ]
        if not (self.folder / "data" / "meta.properties").exists():
            storage = [*run, "kafka.tools.StorageTool"]
            number = subprocess.run([*storage, "random-uuid"], capture_output=True, text=True, check=True).stdout
            format_it = [*storage, "format", "-t", number.split()[-1], "-c", str(settings)]
            subprocess.run(format_it, capture_output=True, check=True)
        return [*run, "kafka.Kafka", str(settings)]


def java() -> str:
    home = os.environ.get("JAVA_HOME")
    return str(Path(home) / "bin" / "java") if home else "java"
