"""--engine, --master, --conf: what is wrong with them is said before anything is started."""

from __future__ import annotations

import pytest
from click.testing import CliRunner
from pyspark.errors import PySparkException

from penstock.cli import commands
from penstock.cli.engines import EngineOptions
from penstock.engines.spark.session import SessionError


@pytest.mark.parametrize("command", [("run", "q.rq"), ("verify", "q.rq"), ("demo",)], ids=lambda words: words[0])
@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--engine", "flink"], "there is no engine 'flink'; there are spark and duckdb."),
        (["--engine", "spark", "--master", "local(2)"], "'local(2)' is not a Spark master; write local[2]"),
        (["--engine", "spark", "--conf", "spark.driver.memory"], "has no value; write NAME=VALUE"),
        (
            ["--engine", "spark", "--conf", "memory=4g"],
            "'memory' is not a setting of Spark; settings begin with spark.",
        ),
        (["--engine", "duckdb", "--master", "yarn"], "'--master': it is for Spark, but the engine is duckdb."),
        (["--engine", "duckdb", "--conf", "spark.a=b"], "'--conf': it is for Spark, but the engine is duckdb."),
    ],
)
def test_a_wrong_option(command: tuple[str, ...], options: list[str], message: str) -> None:
    result = CliRunner().invoke(commands, [*command, *options])
    assert result.exit_code == 2
    assert message in result.stderr


@pytest.mark.parametrize(
    "master", ["local", "local[2]", "local[*]", "local[2, 3]", "local-cluster[2,1,1024]", "yarn", "spark://host:7077"]
)
def test_a_master_of_spark(master: str) -> None:
    result = CliRunner().invoke(commands, ["run", "no-such-file.rq", "--engine", "spark", "--master", master])
    assert "no-such-file.rq" in result.stderr
    assert "--master" not in result.stderr


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (SessionError("Spark needs Java 17 or later"), "error: Spark needs Java 17 or later\n"),
        (
            PySparkException(
                "An error occurred.\n: a.b.SparkException: Job aborted.\nCaused by: a.b.IOException: disk full"
            ),
            "error: Spark failed: disk full\n  = --verbose shows Spark's messages\n",
        ),
        (
            PySparkException("Job aborted: java.lang.OutOfMemoryError: Java heap space"),
            "error: Spark failed: it ran out of memory: set spark.driver.memory to more than it has, for example ",
        ),
    ],
    ids=["no Java", "a cause", "memory"],
)
def test_a_failure_of_spark_is_a_sentence(error: Exception, message: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(options: EngineOptions, *, reads_kafka: bool = False) -> None:
        raise error

    monkeypatch.setattr(EngineOptions, "start", fail)
    result = CliRunner().invoke(commands, ["demo"])
    assert result.exit_code == 1
    assert message in result.stderr
