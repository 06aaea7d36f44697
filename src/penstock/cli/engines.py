"""Which engine a query runs on, and how Spark is to be started: --engine, --master, --conf, --verbose."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import wraps
from typing import Any, TypeVar

import click

from penstock.engines.duckdb.store import DuckDBStore
from penstock.engines.protocol import Engine
from penstock.engines.spark.session import session

Command = TypeVar("Command", bound=Callable[..., Any])

ENGINES = {"spark": "Spark", "duckdb": "DuckDB"}

_MASTER = re.compile(
    r"local(\[(\d+|\*)(\s*,\s*\d+)?\])?|local-cluster\[\s*\d+\s*,\s*\d+\s*,\s*\d+\s*\]|yarn|spark://.+|k8s://.+"
)


@dataclass(frozen=True, slots=True)
class EngineOptions:
    """`master` and `conf` are for the Spark session; `verbose` lets Spark speak on standard error."""

    name: str
    master: str | None = None
    conf: Mapping[str, str] = field(default_factory=dict)
    verbose: bool = False

    @property
    def title(self) -> str:
        return ENGINES[self.name]

    def open(self) -> Engine:
        """Raises SessionError where there is no Spark to run on."""
        if self.name == "duckdb":
            return DuckDBStore()
        started = session(self.master, self.conf, verbose=self.verbose)
        from penstock.engines.spark.store import SparkEngine

        return SparkEngine(started)


def engine_name(value: str) -> str:
    if value.lower() in ENGINES:
        return value.lower()
    raise click.BadParameter(f"there is no engine {value!r}; there are {' and '.join(ENGINES)}.")


def master_url(value: str) -> str:
    if _MASTER.fullmatch(value.strip()):
        return value.strip()
    known = "local[2], local[*], local-cluster[2,1,1024], spark://HOST:PORT, yarn or k8s://URL"
    raise click.BadParameter(f"{value!r} is no master of Spark, such as {known}.")


def spark_setting(value: str) -> tuple[str, str]:
    name, equals, setting = (part.strip() for part in value.partition("="))
    if not equals or not name:
        raise click.BadParameter(f"{value!r} sets nothing; write NAME=VALUE, such as spark.driver.memory=4g.")
    if not name.startswith("spark."):
        raise click.BadParameter(f"{name!r} is no setting of Spark: their names begin with spark.")
    return name, setting


_OPTIONS = (
    click.option(
        "--engine",
        type=engine_name,
        default="spark",
        show_default=True,
        metavar="ENGINE",
        help="Where to run: spark, on this machine or a cluster; duckdb, in this process, without Java.",
    ),
    click.option(
        "--master",
        type=master_url,
        metavar="URL",
        help="Where Spark runs, such as local[4] or spark://HOST:7077.  [default: what Spark is set up for, else all "
        "cores of this machine]",
    ),
    click.option(
        "--conf",
        type=spark_setting,
        multiple=True,
        metavar="NAME=VALUE",
        help="A setting of Spark, such as spark.driver.memory=4g (repeatable).",
    ),
    click.option("--verbose", is_flag=True, help="Show what Spark says, on standard error."),
)


def engine_options(command: Command) -> Command:
    """--engine, --master, --conf, --verbose; the command takes them as `engine`."""

    @wraps(command)
    def with_engine(
        *arguments: Any,
        engine: str,
        master: str | None,
        conf: tuple[tuple[str, str], ...],
        verbose: bool,
        **others: Any,
    ) -> Any:
        if engine != "spark" and (master or conf):
            option = "--master" if master else "--conf"
            raise click.BadParameter(f"it is for Spark, and the engine is {engine}.", param_hint=f"'{option}'")
        return command(*arguments, engine=EngineOptions(engine, master, dict(conf), verbose), **others)

    for option in reversed(_OPTIONS):
        with_engine = option(with_engine)
    return with_engine  # type: ignore[return-value]
