"""`penstock oracle`: the reference answer, computed the slow way, and the judge of other engines' answers."""

from __future__ import annotations

from collections.abc import Mapping

import click

from penstock.cli.judging import judge_answer
from penstock.cli.mistakes import told
from penstock.cli.options import reading_options
from penstock.cli.output import answer_options, chosen_format, open_answers, query_name
from penstock.cli.preparing import prepare
from penstock.cli.run_options import RunOptions, run_options, service_timeout_option, updates_option
from penstock.cli.sources import name_of
from penstock.oracle import answer


@click.command(
    epilog="""
    \b
    Examples:
      penstock oracle query.rq --stream toll.tnt --graph city.ttl
      penstock oracle query.rq --stream ex:toll=toll.tnt --stream ex:cameras=cameras.trig --flush

    Exit status: 0 when there is an answer, or the judged one is right; 2 when the query, an option or an input is
    wrong; 3 when the judged answer is wrong.
    """
)
@click.argument("query")
@click.option(
    "--judge",
    "recorded",
    metavar="ANSWER",
    help="The same as penstock verify --answer: judge an answer recorded by another engine.",
)
@answer_options
@updates_option
@service_timeout_option
@reading_options
@run_options
@click.pass_context
def oracle(
    context: click.Context,
    query: str,
    flush: bool,
    empty: bool,
    recorded: str | None,
    out: str,
    format: str | None,
    late: str | None,
    strict: bool,
    dialect: str,
    prefixes: Mapping[str, str],
    base: str | None,
    run: RunOptions,
) -> None:
    """Print the right answer, or judge one.

    QUERY is a file, or - for standard input. At each evaluation instant the contents of the windows, straight from
    their definitions, go into a new store of an independent SPARQL engine, and the query is run there: slow, and right.
    The results go to standard output, as --format says.
    """
    given = prepare(query, run, dialect=dialect, prefixes=prefixes, base=base, late=late, strict=strict)
    with told(name_of(query)):
        if recorded is not None:
            context.exit(judge_answer(given, run.settings, recorded, "--judge", flush=flush))
        format = chosen_format(format, out, given.continuous.form)
        result = answer(given.query, given.inputs, run.settings, flush=flush, name=query_name(query))
        with open_answers(out, format, given.continuous.form, given.prefixes) as sink:
            for evaluation in result.evaluations if empty else result.with_solutions():
                sink.write(evaluation)
