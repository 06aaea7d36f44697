"""`penstock run`: a continuous query over bounded streams, on the embedded engine."""

from __future__ import annotations

from collections.abc import Mapping

import click

from penstock.algebra import Settings, build
from penstock.cli.messages import show_error, show_problems
from penstock.cli.mistakes import show_malformed, told
from penstock.cli.options import reading_options
from penstock.cli.output import query_name, write_lines
from penstock.cli.run_options import RunOptions, run_options
from penstock.cli.sources import name_of, read_source
from penstock.oracle.judging import says_something
from penstock.rdf.elements import Malformed
from penstock.rdf.results import to_json_line
from penstock.runtime.bounded import run_bounded
from penstock.syntax.reading import read


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
@click.option("--flush", is_flag=True, help="Also report the windows still open when the input ends.")
@click.option("--empty", is_flag=True, help="Also print evaluations without solutions.")
@click.option("--out", metavar="FILE", default="-", help="Write to FILE, not to standard output.")
@click.option("--format", type=click.Choice(("jsonl",)), default="jsonl", show_default=True, help="One line a result.")
@click.option("--late", metavar="FILE", help="Write malformed input to FILE, with the reason.")
@click.option("--strict", is_flag=True, help="Stop at malformed input.")
@reading_options
@run_options
@click.pass_context
def run(
    context: click.Context,
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
    name = name_of(query)
    malformed: list[Malformed] = []
    with told(name):
        text = read_source(query)
        reading = read(text, dialect, prefixes=prefixes, base=base)
        show_problems(reading.warnings, text, name)
        inputs = run.inputs(build(reading.query, Settings()), prefixes, malformed.append)
    show_malformed(malformed)
    if late is not None:
        write_lines((f"{entry.place}\t{entry.reason}\t{entry.text}" for entry in malformed), late, "--late")
    if strict and malformed:
        show_error(name, "the input is malformed, and --strict stops there")
        context.exit(2)
    with told(name):
        evaluations = run_bounded(reading.query, inputs, run.settings, flush=flush, name=query_name(query))
        says = (evaluation for evaluation in evaluations if empty or says_something(evaluation))
        write_lines((to_json_line(evaluation) for evaluation in says), out, "--out")
