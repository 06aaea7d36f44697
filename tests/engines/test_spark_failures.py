"""Errors of Spark as one sentence: what was raised, and not a line of the code that raised it."""

from __future__ import annotations

import pytest
from pyspark.errors import PySparkException

from penstock.engines.spark.failures import failure, reason
from penstock.engines.spark.session import PlanTooDeepError, checked_stack

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


def test_a_plan_that_is_too_deep_names_the_setting() -> None:
    text = "An error occurred while calling o7.sql.\n: java.lang.StackOverflowError\n" + "\tat a.B(B.scala:1)\n" * 1024
    assert "spark.driver.extraJavaOptions=-Xss16m" in reason(text.splitlines())
    with pytest.raises(PlanTooDeepError, match="-Xss16m"), checked_stack():
        raise PySparkException(text)
    with pytest.raises(PySparkException, match="else"), checked_stack():
        raise PySparkException("something else")


@pytest.mark.parametrize("line", ["java.lang.OutOfMemoryError: Java heap space", "GC overhead limit exceeded"])
def test_too_little_memory_names_the_setting(line: str) -> None:
    assert "spark.driver.memory=8g" in reason(["Job aborted", f"Caused by: {line}", "\tat a.B(B.scala:1)"])
