"""The Spark session that queries run in: the active one, or a new local one, started without output.

Spark's process writes to a pipe, whose last lines are kept to explain a failure; with `verbose` it writes to standard
error instead.
"""

from __future__ import annotations

import logging
import os
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.util import find_spec
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from penstock.engines.spark.driver_memory import MEMORY, driver_memory
from penstock.engines.spark.failures import SPARK_OUTPUT, STACK_TOO_SMALL, reason
from penstock.engines.spark.java import Java, NoJavaError, find_java
from penstock.engines.spark.kafka_connector import ConnectorError, connector_jars

if TYPE_CHECKING:
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

NO_SETTINGS: Mapping[str, str] = MappingProxyType({})

DEFAULTS: Mapping[str, str] = MappingProxyType(
    {
        "spark.app.name": "penstock",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.execution.arrow.pyspark.enabled": "true",
        # Sorting terms with equal prefixes is slow. Tables small enough for a hash table are joined by hash.
        "spark.sql.adaptive.maxShuffledHashJoinLocalMapThreshold": "64m",
        # Python workers keep what they free for the next batch: else a tenth of their time goes to the system for it.
        "spark.executorEnv.MALLOC_TRIM_THRESHOLD_": str(256 << 20),
        "spark.executorEnv.MALLOC_MMAP_THRESHOLD_": str(256 << 20),
    }
)
"""The settings of a session that Penstock starts, unless others are given."""

_JAVA_OPTIONS = "spark.driver.extraJavaOptions"
_DEEP_PLANS = "-Xss16m"
_PARTITIONS = "spark.sql.shuffle.partitions"
_STANDARD_ERROR = 2

_LOGGERS = ("py4j", "DataFrameQueryContextLogger", "SQLQueryContextLogger")

_starting = threading.Lock()


class SessionError(Exception):
    """Spark is not available: the message gives the reason and the remedy."""


class PlanTooDeepError(SessionError):
    """The stack of Java's threads is too small for a plan, in a session that was started with Java's default stack."""

    def __init__(self) -> None:
        super().__init__(STACK_TOO_SMALL[0].upper() + STACK_TOO_SMALL[1:])


@contextmanager
def checked_stack() -> Iterator[None]:
    """Raises PlanTooDeepError, one sentence, if Spark raises a StackOverflowError of a thousand lines."""
    from py4j.protocol import Py4JJavaError
    from pyspark.errors import PySparkException

    try:
        yield
    except (Py4JJavaError, PySparkException) as error:
        if "java.lang.StackOverflowError" in str(error):
            raise PlanTooDeepError from None
        raise


def session(
    master: str | None = None,
    conf: Mapping[str, str] = NO_SETTINGS,
    *,
    verbose: bool = False,
    reads_kafka: bool = False,
) -> SparkSession:
    """The active session, or a new one: on `master`, else as Spark is configured, by default on this machine.

    If a session is active, there is never a second one; it adopts the settings that can change while it runs. With
    `reads_kafka` a new one has Spark's Kafka connector, unless `conf` says which jars it has. Raises SessionError if
    there is no Spark or no Java, if Spark does not start, and if a setting comes too late.
    """
    if find_spec("pyspark") is None:
        raise SessionError("PySpark is not installed: pip install pyspark")
    settings = {**conf} if master is None else {**conf, "spark.master": master}
    with _starting:
        active = _active()
        if active is not None:
            _change(active, settings)
            return active
        if reads_kafka and not any(name.startswith("spark.jars") for name in settings):
            settings["spark.jars"] = _connector()
        return _start(settings, verbose)


def _connector() -> str:
    import pyspark

    try:
        return ",".join(map(str, connector_jars(pyspark.__version__)))
    except ConnectorError as error:
        raise SessionError(f"{error}: name its files with --conf spark.jars=FILE,…") from None


def is_local(spark: SparkSession) -> bool:
    """Whether Spark is a single process on this machine."""
    return str(spark.sparkContext.master).partition("[")[0] == "local"


def adopted(spark: SparkSession) -> SparkSession:
    """The session of a program. If it is local, and no Python is set for its workers, they use this program's.

    Otherwise Spark starts the first `python3` of the path, which may lack Penstock and its dependencies.
    """
    context = spark.sparkContext
    if is_local(spark) and "PYSPARK_PYTHON" not in os.environ and spark.conf.get(_PYTHON, None) is None:
        context.pythonExec = sys.executable
    return spark


