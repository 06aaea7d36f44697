"""The options of the commands that run a query: what it is run over, and what is to hold against its dialect."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import wraps
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar
from typing import Literal as OneOf

import click

from penstock.algebra import ContinuousQuery, Settings
from penstock.algebra.inputs import GraphTriple, InputError, Inputs
from penstock.algebra.windows import Interval
from penstock.rdf.changes import read_changes, validity
from penstock.rdf.compression import uncompressed_name
from penstock.rdf.elements import Element, OnMalformed
from penstock.rdf.graphs import read_graph
from penstock.rdf.instants import parse_instant
from penstock.rdf.iris import is_absolute
from penstock.rdf.reading import read_stream
from penstock.rdf.sources import parse_source
from penstock.syntax import ast
from penstock.syntax.durations import parse_duration
from penstock.syntax.errors import QuerySyntaxError
from penstock.syntax.parser.reports import parse_report
from penstock.syntax.suggestions import did_you_mean

Command = TypeVar("Command", bound=Callable[..., Any])

CHANGES = ".changes"
"""The ending of a graph that changes: lines `A <s> <p> <o> "TS" .` and `D <s> <p> <o> "TS" .`."""


@dataclass(frozen=True, slots=True)
class RunOptions:
    """`streams` and `graphs` as they were given: `IRI=SOURCE`, or the source alone."""

    streams: tuple[str, ...]
    graphs: tuple[str, ...]
    settings: Settings
    lateness: int

    def inputs(
        self,
        query: ContinuousQuery,
        prefixes: Mapping[str, str],
        on_malformed: OnMalformed,
        *,
        most_elements: int | None = None,
    ) -> Inputs:
        """What the query is run over; `most_elements` cuts each stream.

        Raises InputError where a binding does not fit the query, and SourceError where there is nothing to read.
        """
        declared = {declaration.prefix: declaration.iri for declaration in query.text.prologue.prefixes}
        known = {**prefixes, **declared}
        streams: dict[str, Sequence[Element]] = {}
        for number, (iri, given) in enumerate(_stream_bindings(self.streams, query, known), start=1):
            source = parse_source(given)
            elements = read_stream(source.path, scope=f"s{number}", on_malformed=on_malformed, **source.options)
            streams[iri] = list(islice(elements, most_elements))
        graphs: dict[str | None, list[GraphTriple]] = {}
        for number, (name, file) in enumerate(_graph_bindings(self.graphs, query, known), start=1):
            graphs.setdefault(name, []).extend(_graph(file, f"g{number}"))
        return Inputs(streams, graphs, self.lateness)


def run_options(command: Command) -> Command:
    """--stream, --graph, --t0, --lateness, --report, --operator, --duplicates; the command takes them as `run`."""

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
        **others: Any,
    ) -> Any:
        settings = Settings(report, operator, duplicates, t0)
        return command(*arguments, run=RunOptions(streams, graphs, settings, lateness), **others)

    for option in reversed(_OPTIONS):
        with_run = option(with_run)
    return with_run  # type: ignore[return-value]


# Values of options


def origin(value: str) -> int | OneOf["first"]:
    """An instant, or `first`."""
    if value.lower() == "first":
        return "first"
    instant = parse_instant(value)
    if instant is None:
        raise click.BadParameter(
            f"{value!r} is not an instant; write milliseconds, a date and time such as 2024-05-01T12:00:00Z, or first."
        )
    return instant


def duration(value: str) -> int:
    length = parse_duration(value)
    if length is None:
        raise click.BadParameter(f"{value!r} is not a duration; write 500ms, 10s or PT10S.")
    return length


def report_policy(value: str) -> ast.Report:
    try:
        return parse_report(value)
    except QuerySyntaxError as error:
        problem = error.problems[0]
        hint = "" if problem.hint is None else f"; {problem.hint}"
        raise click.BadParameter(f"{value!r}: {problem.message}{hint}") from None


_OPTIONS = (
    click.option(
        "--stream",
        "streams",
        multiple=True,
        metavar="[IRI=]SOURCE",
        help="Bind a stream to a file or folder (repeatable); IRI= may be left out when the query reads one stream.",
    ),
    click.option(
        "--graph",
        "graphs",
        multiple=True,
        metavar="[IRI=]FILE",
        help=f"A graph: named, or part of the default graph (repeatable). What ends with {CHANGES} changes with time.",
    ),
    click.option(
        "--t0",
        type=origin,
        default="0",
        show_default=True,
        metavar="MS|ISO|first",
        help="Where the first window opens; first is the instant before the first element.",
    ),
    click.option(
        "--lateness",
        type=duration,
        default="0",
        show_default=True,
        metavar="DURATION",
        help="How far elements may be out of order.",
    ),
    click.option(
        "--report",
        type=report_policy,
        metavar="POLICY",
        help='When to evaluate, such as "window-close & non-empty", content-change, arrival or "periodic 5s".',
    ),
    click.option(
        "--operator",
        type=click.Choice(("rstream", "istream", "dstream"), case_sensitive=False),
        help="What comes out: all solutions, the new ones, or those that are gone.",
    ),
    click.option(
        "--duplicates",
        type=click.Choice(("set", "bag"), case_sensitive=False),
        help="Whether a triple counts once in a window, or as often as it occurs.",
    ),
)


# Bindings


def _stream_bindings(
    given: Iterable[str], query: ContinuousQuery, prefixes: Mapping[str, str]
) -> list[tuple[str, str]]:
    """The streams' IRIs with their sources."""
    named = query.dataset.streams
    reads_every = any(window.stream is None for window in query.dataset.windows)
    bindings: dict[str, str] = {}
    for number, text in enumerate(given, start=1):
        iri, source = _split(text, named, prefixes)
        if iri is None:
            iri = _the_only_stream(text, named, reads_every, number)
        elif iri not in named and not reads_every:
            raise InputError(f"the query reads no stream <{iri}>; {did_you_mean(iri, named) or _streams_read(named)}")
        if iri in bindings:
            raise InputError(f"the stream <{iri}> is bound twice: to {bindings[iri]} and to {source}")
        bindings[iri] = source
    return list(bindings.items())


