"""What run, oracle and verify begin with: the query read, its input bound and read, what is wrong with either told."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import click

from penstock.algebra import Settings, build
from penstock.algebra.inputs import Inputs, late_elements
from penstock.cli.messages import show, show_error, show_problems
from penstock.cli.mistakes import show_malformed, told
from penstock.cli.output import write_lines
from penstock.cli.run_options import RunOptions
from penstock.cli.sources import name_of, read_source
from penstock.rdf.elements import Malformed
from penstock.syntax import ast
from penstock.syntax.reading import read


@dataclass(frozen=True, slots=True)
class Prepared:
    query: ast.Query
    inputs: Inputs


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
    """Ends the command with status 2 where the query, an option or an input is wrong.

    What is malformed, and what came too late to count anywhere, is counted, and goes to the file `late`.
    """
    name = name_of(query)
    malformed: list[Malformed] = []
    with told(name):
        text = read_source(query)
        reading = read(text, dialect, prefixes=prefixes, base=base)
        show_problems(reading.warnings, text, name)
        continuous = build(reading.query, Settings())
        inputs = run.inputs(continuous, prefixes, malformed.append)
    show_malformed(malformed)
    if continuous.dataset.windows and not inputs.streams:
        show(name, "warning", "no stream is bound, so there is nothing to evaluate: --stream FILE binds one", ())
    too_late = late_elements(continuous.dataset, inputs)
    if too_late:
        message = f"{len(too_late)} elements came too late to count anywhere; --lateness allows for disorder"
        show(name, "warning", message, ())
    if late is not None:
        lines = [f"{entry.place}\t{entry.reason}\t{entry.text}" for entry in malformed]
        lines += (f"{stream}\tlate\t{' '.join(map(str, e.triples))} {e.time}" for stream, e in too_late)
        write_lines(lines, late, "--late")
    if strict and malformed:
        show_error(malformed[0].place, f"{malformed[0].reason}; --strict stops there")
        raise click.exceptions.Exit(2)
    return Prepared(reading.query, inputs)