_PYTHON = "spark.pyspark.python"


def _active() -> SparkSession | None:
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    active = SparkSession.getActiveSession()
    if active is None and SparkContext._active_spark_context is not None:
        return SparkSession.builder.getOrCreate()  # that of another thread
    return active


def _change(active: SparkSession, settings: Mapping[str, str]) -> None:
    for name, value in settings.items():
        if active.conf.get(name, None) != value:
            if not active.conf.isModifiable(name):
                raise SessionError(f"Spark is already running, so {name} cannot be changed")
            active.conf.set(name, value)


def _start(settings: Mapping[str, str], verbose: bool) -> SparkSession:
    from py4j.protocol import Py4JJavaError
    from pyspark import SparkContext
    from pyspark.errors import PySparkException
    from pyspark.sql import SparkSession

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    os.environ.setdefault("PYSPARK_DRIVER_PYTHON", sys.executable)
    # Under spark-submit, and after an earlier session, Java is already running, with the requested settings.
    is_first = SparkContext._gateway is None and "PYSPARK_GATEWAY_PORT" not in os.environ
    chosen = _with_defaults(settings) if is_first else {**settings}
    try:
        if is_first:
            _launch(chosen, verbose)
        started = SparkSession.builder.config(map={**chosen}).getOrCreate()
        started.conf.get(_PARTITIONS)  # Spark reads the settings only now
    except (Py4JJavaError, PySparkException) as error:
        raise SessionError(f"Spark did not start: {reason(str(error).splitlines()) or error}") from None
    if is_first and _PARTITIONS not in settings and str(started.sparkContext.master).startswith("local"):
        started.conf.set(_PARTITIONS, str(started.sparkContext.defaultParallelism))
    return started


def _with_defaults(settings: Mapping[str, str]) -> dict[str, str]:
    java_options = f"{_DEEP_PLANS} {settings.get(_JAVA_OPTIONS, '')}".strip()
    memory = driver_memory(settings)
    of_memory = {} if memory is None else {MEMORY: memory}
    return {**DEFAULTS, **of_memory, **settings, _JAVA_OPTIONS: java_options}


def _launch(settings: Mapping[str, str], verbose: bool) -> None:
    """Starts Java and a context, with the settings that they need from the start."""
    from pyspark import SparkConf, SparkContext
    from pyspark.errors import PySparkRuntimeError
    from pyspark.java_gateway import launch_gateway

    try:
        java = find_java()
    except NoJavaError as error:
        raise SessionError(str(error)) from None
    conf = SparkConf(loadDefaults=False).setAll(list(settings.items()))
    try:
        with _java_home(java), _output(verbose) as output:
            gateway = launch_gateway(conf, output)  # type: ignore[no-untyped-call]
    except PySparkRuntimeError as error:
        lines = SPARK_OUTPUT.lines() or [str(error)]
        raise SessionError(f"Spark did not start: {reason(lines) or lines[-1]}") from None
    context = SparkContext(conf=conf, gateway=gateway)
    if not verbose:
        _hush(context)


def _hush(context: SparkContext) -> None:
    """When something fails, Spark's Python side also writes log lines, besides raising the error."""
    from pyspark.logger import PySparkLogger

    for name in _LOGGERS:
        PySparkLogger.getLogger(name).setLevel(logging.CRITICAL + 1)
    # Ctrl-C while Java is working; py4j has no logger of its own for this.
    logging.getLogger().addFilter(lambda record: record.module != "java_gateway")
    server: Any = context._accumulatorServer
    server.handle_error = lambda request, address: None


@contextmanager
def _java_home(java: Java) -> Iterator[None]:
    """The environment in which Spark's scripts find this Java."""
    before = os.environ.pop("JAVA_HOME", None)
    if java.home is not None:
        os.environ["JAVA_HOME"] = str(java.home)
    try:
        yield
    finally:
        os.environ.pop("JAVA_HOME", None)
        if before is not None:
            os.environ["JAVA_HOME"] = before


@contextmanager
def _output(verbose: bool) -> Iterator[dict[str, int]]:
    """Where a process writes: in any case, standard output is for results."""
    if verbose:
        yield {"stdout": _STANDARD_ERROR}
        return
    readable, writable = os.pipe()
    SPARK_OUTPUT.read(readable)
    try:
        yield {"stdout": writable, "stderr": writable}
    finally:
        os.close(writable)
