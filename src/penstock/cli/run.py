"""`penstock run`: a continuous query over bounded streams, on the embedded engine."""

from __future__ import annotations

from collections.abc import Mapping

import click

from penstock.cli.mistakes import told
from penstock.cli.options import reading_options
from penstock.cli.output import answer_options, query_name, write_lines
from penstock.cli.preparing import prepare
from penstock.cli.run_options import RunOptions, run_options
from penstock.cli.sources import name_of
from penstock.rdf.results import to_json_line
from penstock.runtime.bounded import run_bounded


def engine_name(value: str) -> str:
    if value.lower() == "duckdb":
        return "duckdb"
    if value.lower() == "spark":
        raise click.BadParameter("the Spark engine is not there yet; write --engine duckdb.")
    raise click.BadParameter(f"there is no engine {value!r}; there is duckdb.")


engine_option = click.option(
    "--engine", type=engine_name, default="duckdb", show_default=True, help="Where to run: duckdb, in this process."
)


@click.command(
    epilog="""
    \b
    Examples:
      penstock run query.rq --stream toll.tnt --graph city.ttl
      penstock run query.rq --stream ex:toll=toll.tnt --stream ex:cameras=cameras.trig --flush

    Exit status: 0 done, 1 a run that failed, 2 a query, option or input that is wrong.
    """
)
@click.argument("query")
@engine_option
@answer_options
@reading_options
@run_options
def run(
    query: str,
    engine: str,
    flush: bool,
    empty: bool,
    out: str,
    format: str,
    late: str | None,
    strict: bool,
    dialect: str,
    prefixes: Mapping[str, str],
    base: str | None,
    run: RunOptions,
) -> None:
    """Run a continuous query over bounded streams.

    QUERY is a file, or - for standard input. One line of JSON per evaluation goes to standard output: the instant, and
    the solutions (or the triples, or the boolean) that the query's streaming operator lets out there.
    """
    given = prepare(query, run, dialect=dialect, prefixes=prefixes, base=base, late=late, strict=strict)
    with told(name_of(query)):
        evaluations = run_bounded(given.query, given.inputs, run.settings, flush=flush, name=query_name(query))
        says = (evaluation for evaluation in evaluations if empty or evaluation.says_something)
        write_lines((to_json_line(evaluation) for evaluation in says), out, "--out")
