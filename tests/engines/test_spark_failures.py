"""Errors of Spark as one sentence: what was raised, and not a line of the code that raised it."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from pyspark.errors import PySparkException
from sqlglot import exp

from penstock.algebra.operators import Table
from penstock.engines.protocol import Slice
from penstock.engines.spark.failures import failure, reason
from penstock.engines.spark.kept import KeptFrames
from penstock.engines.spark.session import PlanTooDeepError, checked_stack
from penstock.engines.spark.statements import SparkQuery
from penstock.relational.static_parts import StaticPart

TRACEBACK = """Traceback (most recent call last):
  File "penstock/rdf/compression.py", line 23, in open_bytes
    except OSError as error:
  File "penstock/rdf/compression.py", line 75, in _open_zstandard
    raise SourceError(
penstock.rdf.errors.SourceError: t.tnt.zst: to read .zst files, install the package zstandard

\tat org.apache.spark.api.python.BasePythonRunner.handlePythonException(PythonRunner.scala:581)
Caused by: java.lang.IllegalStateException: something else
"""


@pytest.mark.parametrize(
    "before",
    [
        "An exception was thrown from the Python worker:\n",
        "[PYTHON_EXCEPTION] An exception was thrown from the Python worker: ",
        "org.apache.spark.api.python.PythonException: ",
        "Traceback (most recent call last):\nKeyError: 1\n\nDuring handling another exception occurred:\n\n",
    ],
)
def test_what_a_worker_raised_is_below_its_traceback(before: str) -> None:
    told = "t.tnt.zst: to read .zst files, install the package zstandard"
    assert reason((before + TRACEBACK).splitlines()) == told


def test_executors_without_penstock() -> None:
    text = (
        "[PYTHON_EXCEPTION] An exception was thrown from the Python worker: Traceback (most recent call last):\n"
        '  File "serializers.py", line 460, in loads\n'
        "    return cloudpickle.loads(obj, encoding=encoding)\n"
        "ModuleNotFoundError: No module named 'penstock'\n"
    )
    assert "PYSPARK_PYTHON" in reason(text.splitlines())


def test_a_traceback_that_ends_in_java_gives_its_cause() -> None:
    text = (
        "Return Message: Traceback (most recent call last):\n"
        "    raise Py4JJavaError(\n"
        "py4j.protocol.Py4JJavaError: An error occurred while calling o12.collect.\n"
        ": org.apache.spark.SparkException: Job aborted\n"
        "Caused by: java.io.IOException: No space left on device\n"
    )
    assert reason(text.splitlines()) == "No space left on device"


def test_a_server_that_is_not_there_is_named() -> None:
    from pyspark.errors import StreamingQueryException

    plan = "+- ~StreamingDataSourceV2ScanRelation[value#0] Socket[localhost:1]"
    text = f"Connection refused\n=== Streaming Query ===\n{plan}\n{plan}"
    told = failure(StreamingQueryException(text))
    assert told is not None
    assert told.startswith("Connection refused by tcp://localhost:1: start the server first")


OVERFLOW = "An error occurred while calling o7.sql.\n: java.lang.StackOverflowError\n" + "\tat a.B(B.scala:1)\n" * 1024


def test_a_plan_that_is_too_deep_names_the_setting() -> None:
    assert "spark.driver.extraJavaOptions=-Xss16m" in reason(OVERFLOW.splitlines())
    with pytest.raises(PlanTooDeepError, match="-Xss16m"), checked_stack():
        raise PySparkException(OVERFLOW)
    with pytest.raises(PySparkException, match="else"), checked_stack():
        raise PySparkException("something else")


def overflow(*arguments: object) -> Any:
    raise PySparkException(OVERFLOW)


def test_it_is_found_wherever_a_query_is_planned() -> None:
    context = SimpleNamespace(defaultParallelism=2)
    store: Any = SimpleNamespace(session=SimpleNamespace(sparkContext=context), layout=None, selected=overflow)
    query = SparkQuery(store, overflow, overflow, may_skip_instants=False, longest=None)
    part = Slice([1], None)
    static = StaticPart(Table((), ()), exp.select("1"), {})
    for plan in (lambda: query.evaluate(part), lambda: query.frame(part), lambda: KeptFrames(store, "p").keep(static)):
        with pytest.raises(PlanTooDeepError):
            plan()


@pytest.mark.parametrize("line", ["java.lang.OutOfMemoryError: Java heap space", "GC overhead limit exceeded"])
def test_too_little_memory_names_the_setting(line: str) -> None:
    assert "spark.driver.memory=8g" in reason(["Job aborted", f"Caused by: {line}", "\tat a.B(B.scala:1)"])
