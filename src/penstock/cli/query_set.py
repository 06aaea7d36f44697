"""The queries of a command: read, checked, their input bound, and registered with an engine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from penstock.algebra import ContinuousQuery, Settings, build
from penstock.algebra.chaining import Chain, distinct_names
from penstock.algebra.inputs import InputError, Inputs, late_elements
from penstock.algebra.model import QueryForm
from penstock.algebra.services import ServiceAnswer, service_calls
from penstock.cli.bindings import graph_bindings, known_prefixes, stream_bindings
from penstock.cli.errors import errors_shown
from penstock.cli.messages import show, show_problems
from penstock.cli.output import query_name
from penstock.cli.query_text import STANDARD_INPUT, name_of, read_source
from penstock.cli.run_options import RunOptions
from penstock.rdf.addresses import Address, parse_address, refuse_endless
from penstock.rdf.elements import OnMalformed
from penstock.syntax import ast
from penstock.syntax.query_reader import read

if TYPE_CHECKING:
    from penstock.api.engine import Engine
    from penstock.api.queries import RegisteredQuery


@dataclass(frozen=True, slots=True)
class QuerySet:
    """Queries by their names, the streams that they produce for each other, and their input.

    `title` begins messages about all of them; `prefixes` are those of `--prefix` and of the queries; `reading` are the
    options that the texts were read with.
    """

    title: str
    texts: Mapping[str, str]
    queries: Mapping[str, ast.Query]
    chain: Chain
    prefixes: Mapping[str, str]
    reading: Mapping[str, Any]
    run: RunOptions
    streams: Mapping[str, str]
    """The sources of the streams, by their IRIs."""

    @property
    def forms(self) -> list[QueryForm]:
        return [query.form for query in self.chain.queries.values()]

    @property
    def settings(self) -> Settings:
        return Settings(self.run.report, self.run.operator, self.run.duplicates, self.run.t0)

    @property
    def graphs(self) -> list[tuple[str | None, str]]:
        return graph_bindings(self.run.graphs, self.chain, self.prefixes)

    @property
    def graph_updates(self) -> list[tuple[str | None, str]]:
        return graph_bindings(self.run.graph_updates, self.chain, self.prefixes)

    @property
    def addresses(self) -> dict[str, Address]:
        return {iri: parse_address(source) for iri, source in self.streams.items()}

    @property
    def reads_kafka(self) -> bool:
        return any(address.scheme == "kafka" for address in self.addresses.values())

    def bind(self, engine: Engine, replaced: Mapping[str, Any] | None = None) -> None:
        """Bind the input; `replaced` has other sources for some streams. Raises SourceError if there is none."""
        sources = {**self.streams, **(replaced or {})}
        for iri, source in sources.items():
            engine.stream(f"<{iri}>", source)
        for graph, file in self.graphs:
            engine.graph(file, graph and f"<{graph}>")
        for graph, file in self.graph_updates:
            engine.graph_updates(file, graph and f"<{graph}>")

    def register(self, engine: Engine, **options: Any) -> list[RegisteredQuery]:
        """Register the queries with an engine; `options` are those of `Engine.register`."""
        registered = [
            engine.register(text, name=name, **self.reading, **self.run.register_options, **options)
            for name, text in self.texts.items()
        ]
        return list({query.name: query for query in registered}.values())

    def inputs(self, on_malformed: OnMalformed, *, most_elements: int | None = None) -> Inputs:
        """All input in memory; a replay is read at once. Raises SourceError where there is nothing to read."""
        from penstock.api.oracle_inputs import read_inputs  # slow to load

        refuse_endless(self.addresses.values())
        return read_inputs(
            {iri: address.at_once for iri, address in self.addresses.items()},
            self.graphs,
            self.graph_updates,
            self.run.lateness,
            on_malformed,
            auth=self.run.service_auth,
            most_elements=most_elements,
        )

    def oracle_inputs(self, *, late: str | None = None, is_strict: bool = False) -> Inputs:
        """All input of the oracle, with the answers of services; ends the command with status 2 if some is wrong.

        Malformed and late elements are reported and written to the file `late`.
        """
        from penstock.api.dead_letters import DeadLetters  # slow to load
        from penstock.cli.run_report import RunReport
        from penstock.sources.services import ServiceSettings, ask

        run, queries = self.run, self.chain.queries.values()
        settings = ServiceSettings(run.service_timeout, run.service_refresh, run.service_max_size, run.service_auth)
        report = RunReport(self.title)
        with errors_shown(self.title), closing(report), closing(DeadLetters(report)) as letters:
            letters.add(self.title, late, is_strict=is_strict)
            letters.open(self.title)
            inputs = self.inputs(partial(letters.malformed, ""))
            calls = dict.fromkeys(call for query in queries for call in service_calls(query.text))
            inputs = replace(inputs, services={call: [ServiceAnswer(ask(call, settings))] for call in calls})
            too_late = [entry for query in queries for entry in late_elements(query.dataset, inputs)]
            for stream, element in too_late:
                letters.late_element(self.title, stream, element.time, [f"{triple} ." for triple in element.triples])
            letters.sum_up()
            letters.drop(self.title, len(too_late))
        return inputs


def read_queries(
    given: Sequence[str], run: RunOptions, reading: Mapping[str, Any], *, needs_streams: bool = True
) -> QuerySet:
    """The queries of a command; ends it with status 2 where one is wrong, or they do not fit together.

    With `needs_streams`, all streams that they read have to be bound.
    """
    title = ", ".join(map(name_of, given))
    texts, queries, meanings = zip(*(_read(query, reading) for query in given), strict=True)
    names = distinct_names(
        meaning.name or query_name(query) for query, meaning in zip(given, meanings, strict=True)
    )  # fmt: skip
    with errors_shown(title):
        if given.count(STANDARD_INPUT) > 1:
            raise InputError("only one query can be read from standard input: name a file for the other")
        chain = Chain(dict(zip(names, meanings, strict=True)))
        prefixes = known_prefixes(chain, reading["prefixes"])
        streams = stream_bindings(run.streams, chain, prefixes)
        if STANDARD_INPUT in given and any(parse_address(source).is_standard_input for source in streams.values()):
            raise InputError("the query was read from standard input, which cannot be a stream as well: name a file")
        for name in names if needs_streams else ():
            _check_bound(name, chain, streams)
    if needs_streams and any(meaning.dataset.windows for meaning in meanings) and not streams and not chain.external:
        show(title, "warning", "no stream is bound, so nothing is evaluated: --stream FILE binds one", ())
    by_name = dict(zip(names, texts, strict=True)), dict(zip(names, queries, strict=True))
    return QuerySet(title, *by_name, chain, prefixes, reading, run, streams)


def _read(query: str, options: Mapping[str, Any]) -> tuple[str, ast.Query, ContinuousQuery]:
    name = name_of(query)
    with errors_shown(name):
        text = read_source(query)
        reading = read(text, **options)
        show_problems(reading.warnings, text, name)
        return text, reading.query, build(reading.query, Settings())


def _check_bound(name: str, chain: Chain, streams: Mapping[str, str]) -> None:
    if len(chain.queries) > 1:
        chain.streams_of(name, streams)
        return
    for stream in chain.external:
        if stream not in streams:
            raise InputError(
                f"the query reads the stream <{stream}>, which is not bound: bind it with --stream {stream}=FILE"
            )
