"""Which engine queries run on, and how Spark is started: --engine, --master, --conf, --verbose."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

import click

from penstock.cli.options import passed_as

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from penstock.api.engine import Engine
    from penstock.engines.protocol import Windows
    from penstock.rdf.credentials import ServiceAuth

ENGINES = {"spark": "Spark", "duckdb": "DuckDB"}

_MASTER = re.compile(
    r"local(\[(\d+|\*)(\s*,\s*\d+)?\])?|local-cluster\[\s*\d+\s*,\s*\d+\s*,\s*\d+\s*\]|yarn|spark://.+|k8s://.+"
)


@dataclass(frozen=True, slots=True)
class EngineOptions:
    """`master` and `conf` are for the Spark session; `verbose` shows the messages of Spark.

    `windows` says where a run on Spark evaluates its windows.
    """

    name: str
    master: str | None = None
    conf: Mapping[str, str] = field(default_factory=dict)
    verbose: bool = False
    windows: Windows = "auto"

    @property
    def title(self) -> str:
        return ENGINES[self.name]

    def start(self, *, reads_kafka: bool = False) -> SparkSession:
        """The Spark session. Raises SessionError where Spark cannot run."""
        from penstock.engines.spark.session import session  # not needed without Spark

        return session(self.master, self.conf, verbose=self.verbose, reads_kafka=reads_kafka)

    def engine(
        self, auth: ServiceAuth | None = None, retry_timeout: int | None = None, *, reads_kafka: bool = False
    ) -> Engine:
        """The engine; Spark starts when a query runs, so mistakes in the input are found before."""
        from penstock.api.engine import Engine  # slow to load

        if self.name == "spark":
            start = partial(self.start, reads_kafka=reads_kafka)
            return Engine(start, service_auth=auth, windows=self.windows, retry_timeout=retry_timeout)
        _keep_pandas_out()
        return Engine(service_auth=auth, retry_timeout=retry_timeout)


class _PandasFinder:
    """Finds no pandas."""

    @staticmethod
    def find_spec(name: str, path: object = None, target: object = None) -> None:
        if name == "pandas":
            raise ModuleNotFoundError(name)


def _keep_pandas_out() -> None:
    """PyArrow loads pandas for the first array that it makes, which takes 0.2 s, unless it has not found it before."""
    import pyarrow as pa

    sys.meta_path.insert(0, _PandasFinder)
    pa.array([])
    sys.meta_path.remove(_PandasFinder)


def engine_name(value: str) -> str:
    if value.lower() in ENGINES:
        return value.lower()
    raise click.BadParameter(f"there is no engine {value!r}; there are {' and '.join(ENGINES)}.")


def master_url(value: str) -> str:
    if _MASTER.fullmatch(value.strip()):
        return value.strip()
    known = "local[2], local[*], local-cluster[2,1,1024], spark://HOST:PORT, yarn or k8s://URL"
    raise click.BadParameter(f"{value!r} is not a Spark master; write {known}.")


def spark_setting(value: str) -> tuple[str, str]:
    name, equals, setting = (part.strip() for part in value.partition("="))
    if not equals or not name:
        raise click.BadParameter(f"{value!r} has no value; write NAME=VALUE, such as spark.driver.memory=4g.")
    if not name.startswith("spark."):
        raise click.BadParameter(f"{name!r} is not a setting of Spark; settings begin with spark.")
    return name, setting


def _engine(
    engine: str, master: str | None, conf: tuple[tuple[str, str], ...], windows: Windows, verbose: bool
) -> EngineOptions:
    if engine != "spark" and (master or conf or windows != "auto"):
        option = "--master" if master else "--conf" if conf else "--windows"
        raise click.BadParameter(f"it is for Spark, but the engine is {engine}.", param_hint=f"'{option}'")
    return EngineOptions(engine, master, dict(conf), verbose, windows)


engine_options = passed_as(
    "engine",
    _engine,
    click.option(
        "--engine",
        type=engine_name,
        default="spark",
        show_default=True,
        metavar="ENGINE",
        help="spark (on this machine or a cluster) or duckdb (in this process, without Java).",
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
        "cluster; auto moves them to the cluster when they outgrow the driver, and back. With cluster, Spark SQL "
        "answers complete streams, too.",
    ),
    click.option("--verbose", is_flag=True, help="Show the messages of Spark on standard error."),
)
"""--engine, --master, --conf, --windows, --verbose; the command receives them as `engine`, an EngineOptions."""
