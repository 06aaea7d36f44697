"""The options of the commands that run queries: their input, and settings that override the dialect."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import wraps
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeVar
from typing import Literal as OneOf

import click

from penstock.algebra import Settings
from penstock.algebra.chaining import Chain
from penstock.algebra.inputs import GraphTriple, InputError, Inputs
from penstock.algebra.services import ServiceAnswer, ServiceCall, service_calls
from penstock.api.graphs import graph_of_file, with_updates
from penstock.api.settings import SettingError, duration, origin, report_policy, size
from penstock.api.spark_streams import is_endless
from penstock.cli.bindings import graph_bindings, stream_bindings
from penstock.rdf.changes import ENDING as CHANGES
from penstock.rdf.changes import Change, read_changes
from penstock.rdf.credentials import VARIABLE, ServiceAuth, service_auth
from penstock.rdf.elements import Element, OnMalformed
from penstock.rdf.endpoints import DEFAULT_MAX_BYTES, DEFAULT_TIMEOUT
from penstock.rdf.errors import SourceError
from penstock.rdf.sources import parse_source
from penstock.rdf.stream_reader import STANDARD_INPUT, read_stream
from penstock.syntax import ast

if TYPE_CHECKING:
    from penstock.sources.services import ServiceSettings

Command = TypeVar("Command", bound=Callable[..., Any])
Value = TypeVar("Value")

REPLAY = "replay+"


@dataclass(frozen=True, slots=True)
class RunOptions:
    """`streams` and `graphs` as they were given: `IRI=SOURCE`, or the source alone."""

    streams: tuple[str, ...]
    graphs: tuple[str, ...]
    settings: Settings
    lateness: int
    graph_updates: tuple[str, ...] = ()
    service_timeout: int = DEFAULT_TIMEOUT
    service_refresh: int | None = None
    service_max_size: int = DEFAULT_MAX_BYTES
    service_auth: ServiceAuth = field(default_factory=service_auth, repr=False)

    def inputs(
        self,
        chain: Chain,
        prefixes: Mapping[str, str],
        on_malformed: OnMalformed,
        *,
        most_elements: int | None = None,
    ) -> Inputs:
        """What the queries are run over, all of it in memory, and replays at once; `most_elements` cuts each stream.

        Raises InputError where a binding does not fit the queries, and SourceError where there is nothing to read.
        """
        streams: dict[str, Sequence[Element]] = {}
        bindings = self.stream_bindings(chain, prefixes)
        refuse_endless(bindings.values())
        for number, (iri, given) in enumerate(bindings.items(), start=1):
            source = parse_source(played_at_once(given))
            elements = read_stream(source.path, scope=f"s{number}", on_malformed=on_malformed, **source.options)
            streams[iri] = list(islice(elements, most_elements))
        return Inputs(streams, self._triples_of(chain, prefixes), self.lateness)

    def answers(self, chain: Chain) -> dict[ServiceCall, list[ServiceAnswer]]:
        """The current answers of the services that the queries call. Raises EndpointError."""
        from penstock.sources.services import ask  # slow to load

        calls = dict.fromkeys(call for query in chain.queries.values() for call in service_calls(query.text))
        return {call: [ServiceAnswer(ask(call, self.services))] for call in calls}

    @property
    def services(self) -> ServiceSettings:
        from penstock.sources.services import ServiceSettings

        return ServiceSettings(self.service_timeout, self.service_refresh, self.service_max_size, self.service_auth)

    @property
    def register_options(self) -> dict[str, Any]:
        """The arguments of `Engine.register` that these options set."""
        return {
            "t0": self.settings.origin,
            "lateness": self.lateness,
            "report": self.settings.report,
            "operator": self.settings.operator,
            "duplicates": self.settings.duplicates,
            "service_timeout": self.service_timeout,
            "service_refresh": self.service_refresh,
            "service_max_size": self.service_max_size,
        }

    def stream_bindings(self, chain: Chain, prefixes: Mapping[str, str]) -> dict[str, str]:
        bindings = stream_bindings(self.streams, chain, known_prefixes(chain, prefixes))
        if sum(is_standard_input(source) for source in bindings.values()) > 1:
            raise InputError("standard input is one stream, and two are bound to it: name a file for the other")
        return bindings

    def _triples_of(self, chain: Chain, prefixes: Mapping[str, str]) -> dict[str | None, list[GraphTriple]]:
        """The graphs with all their changes; those of endpoints do not change here."""
        graphs: dict[str | None, list[GraphTriple]] = {}
        mirrored: dict[str | None, list[GraphTriple]] = {}
        for number, (name, file) in enumerate(self.graph_bindings(chain, prefixes), start=1):
            parts = mirrored if _is_mirrored(file) else graphs
            parts.setdefault(name, []).extend(graph_of_file(file, f"g{number}", self.service_auth))
        for name, changes in self._changes_of(chain, prefixes).items():
            graphs[name] = with_updates(graphs.get(name, ()), changes)
        return {name: [*graphs.get(name, ()), *mirrored.get(name, ())] for name in {**graphs, **mirrored}}

    def graph_bindings(self, chain: Chain, prefixes: Mapping[str, str]) -> list[tuple[str | None, str]]:
        return graph_bindings(self.graphs, chain, known_prefixes(chain, prefixes))

    def _changes_of(self, chain: Chain, prefixes: Mapping[str, str]) -> dict[str | None, list[Change]]:
        """What is added to graphs and removed from them, and when."""
        changes: dict[str | None, list[Change]] = {}
        for number, (name, file) in enumerate(self.update_bindings(chain, prefixes), start=1):
            changes.setdefault(name, []).extend(read_changes(file, scope=f"u{number}"))
        return changes

    def update_bindings(self, chain: Chain, prefixes: Mapping[str, str]) -> list[tuple[str | None, str]]:
        return graph_bindings(self.graph_updates, chain, known_prefixes(chain, prefixes))


def refuse_endless(sources: Iterable[str]) -> None:
    """Raises InputError for a stream that has no end."""
    for source in filter(is_endless, sources):
        raise InputError(
            f"{source} has no end, and only `penstock run --engine spark` reads such a stream: name a file or folder"
        )


def known_prefixes(chain: Chain, prefixes: Mapping[str, str]) -> dict[str, str]:
    """The prefixes that were given, and those that the queries declare: of several that differ, the first query's."""
    declared = [declaration for query in chain.queries.values() for declaration in query.text.prologue.prefixes]
    return {**prefixes, **{declaration.prefix: declaration.iri for declaration in reversed(declared)}}