def _the_only_stream(text: str, named: Sequence[str], reads_every: bool, number: int) -> str:
    """The stream that is meant by a source alone; where every stream is read, it needs no name."""
    if len(named) == 1:
        return named[0]
    if reads_every and not named:
        return f"urn:stream:{number}"
    if not named:
        raise InputError(f"the query reads no stream, so that it has no use for {text}")
    raise InputError(f"{_streams_read(named)}: say which of them is {text}, as in --stream {named[0]}={text}")


def _streams_read(named: Sequence[str]) -> str:
    return f"the query reads {' and '.join(f'<{iri}>' for iri in named) or 'no stream'}"


def _graph_bindings(
    given: Iterable[str], query: ContinuousQuery, prefixes: Mapping[str, str]
) -> list[tuple[str | None, str]]:
    named = (*query.dataset.default_graphs, *query.dataset.named_graphs)
    return [_split(text, named, prefixes) for text in given]


def _split(text: str, known: Sequence[str], prefixes: Mapping[str, str]) -> tuple[str | None, str]:
    """`IRI=SOURCE` in its two parts; an IRI may be a prefixed name of the query, and may have `=` in it.

    Where several readings are possible, one that names something the query reads is meant.
    """
    places = [place for place, character in enumerate(text) if character == "=" and 0 < place < len(text) - 1]
    readings = [(_expanded(text[:place], prefixes), text[place + 1 :]) for place in places]
    for iri, source in readings:
        if iri in known:
            return iri, source
    for iri, source in readings:
        if iri is not None:
            return iri, source
    return None, text


def _expanded(text: str, prefixes: Mapping[str, str]) -> str | None:
    """The IRI that a text names, in full, in angle brackets or with a prefix; None if it names none."""
    if text.startswith("<"):
        return text[1:-1] if text.endswith(">") else None
    prefix, colon, local = text.partition(":")
    if colon and prefix in prefixes and not local.startswith("//"):
        return prefixes[prefix] + local
    return text if is_absolute(text) and not any(character in text for character in '<>"{}|\\^` ') else None


def _graph(file: str, scope: str) -> list[GraphTriple]:
    if uncompressed_name(Path(file)).suffix.lower() == CHANGES:
        held = validity(read_changes(file, scope=scope))
        return [GraphTriple(entry.triple, Interval(entry.start, entry.end)) for entry in held]
    return [GraphTriple(triple) for triple in read_graph(file, scope=scope)]
