"""What run, oracle and verify begin with: the query read, its input bound, what is wrong with either told."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass, replace

import click

from penstock.algebra import ContinuousQuery, Settings, build
from penstock.algebra.inputs import InputError, Inputs, late_elements
from penstock.api.dead_letters import DeadLetters, MalformedError
from penstock.cli.messages import show, show_problems
from penstock.cli.mistakes import show_late, show_malformed, told
from penstock.cli.output import STANDARD_OUTPUT
from penstock.cli.run_options import RunOptions, is_standard_input, known_prefixes
from penstock.cli.sources import STANDARD_INPUT, name_of, read_source
from penstock.rdf.elements import Malformed
from penstock.sinks import SinkError
from penstock.syntax import ast
from penstock.syntax.reading import read


@dataclass(frozen=True, slots=True)
class Asked:
    """A query as it was given: `continuous` is what it means, `prefixes` are those that it knows."""

    name: str
    query: ast.Query
    continuous: ContinuousQuery
    prefixes: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Prepared(Asked):
    """A query and all that it is run over."""

    inputs: Inputs


def read_query(query: str, run: RunOptions, *, dialect: str, prefixes: Mapping[str, str], base: str | None) -> Asked:
    """The query of a command; ends it with status 2 where the query is wrong."""
    name = name_of(query)
    with told(name):
        text = read_source(query)
        reading = read(text, dialect, prefixes=prefixes, base=base)
        show_problems(reading.warnings, text, name)
        continuous = build(reading.query, Settings())
        known = known_prefixes(continuous, prefixes)
        bindings = run.stream_bindings(continuous, known)
        if query == STANDARD_INPUT and any(map(is_standard_input, bindings.values())):
            raise InputError("the query was read from standard input, which cannot be a stream as well: name a file")
        for stream in continuous.dataset.streams:
            if stream not in bindings:
                raise InputError(
                    f"the query reads the stream <{stream}>, which is not bound: bind it with --stream {stream}=FILE"
                )
    if continuous.dataset.windows and not bindings and not continuous.dataset.streams:
        show(name, "warning", "no stream is bound, so there is nothing to evaluate: --stream FILE binds one", ())
    return Asked(name, reading.query, continuous, known)


def prepare(
    query: str,
    run: RunOptions,
    *,
    dialect: str,
    prefixes: Mapping[str, str],
    base: str | None,
    late: str | None = None,
    strict: bool = False,
) -> Prepared:
    """The query and its input, all of it in memory; ends the command with status 2 where either is wrong.

    What is malformed, and what came too late to count anywhere, is counted, and goes to the file `late`.
    """
    asked = read_query(query, run, dialect=dialect, prefixes=prefixes, base=base)
    malformed: list[Malformed] = []
    with told(asked.name):
        inputs = run.inputs(asked.continuous, asked.prefixes, malformed.append)
        inputs = replace(inputs, services=run.answers(asked.continuous))
    show_malformed(malformed)
    too_late = late_elements(asked.continuous.dataset, inputs)
    show_late(asked.name, len(too_late))
    if late is not None:
        with told(asked.name), closing(open_dead_letters(late)) as letters:
            for entry in malformed:
                letters.malformed(entry)
            for stream, element in too_late:
                letters.late_element(stream, element.time, [f"{triple} ." for triple in element.triples])
    if strict and malformed:
        with told(asked.name):
            raise MalformedError(malformed[0])
    return Prepared(asked.name, asked.query, asked.continuous, asked.prefixes, inputs)


def open_dead_letters(late: str, position: int | None = None) -> DeadLetters:
    if late == STANDARD_OUTPUT:
        raise click.BadParameter("standard output carries results only: name a file.", param_hint="'--late'")
    try:
        return DeadLetters(late, position)
    except SinkError as error:
        raise click.BadParameter(f"{error}.", param_hint="'--late'") from None
