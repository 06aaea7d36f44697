"""`penstock verify`: an engine's answer against the oracle's."""

from __future__ import annotations

from collections.abc import Mapping

import click

from penstock.cli.mistakes import told
from penstock.cli.options import reading_options
from penstock.cli.preparing import prepare
from penstock.cli.run import engine_option
from penstock.cli.run_options import RunOptions, run_options
from penstock.cli.sources import name_of
from penstock.oracle import answer
from penstock.oracle.judging import first_difference, is_ordered
from penstock.runtime.bounded import run_bounded

DIFFERENT = 3


@click.command(
    epilog="""
    \b
    Examples:
      penstock verify query.rq --stream toll.tnt --graph city.ttl

    Exit status: 0 when both answers are the same, 2 when the query, an option or an input is wrong, 3 when they differ.
    """
)
@click.argument("query")
@engine_option
@click.option("--flush", is_flag=True, help="Also report the windows still open when the input ends.")
@reading_options
@run_options
@click.pass_context
def verify(
    context: click.Context,
    query: str,
    engine: str,
    flush: bool,
    dialect: str,
    prefixes: Mapping[str, str],
    base: str | None,
    run: RunOptions,
) -> None:
    """Compare an engine with the oracle.

    QUERY is a file, or - for standard input. Both answer it, and the first difference is told. The oracle is slow: a
    small stream will do.
    """
    given = prepare(query, run, dialect=dialect, prefixes=prefixes, base=base)
    with told(name_of(query)):
        found = [e for e in run_bounded(given.query, given.inputs, run.settings, flush=flush) if e.says_something]
        expected = list(answer(given.query, given.inputs, run.settings, flush=flush).with_solutions())
    difference = first_difference(found, expected, is_ordered(given.query))
    if difference is None:
        click.echo(f"{engine} and the oracle agree: {len(found)} evaluations with solutions")
        return
    click.echo(f"{engine} and the oracle differ: {difference.text}")
    context.exit(DIFFERENT)
