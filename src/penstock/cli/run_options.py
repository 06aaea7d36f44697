"""The options of the commands that run queries: their input, and settings that override the dialect."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import wraps
from typing import Any, TypeVar
from typing import Literal as OneOf

import click

from penstock.api.settings import SettingError, duration, origin, report_policy, size
from penstock.cli.options import passed_as, with_options
from penstock.rdf.changes import ENDING as CHANGES
from penstock.rdf.credentials import VARIABLE, ServiceAuth, service_auth
from penstock.rdf.endpoints import DEFAULT_MAX_BYTES, DEFAULT_TIMEOUT
from penstock.rdf.errors import SourceError
from penstock.syntax import ast

Value = TypeVar("Value")


@dataclass(frozen=True, slots=True)
class RunOptions:
    """The values of the options, with their names; `streams` and `graphs` are `IRI=SOURCE`, or the source alone."""

    streams: tuple[str, ...] = ()
    graphs: tuple[str, ...] = ()
    t0: int | OneOf["first"] = 0
    lateness: int = 0
    report: ast.Report | None = None
    operator: ast.Operator | None = None
    duplicates: OneOf["set", "bag"] | None = None
    graph_updates: tuple[str, ...] = ()
    service_timeout: int = DEFAULT_TIMEOUT
    service_refresh: int | None = None
    service_max_size: int = DEFAULT_MAX_BYTES
    service_auth: ServiceAuth = field(default_factory=lambda: known_auth(()), repr=False)

    @property
    def register_options(self) -> dict[str, Any]:
        """The arguments of `Engine.register` that these options set."""
        return {name: getattr(self, name) for name in _OF_REGISTER}


_OF_REGISTER = (
    *("t0", "lateness", "report", "operator", "duplicates"),
    *("service_timeout", "service_refresh", "service_max_size"),
)


def option_value(read: Callable[[str], Value]) -> Callable[[str], Value]:
    """A reader of option values for click; its error messages are shown unchanged."""

    @wraps(read)
    def reading(value: str) -> Value:
        try:
            return read(value)
        except SettingError as error:
            raise click.BadParameter(str(error)) from None

    return reading


def known_auth(given: tuple[str, ...]) -> ServiceAuth:
    try:
        return service_auth(given)
    except SourceError as error:
        raise click.BadParameter(f"{error}.") from None


run_options = passed_as(
    "run",
    RunOptions,
    click.option(
        "--stream",
        "streams",
        multiple=True,
        metavar="[IRI=]SOURCE",
        help="Bind a stream (repeatable): a file or folder, standard input (-), a file replayed in real time "
        "(replay+FILE) or faster (replay+FILE?speed=10), a folder to which files are added (FOLDER?follow), lines from "
        "a server (tcp://HOST:PORT), a Kafka topic (kafka://HOST:PORT/TOPIC; with ?until=now, as history), an MQTT "
        "topic (mqtt://HOST/TOPIC), Server-Sent Events (sse+https://HOST/PATH), a WebSocket (wss://HOST/PATH), or "
        "a Linked Data Event Stream (ldes+https://HOST/PATH). IRI= is optional if the query reads only one stream.",
    ),
    click.option(
        "--graph",
        "graphs",
        multiple=True,
        metavar="[IRI=]SOURCE",
        help="Load a named graph, or a part of the default graph (repeatable), from a file: RDF, "
        f"compressed or not, .parquet with columns s, p, o (terms as N-Triples), or {CHANGES} for a graph that "
        "changes. Or from a SPARQL endpoint, sparql+http://HOST/PATH: fetched once, or every 30 s with ?refresh=30s; "
        "?graph=IRI selects a named graph, ?timeout=5s limits the time.",
    ),
    click.option(
        "--t0",
        type=option_value(origin),
        default="0",
        show_default=True,
        metavar="MS|ISO|first",
        help="When the first window opens; first is the instant before the first element.",
    ),
    click.option(
        "--lateness",
        type=option_value(duration),
        default="0",
        show_default=True,
        metavar="DURATION",
        help="How far elements may be out of order.",
    ),
    click.option(
        "--report",
        type=option_value(report_policy),
        metavar="POLICY",
        help='When to evaluate, such as "window-close & non-empty", content-change, arrival or "periodic 5s".',
    ),
    click.option(
        "--operator",
        type=click.Choice(("rstream", "istream", "dstream"), case_sensitive=False),
        help="Emit all solutions, only new ones, or only removed ones.",
    ),
    click.option(
        "--duplicates",
        type=click.Choice(("set", "bag"), case_sensitive=False),
        help="Count duplicate triples of a window once (set) or each time (bag).",
    ),
)
"""--stream, --graph, and settings that override the dialect; the command receives them as `run`, a RunOptions."""

updates_option = click.option(
    "--graph-updates",
    multiple=True,
    metavar="[IRI=]FILE",
    help="Add triples to a graph (--graph), or delete triples, while the query runs (repeatable); a line of FILE is "
    '`A <s> <p> <o> "TS" .` to add a triple at TS, `D <s> <p> <o> "TS" .` to delete it.',
)

service_options = with_options(
    click.option(
        "--service-timeout",
        type=option_value(duration),
        default=f"{DEFAULT_TIMEOUT // 1000}s",
        show_default=True,
        metavar="DURATION",
        help="Timeout of SERVICE endpoints.",
    ),
    click.option(
        "--service-max-size",
        type=option_value(size),
        default=f"{DEFAULT_MAX_BYTES // 1_000_000}MB",
        show_default=True,
        metavar="SIZE",
        help="Maximum size of an endpoint's response, uncompressed.",
    ),
    click.option(
        "--service-auth",
        multiple=True,
        metavar="URL=CREDENTIALS",
        callback=lambda context, option, given: known_auth(given),
        help="USER:PASSWORD or 'Bearer TOKEN' for endpoints whose addresses begin with URL, in SERVICE and --graph "
        f"(repeatable). The environment variable {VARIABLE} takes the same, one per line, and keeps secrets out of "
        "the process list.",
    ),
)
"""--service-timeout, --service-max-size, --service-auth."""
