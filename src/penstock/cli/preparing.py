"""What run, oracle and verify begin with: the queries read, their input bound, what is wrong with either told."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace

import click

from penstock.algebra import Settings, build
from penstock.algebra.chaining import Chain, distinct_names
from penstock.algebra.inputs import InputError, Inputs, late_elements
from penstock.algebra.model import QueryForm
from penstock.api.dead_letters import DeadLetters, MalformedError
from penstock.cli.messages import show, show_problems
from penstock.cli.mistakes import show_late, show_malformed, told
from penstock.cli.output import STANDARD_OUTPUT, query_name
from penstock.cli.run_options import RunOptions, is_standard_input, known_prefixes
from penstock.cli.sources import STANDARD_INPUT, name_of, read_source
from penstock.rdf.elements import Malformed
from penstock.rdf.mistaken_formats import FormatAdvice
from penstock.runtime.log import LOG
from penstock.runtime.running import Late, Standing
from penstock.sinks import SinkError
from penstock.syntax import ast
from penstock.syntax.reading import read


@dataclass(frozen=True, slots=True)
class Asked:
    """Queries as they were given, by the names that they go by, and what streams they give each other.

    `title` is what messages about all of them begin with; `prefixes` are those that they know.
    """

    title: str
    queries: Mapping[str, ast.Query]
    chain: Chain
    prefixes: Mapping[str, str]

    @property
    def forms(self) -> list[QueryForm]:
        return [query.form for query in self.chain.queries.values()]

    def standing(
        self,
        settings: Settings,
        on_late: Callable[[Late], None] = lambda late: None,
        on_failure: Callable[[str], None] = LOG.warning,
    ) -> list[Standing]:
        return [Standing(query, name, settings, on_late, on_failure) for name, query in self.queries.items()]


@dataclass(frozen=True, slots=True)
class Prepared(Asked):
    """Queries and all that they are run over."""

    inputs: Inputs


def read_queries(
    given: Sequence[str], run: RunOptions, *, dialect: str, prefixes: Mapping[str, str], base: str | None
) -> Asked:
    """The queries of a command; ends it with status 2 where one is wrong, or they do not fit together."""
    title = ", ".join(map(name_of, given))
    texts = [_read(query, dialect, prefixes, base) for query in given]
    built = [build(query, Settings()) for query in texts]
    names = distinct_names(
        meaning.name or query_name(query) for query, meaning in zip(given, built, strict=True)
    )  # fmt: skip
    with told(title):
        if given.count(STANDARD_INPUT) > 1:
            raise InputError("standard input is one query: name a file for the other")
        chain = Chain(dict(zip(names, built, strict=True)))
        known = known_prefixes(chain, prefixes)
        bindings = run.stream_bindings(chain, known)
        if STANDARD_INPUT in given and any(map(is_standard_input, bindings.values())):
            raise InputError("the query was read from standard input, which cannot be a stream as well: name a file")
        for name in names:
            _check_bound(name, chain, bindings)
    if any(query.dataset.windows for query in built) and not bindings and not chain.external:
        show(title, "warning", "no stream is bound, so there is nothing to evaluate: --stream FILE binds one", ())
    return Asked(title, dict(zip(names, texts, strict=True)), chain, known)


def _read(query: str, dialect: str, prefixes: Mapping[str, str], base: str | None) -> ast.Query:
    name = name_of(query)
    with told(name):
        text = read_source(query)
        reading = read(text, dialect, prefixes=prefixes, base=base)
        show_problems(reading.warnings, text, name)
        build(reading.query, Settings())
        return reading.query


def _check_bound(name: str, chain: Chain, bindings: Mapping[str, str]) -> None:
    if len(chain.queries) > 1:
        chain.streams_of(name, bindings)
        return
    for stream in chain.external:
        if stream not in bindings:
            raise InputError(
                f"the query reads the stream <{stream}>, which is not bound: bind it with --stream {stream}=FILE"
            )


def prepare(
    queries: Sequence[str],
    run: RunOptions,
    *,
    dialect: str,
    prefixes: Mapping[str, str],
    base: str | None,
    late: str | None = None,
    strict: bool = False,
) -> Prepared:
    """The queries and their input, all of it in memory; ends the command with status 2 where either is wrong.

    What is malformed, and what came too late to count anywhere, is counted, and goes to the file `late`.
    """
    asked = read_queries(queries, run, dialect=dialect, prefixes=prefixes, base=base)
    malformed: list[Malformed] = []
    with told(asked.title):
        advised = FormatAdvice()
        inputs = run.inputs(asked.chain, asked.prefixes, lambda entry: malformed.append(advised(entry)))
        inputs = replace(inputs, services=run.answers(asked.chain))
    show_malformed(malformed)
    too_late = [entry for query in asked.chain.queries.values() for entry in late_elements(query.dataset, inputs)]
    show_late(asked.title, len(too_late))
    if late is not None:
        with told(asked.title), closing(open_dead_letters(late)) as letters:
            for entry in malformed:
                letters.malformed(entry)
            for stream, element in too_late:
                letters.late_element(stream, element.time, [f"{triple} ." for triple in element.triples])
    if strict and malformed:
        with told(asked.title):
            raise MalformedError(malformed[0])
    return Prepared(asked.title, asked.queries, asked.chain, asked.prefixes, inputs)


def open_dead_letters(late: str, position: int | None = None) -> DeadLetters:
    if late == STANDARD_OUTPUT:
        raise click.BadParameter("standard output carries results only: name a file.", param_hint="'--late'")
    try:
        return DeadLetters(late, position)
    except SinkError as error:
        raise click.BadParameter(f"{error}.", param_hint="'--late'") from None
