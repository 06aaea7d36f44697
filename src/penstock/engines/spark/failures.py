"""The reason for a failure of Spark, in one sentence: from its errors, and from the last output of its process."""

from __future__ import annotations

import re
import sys
import threading
from collections import deque
from collections.abc import Sequence
from subprocess import Popen, TimeoutExpired

_KEPT_LINES = 200
_SECONDS_TO_END = 5

_CAUSE = "Caused by: "
_CONDITION = re.compile(r"\[[A-Z0-9_.]+\] ")
_TRACEBACK = "Traceback (most recent call last):"
_NO_MODULE = re.compile(r"No module named '(\w+)")
_SOCKET = re.compile(r"\bSocket\[([^\[\]]+:[0-9]+)\]")
_TELLING = re.compile(r"\b(\w*Error|\w*Exception|Invalid|Unrecognized)\b")
_ORIGIN = re.compile(r'^(: |Exception in thread "[^"]*" |Caused by: |Error: )*([\w.$]+(Exception|Error): )*')


OUT_OF_MEMORY = (
    "it ran out of memory: set spark.driver.memory to more than it has, for example spark.driver.memory=8g, or "
    "spark.executor.memory on a cluster"
)
STACK_TOO_SMALL = (
    "the plan of the query is too deep for the stack of Java's threads: start the session with "
    "spark.driver.extraJavaOptions=-Xss16m (and spark.executor.extraJavaOptions=-Xss16m on a cluster)"
)


class SparkOutput:
    """The last lines that Spark's process wrote, read until it ends."""

    def __init__(self) -> None:
        self._lines: deque[str] = deque(maxlen=_KEPT_LINES)
        self._reading: threading.Thread | None = None

    def read(self, readable: int) -> None:
        self._reading = threading.Thread(target=self._read, args=(readable,), name="spark-messages", daemon=True)
        self._reading.start()

    def _read(self, readable: int) -> None:
        with open(readable, encoding="utf-8", errors="replace") as written:
            self._lines.extend(line.rstrip() for line in written)

    def lines(self) -> list[str]:
        """The last lines of a process that has ended."""
        if self._reading is not None:
            self._reading.join(timeout=_SECONDS_TO_END)
        return list(self._lines)


SPARK_OUTPUT = SparkOutput()
"""The last lines of the Spark process of this program."""


def failure(error: Exception) -> str | None:
    """The reason why Spark failed; None if the error is not from Spark."""
    if _has_ended(error):
        why = reason(SPARK_OUTPUT.lines())
        return f"its process has ended: {why}" if why else "its process has ended"
    if type(error).__module__.partition(".")[0] in ("pyspark", "py4j"):
        text = str(error)
        return _with_servers(reason(text.splitlines()) or text.partition("\n")[0], text)
    return None


def reason(lines: Sequence[str]) -> str:
    """The most informative line, without the names of classes before it; empty if there is none."""
    if any("OutOfMemoryError" in line or "GC overhead limit" in line for line in lines):
        return OUT_OF_MEMORY
    if any("StackOverflowError" in line for line in lines):
        return STACK_TOO_SMALL
    raised = _raised_in_python(lines)
    missing = _NO_MODULE.search(raised)
    if missing is not None:
        return (
            f"{missing[1]} is not installed for the Python of Spark's executors: install penstock there, with what it "
            "depends on, or set PYSPARK_PYTHON to a Python that has it"
        )
    causes = [line for line in lines if line.startswith(_CAUSE)]
    conditions = [line for line in lines if _CONDITION.match(line)]
    telling = causes[-1:] or conditions or [line for line in lines if _TELLING.search(line)]
    return _ORIGIN.sub("", raised or next(iter(telling), ""))


def _raised_in_python(lines: Sequence[str]) -> str:
    """The exception below the last traceback, whose other lines are indented; none if it only repeats a Java error."""
    places = [place for place, line in enumerate(lines) if line.endswith(_TRACEBACK)]
    below = lines[places[-1] + 1 :] if places else []
    raised = next((line for line in below if line and not line[0].isspace()), "")
    return "" if raised.startswith("py4j.") else raised


def _with_servers(why: str, text: str) -> str:
    """The servers of streams, if one of them did not respond: Spark's plan names them."""
    servers = dict.fromkeys(f"tcp://{server}" for server in _SOCKET.findall(text))
    if not (servers and why.startswith("Connection")):
        return why
    return f"{why} by {' or '.join(servers)}: start the server first, and check host and port"


def _has_ended(error: Exception) -> bool:
    """Whether Spark has ended; its process may still be ending when this is first noticed."""
    if "pyspark" not in sys.modules:
        return False
    from py4j.protocol import Py4JError, Py4JJavaError
    from pyspark import SparkContext

    process: Popen[bytes] | None = getattr(SparkContext._gateway, "proc", None)
    is_of_connection = isinstance(error, (Py4JError, ConnectionRefusedError, ConnectionResetError))
    if process is None or not is_of_connection or isinstance(error, Py4JJavaError):
        return False
    try:
        process.wait(_SECONDS_TO_END)
    except TimeoutExpired:
        return False
    return True
