"""Spark's own Kafka connector, which is not part of PySpark: fetched once from Maven's central repository.

The connector must fit Spark. Where none of Spark's exact version is published, it is the newest one of the same major
version.
"""

from __future__ import annotations

import os
import re
import shutil
import urllib.request
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path

_REPOSITORY = "https://repo1.maven.org/maven2"
_OF_SPARK = "org/apache/spark"
_CONNECTOR, _TOKENS = "spark-sql-kafka-0-10_2.13", "spark-token-provider-kafka-0-10_2.13"
_BESIDE = {"kafka-clients": "org/apache/kafka", "commons-pool2": "org/apache/commons"}
"""The other dependencies of the connector, which Spark does not contain."""

_DEPENDENCY = r"<artifactId>{}</artifactId>\s*<version>([^<]+)</version>"
_VERSION = re.compile(r"<version>([^<]+)</version>")
_SECONDS = 60


class ConnectorError(Exception):
    """The connector cannot be fetched; the message gives the reason."""


def connector_jars(spark_version: str, repository: str = _REPOSITORY) -> list[Path]:
    """The files of the connector for a version of Spark; they are fetched if they are not in the cache folder.

    Raises ConnectorError.
    """
    cache = (
        Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "penstock" / f"kafka-for-spark-{spark_version}"
    )
    if not cache.is_dir():
        part = cache.with_name(f"{cache.name}.{os.getpid()}")
        try:
            part.mkdir(parents=True, exist_ok=True)
            _fetch_all(spark_version, repository, part)
            if not cache.is_dir():
                part.rename(cache)
        except OSError as error:
            raise ConnectorError(f"Spark's Kafka connector cannot be fetched from {repository} ({error})") from None
        finally:
            shutil.rmtree(part, ignore_errors=True)
    return sorted(cache.glob("*.jar"))


def _fetch_all(spark_version: str, repository: str, folder: Path) -> None:
    for name in (_CONNECTOR, _TOKENS):
        home = f"{repository}/{_OF_SPARK}/{name}"
        version = fitting_version(_VERSION.findall(_text(f"{home}/maven-metadata.xml")), spark_version)
        _fetch(home, name, version, folder)
        if name == _CONNECTOR:
            described = _text(f"{home}/{version}/{name}-{version}.pom")
            for other, group in _BESIDE.items():
                needed = re.search(_DEPENDENCY.format(other), described)
                if needed is None:
                    raise ConnectorError(f"{name} {version} does not say which {other} it needs")
                _fetch(f"{repository}/{group}/{other}", other, needed[1], folder)


def fitting_version(published: Iterable[str], spark_version: str) -> str:
    """The version of Spark, if it is published, else the newest one of the same major version.

    >>> fitting_version(["3.5.9", "4.0.0", "4.1.0-preview1"], "4.3.0")
    '4.1.0-preview1'

    Raises ConnectorError if there is none.
    """
    known = set(published)
    if spark_version in known:
        return spark_version
    major = spark_version.partition(".")[0]
    fitting = [version for version in known if version.partition(".")[0] == major]
    if not fitting:
        raise ConnectorError(f"no Kafka connector is published for Spark {spark_version}")
    return max(fitting, key=_age)


def _age(version: str) -> tuple[list[int], bool, list[int]]:
    """A preview is older than its release."""
    release, preview, more = version.partition("-")
    return (
        [int(part) for part in re.findall("[0-9]+", release)],
        not preview,
        [int(n) for n in re.findall("[0-9]+", more)],
    )


def _text(url: str) -> str:
    with closing(urllib.request.urlopen(url, timeout=_SECONDS)) as answer:
        content: bytes = answer.read()
        return content.decode()


def _fetch(home: str, name: str, version: str, folder: Path) -> None:
    file = f"{name}-{version}.jar"
    url = f"{home}/{version}/{file}"
    with closing(urllib.request.urlopen(url, timeout=_SECONDS)) as answer, (folder / file).open("wb") as out:
        shutil.copyfileobj(answer, out)
