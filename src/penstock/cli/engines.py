"""Which engine queries run on, and how Spark is started: --engine, --master, --conf, --windows, --verbose."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import wraps
from typing import TYPE_CHECKING, Any, TypeVar

import click

from penstock.api.engine import Engine
from penstock.cli.run_options import RunOptions, refuse_endless
from penstock.engines.spark.session import session
from penstock.rdf.credentials import ServiceAuth
from penstock.runtime.settings import Windows

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from penstock.cli.query_set import QuerySet

Command = TypeVar("Command", bound=Callable[..., Any])

ENGINES = {"spark": "Spark", "duckdb": "DuckDB"}

_MASTER = re.compile(
    r"local(\[(\d+|\*)(\s*,\s*\d+)?\])?|local-cluster\[\s*\d+\s*,\s*\d+\s*,\s*\d+\s*\]|yarn|spark://.+|k8s://.+"
)


@dataclass(frozen=True, slots=True)
class EngineOptions:
    """`master` and `conf` are for the Spark session; `verbose` shows the messages of Spark.

    `windows` says where a live run on Spark evaluates its windows.
    """

    name: str
    master: str | None = None
    conf: Mapping[str, str] = field(default_factory=dict)
    verbose: bool = False
    windows: Windows = "auto"

    @property
    def title(self) -> str:
        return ENGINES[self.name]

    def start(self) -> SparkSession | None:
        """The Spark session, if the engine is Spark. Raises SessionError where Spark cannot run."""
        return session(self.master, self.conf, verbose=self.verbose) if self.name == "spark" else None

    def engine(self, auth: ServiceAuth | None = None) -> Engine:
        """The engine; Spark starts when a query runs, so mistakes in the input are found before."""
        start: Any = self.start if self.name == "spark" else None
        return Engine(start, service_auth=auth, windows=self.windows)

    def bound(self, run: RunOptions, queries: QuerySet, replaced: Mapping[str, Any] | None = None) -> Engine:
        """The engine with the streams and graphs of a command; `replaced` has other sources for some streams.

        Raises InputError where a binding does not fit the queries, and SourceError where there is nothing to read.
        """
        engine, chain, prefixes = self.engine(run.service_auth), queries.chain, queries.prefixes
        bindings = {**run.stream_bindings(chain, prefixes), **(replaced or {})}
        if self.name != "spark":
            refuse_endless(source for source in bindings.values() if isinstance(source, str))
        for iri, source in bindings.items():
            engine.stream(f"<{iri}>", source)
        for graph, file in run.graph_bindings(chain, prefixes):
            engine.graph(file, graph and f"<{graph}>")
        for graph, file in run.update_bindings(chain, prefixes):
            engine.graph_updates(file, graph and f"<{graph}>")
        return engine


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
        help="Run on spark, on this machine or a cluster, or on duckdb, in this process, without Java.",
    ),
    click.option(
        "--master",
        type=master_url,
        metavar="URL",
        help="The master of Spark, such as local[4] or spark://HOST:7077.  [default: Spark's own configuration, else "
        "all cores of this machine]",
    ),
    click.option(
        "--conf",
        type=spark_setting,
        multiple=True,
        metavar="NAME=VALUE",
        help="A setting of Spark, such as spark.driver.memory=4g (repeatable).",
    ),
    click.option(
        "--windows",
        type=click.Choice(("auto", "driver", "cluster"), case_sensitive=False),
        default="auto",
        show_default=True,
        help="Where a live run on Spark evaluates its windows: with DuckDB beside the driver, or with Spark SQL on the "
        "cluster; auto changes to the cluster when they outgrow the driver, and back.",
    ),
    click.option("--verbose", is_flag=True, help="Show the messages of Spark on standard error."),
)


def engine_options(command: Command) -> Command:
    """--engine, --master, --conf, --windows, --verbose; the command takes them as `engine`."""

    @wraps(command)
    def with_engine(
        *arguments: Any,
        engine: str,
        master: str | None,
        conf: tuple[tuple[str, str], ...],
        verbose: bool,
        windows: Windows,
        **others: Any,
    ) -> Any:
        if engine != "spark" and (master or conf or windows != "auto"):
            option = "--master" if master else "--conf" if conf else "--windows"
            raise click.BadParameter(f"it is for Spark, and the engine is {engine}.", param_hint=f"'{option}'")
        return command(*arguments, engine=EngineOptions(engine, master, dict(conf), verbose, windows), **others)

    for option in reversed(_OPTIONS):
        with_engine = option(with_engine)
    return with_engine  # type: ignore[return-value]