def _is_mirrored(file: str) -> bool:
    from penstock.sources.mirrors import mirror_of  # slow to load

    return mirror_of(file, "") is not None


def is_standard_input(source: str) -> bool:
    return source.partition("?")[0] == STANDARD_INPUT


def played_at_once(source: str) -> str:
    """What a replay plays, to be read at once; any other source as it is."""
    if not source.startswith(REPLAY):
        return source
    from penstock.sources.replaying import split_speed

    return split_speed(source.removeprefix(REPLAY))[0]


def run_options(command: Command) -> Command:
    """--stream, --graph, and settings that override the dialect; the command receives them as `run`."""

    @wraps(command)
    def with_run(
        *arguments: Any,
        streams: tuple[str, ...],
        graphs: tuple[str, ...],
        t0: int | OneOf["first"],
        lateness: int,
        report: ast.Report | None,
        operator: ast.Operator | None,
        duplicates: OneOf["set", "bag"] | None,
        graph_updates: tuple[str, ...] = (),
        service_timeout: int = DEFAULT_TIMEOUT,
        service_refresh: int | None = None,
        service_max_size: int = DEFAULT_MAX_BYTES,
        service_auth: ServiceAuth | None = None,
        **others: Any,
    ) -> Any:
        settings = Settings(report, operator, duplicates, t0)
        auth = known_auth(()) if service_auth is None else service_auth
        services = (service_timeout, service_refresh, service_max_size, auth)
        run = RunOptions(streams, graphs, settings, lateness, graph_updates, *services)
        return command(*arguments, run=run, **others)

    for option in reversed(_OPTIONS):
        with_run = option(with_run)
    return with_run  # type: ignore[return-value]


def option_value(read: Callable[[str], Value]) -> Callable[[str], Value]:
    """A reader of option values for click; an error message is shown as it is."""

    @wraps(read)
    def reading(value: str) -> Value:
        try:
            return read(value)
        except SettingError as error:
            raise click.BadParameter(str(error)) from None

    return reading


_OPTIONS = (
    click.option(
        "--stream",
        "streams",
        multiple=True,
        metavar="[IRI=]SOURCE",
        help="Bind a stream (repeatable): a file or folder, standard input (-), or a file played in real time "
        "(replay+FILE, or faster: replay+FILE?speed=10); on Spark also a folder to which files are added "
        "(FOLDER?follow) or lines from a server (tcp://HOST:PORT). IRI= is optional when one stream is read.",
    ),
    click.option(
        "--graph",
        "graphs",
        multiple=True,
        metavar="[IRI=]SOURCE",
        help="Load a named graph, or a part of the default graph (repeatable), from a file: RDF, "
        f"compressed or not, .parquet with columns s, p, o (terms as N-Triples), {CHANGES} for a graph that changes; "
        "or from a SPARQL endpoint, sparql+http://HOST/PATH: its default graph "
        "(?graph=IRI: a named one), fetched once (?refresh=30s: at this interval; ?timeout=5s).",
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
        help="Emit all solutions, the new ones, or those that are gone.",
    ),
    click.option(
        "--duplicates",
        type=click.Choice(("set", "bag"), case_sensitive=False),
        help="Count a triple once in a window, or as often as it occurs.",
    ),
)

updates_option = click.option(
    "--graph-updates",
    multiple=True,
    metavar="[IRI=]FILE",
    help="Add triples to a graph (--graph) and delete them while the query runs (repeatable); a line of FILE is "
    '`A <s> <p> <o> "TS" .` to add a triple at TS, `D <s> <p> <o> "TS" .` to delete it.',
)


def known_auth(given: tuple[str, ...]) -> ServiceAuth:
    try:
        return service_auth(given)
    except SourceError as error:
        raise click.BadParameter(f"{error}.") from None


_SERVICE_OPTIONS = (
    click.option(
        "--service-timeout",
        type=option_value(duration),
        default=f"{DEFAULT_TIMEOUT // 1000}s",
        show_default=True,
        metavar="DURATION",
        help="Time limit for an answer of a SERVICE endpoint.",
    ),
    click.option(
        "--service-max-size",
        type=option_value(size),
        default=f"{DEFAULT_MAX_BYTES // 1_000_000}MB",
        show_default=True,
        metavar="SIZE",
        help="The largest answer of an endpoint, uncompressed.",
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


def service_options(command: Command) -> Command:
    """--service-timeout, --service-max-size, --service-auth."""
    for option in reversed(_SERVICE_OPTIONS):
        command = option(command)
    return command
