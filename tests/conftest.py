"""What the tests share: the folder beside the repository, a Spark session, and how hard the property tests try."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings
from tests.brokers import Broker
from tests.corpora.samples import ABSENT, SHARED

from penstock.engines.spark.kafka_connector import ConnectorError, connector_jars

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# Every run draws the same examples, so that a failure is a failure for everyone. PENSTOCK_TESTS=nightly tries harder,
# with new examples each night.
settings.register_profile(
    "normal", max_examples=100, derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("nightly", settings.get_profile("normal"), max_examples=5000, derandomize=False)
settings.load_profile(os.environ.get("PENSTOCK_TESTS", "normal"))

# Sessions that programs under test start would take half of the machine each.
os.environ.setdefault("SPARK_DRIVER_MEMORY", "1g")


SHARED_BROKERS = {"kafka", "mosquitto", "web"}
BROKERS = "PENSTOCK_TEST_BROKERS"
"""Names the folder of the brokers, which all workers share; brokers of a folder that is given are left running."""

_own_brokers: list[Path] = []


def pytest_configure() -> None:
    if BROKERS not in os.environ:
        _own_brokers.append(Path(tempfile.mkdtemp(prefix="penstock-brokers-")))
        os.environ[BROKERS] = str(_own_brokers[0])


def pytest_unconfigure() -> None:
    for folder in _own_brokers:
        for name in SHARED_BROKERS:
            if (folder / name).exists():
                Broker(name, folder).stop(kill=True)
        shutil.rmtree(folder, ignore_errors=True)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What needs Spark is run by one worker, in one session."""
    for item in items:
        fixtures = getattr(item, "fixturenames", ())
        if "spark" in fixtures:
            item.add_marker(pytest.mark.xdist_group("spark"))
        if not SHARED_BROKERS.isdisjoint(fixtures):
            item.add_marker(pytest.mark.broker)


@pytest.fixture(scope="session")
def kafka() -> dict[str, str]:
    """The addresses of a Kafka broker that all tests share; each makes topics of its own."""
    return Broker("kafka", Path(os.environ[BROKERS])).start()


@pytest.fixture(scope="session")
def mosquitto() -> dict[str, str]:
    """The addresses of a Mosquitto broker that all tests share; each uses topics of its own."""
    return Broker("mosquitto", Path(os.environ[BROKERS])).start()


@pytest.fixture(scope="session")
def web() -> dict[str, str]:
    """The addresses of a web server that all tests share; each uses streams of its own."""
    return Broker("web", Path(os.environ[BROKERS])).start()


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder with other people's data and the design; a test that needs it skips where it is absent."""
    if not SHARED.is_dir():
        pytest.skip(ABSENT)
    return SHARED


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    """One small Spark session for all tests of a run, because it takes seconds to start."""
    pyspark = pytest.importorskip("pyspark.sql")
    pyspark_version = version("pyspark")
    os.environ["PYSPARK_PYTHON"] = sys.executable
    settings = {
        "spark.ui.enabled": "false",
        "spark.log.level": "OFF",
        "spark.sql.shuffle.partitions": "1",
        "spark.sql.adaptive.enabled": "false",
        "spark.sql.session.timeZone": "UTC",
        # Queries over a few rows are sooner interpreted than compiled.
        "spark.sql.codegen.wholeStage": "false",
        "spark.sql.codegen.factoryMode": "NO_CODEGEN",
        "spark.driver.memory": "2g",
        "spark.driver.host": "localhost",
        "spark.driver.bindAddress": "127.0.0.1",
        # Nor is Java worth its best compiler for so short a life: half of the time went there.
        "spark.driver.extraJavaOptions": "-Xss16m -XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    }
    with suppress(ConnectorError):  # tests of Kafka on Spark are skipped without it
        settings["spark.jars"] = ",".join(map(str, connector_jars(pyspark_version)))
    builder = pyspark.SparkSession.builder.master("local[2]").appName("penstock tests")
    session = builder.config(map=settings).getOrCreate()
    yield session
    session.stop()


@pytest.fixture
def connector(request: pytest.FixtureRequest) -> None:
    """Skips a test on Spark where Spark's Kafka connector cannot be fetched."""
    if "spark" in request.fixturenames:
        session: SparkSession = request.getfixturevalue("spark")
        if not session.sparkContext.getConf().contains("spark.jars"):
            pytest.skip("Spark's Kafka connector cannot be fetched")
