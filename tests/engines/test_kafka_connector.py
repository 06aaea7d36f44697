"""Spark's Kafka connector: which version fits, and how it is fetched."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from penstock.engines.spark.kafka_connector import ConnectorError, connector_jars, fitting_version

PUBLISHED = ["3.5.9", "4.0.0", "4.0.0-preview2", "4.1.0-preview1", "4.1.0-preview4", "4.10.0"]


@pytest.mark.parametrize(
    ("published", "version"),
    [
        ([*PUBLISHED, "4.3.0"], "4.3.0"),
        (PUBLISHED, "4.10.0"),
        (PUBLISHED[:-1], "4.1.0-preview4"),
        (PUBLISHED[:3], "4.0.0"),
    ],
)
def test_the_version_that_fits(published: list[str], version: str) -> None:
    assert fitting_version(published, "4.3.0") == version


def test_no_version_fits() -> None:
    with pytest.raises(ConnectorError, match=r"no Kafka connector is published for Spark 5\.0\.0"):
        fitting_version(PUBLISHED, "5.0.0")


@pytest.fixture
def repository(tmp_path: Path) -> Iterator[str]:
    """A Maven repository with the connector of Spark 4.2.0."""
    spark = tmp_path / "repository" / "org" / "apache" / "spark"
    files = {
        spark / "spark-sql-kafka-0-10_2.13": "4.2.0",
        spark / "spark-token-provider-kafka-0-10_2.13": "4.1.0",
        spark.parent / "kafka" / "kafka-clients": "3.9.2",
        spark.parent / "commons" / "commons-pool2": "2.13.1",
    }
    for home, version in files.items():
        (home / version).mkdir(parents=True)
        (home / "maven-metadata.xml").write_text(f"<versions><version>{version}</version></versions>")
        (home / version / f"{home.name}-{version}.jar").write_text(home.name)
    needed = "".join(
        f"<dependency><artifactId>{home.name}</artifactId>\n <version>{version}</version></dependency>"
        for home, version in files.items()
    )
    connector = spark / "spark-sql-kafka-0-10_2.13" / "4.2.0"
    (connector / "spark-sql-kafka-0-10_2.13-4.2.0.pom").write_text(needed)
    handler = partial(_Quiet, directory=str(tmp_path / "repository"))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *arguments: object) -> None:
        """Nobody wants to know."""


def test_it_is_fetched_once(repository: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    found = connector_jars("4.3.0", repository)
    assert [path.name for path in found] == [
        "commons-pool2-2.13.1.jar",
        "kafka-clients-3.9.2.jar",
        "spark-sql-kafka-0-10_2.13-4.2.0.jar",
        "spark-token-provider-kafka-0-10_2.13-4.1.0.jar",
    ]
    assert connector_jars("4.3.0", "http://127.0.0.1:1") == found


def test_it_cannot_be_fetched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    with pytest.raises(ConnectorError, match=r"cannot be fetched from http://127\.0\.0\.1:1 \(.*refused"):
        connector_jars("4.3.0", "http://127.0.0.1:1")
    assert not list((tmp_path / "cache").rglob("*.jar"))
