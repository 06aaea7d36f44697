"""`penstock oracle`: the reference answer, computed the slow way; it also checks the results of other engines."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from heapq import merge
from typing import Any

import click

from penstock.cli.options import numbers_by_value_option, reading_options
from penstock.cli.output import answer_options, chosen_outs, open_answers
from penstock.cli.run_options import RunOptions, run_options, service_options, updates_option


@click.command(
    epilog="""
    \b
    Examples:
      penstock oracle query.rq --stream toll.tnt --graph city.ttl
      penstock oracle query.rq --stream ex:toll=toll.tnt --stream ex:cameras=cameras.trig --flush
      penstock oracle cars.rq jams.rq --stream toll.tnt

    Exit status: 0 if the answer was computed or the checked results are correct, 2 an invalid query, option or input,
    3 if the checked results are wrong.
    """
)
@click.argument("queries", metavar="QUERY...", nargs=-1, required=True)
@click.option(
    "--judge",
    "recorded",
    metavar="ANSWER",
    help="Check the recorded results of another engine, like penstock verify --answer.",
)
@numbers_by_value_option
@answer_options
@updates_option
@service_options
@reading_options
@run_options
@click.pass_context
def oracle(
    context: click.Context,
    queries: tuple[str, ...],
    flush: bool,
    empty: bool,
    recorded: str | None,
    numbers_by_value: bool,
    out: tuple[str, ...],
    format: str | None,
    late: str | None,
    strict: bool,
    reading: Mapping[str, Any],
    run: RunOptions,
) -> None:
    """Print the reference answer, or check recorded results.

    QUERY is a file, or - for standard input; several queries may read each other's streams. At each evaluation instant
    the oracle loads the contents of the windows, straight from their definitions, into a new store of an independent
    SPARQL engine and runs the query there: slow, and correct. Results are written to standard output.
    """
    from penstock.cli.errors import errors_shown  # slow to load, and not needed for --help
    from penstock.cli.query_set import read_queries
    from penstock.cli.recorded_results import judge_answer
    from penstock.oracle import answer_all
    from penstock.rdf.result_batches import ResultBatch

    if numbers_by_value and recorded is None:
        raise click.UsageError("--numbers-by-value needs --judge.")
    asked = read_queries(queries, run, reading)
    inputs = asked.oracle_inputs(late=late, is_strict=strict)
    with errors_shown(asked.title):
        if recorded is not None:
            how = {"flush": flush, "numbers_by_value": numbers_by_value}
            context.exit(judge_answer(asked, inputs, recorded, "--judge", **how))
        outs = chosen_outs(out, format, asked.forms)
        answers = answer_all(asked.queries, asked.chain, inputs, asked.settings, flush=flush).values()
        found = [answer.evaluations if empty else answer.with_solutions() for answer in answers]
        with ExitStack() as opened:
            sinks = [opened.enter_context(open_answers(*out, asked.forms, asked.prefixes)) for out in outs]
            for evaluation in merge(*found, key=lambda evaluation: evaluation.time):
                for sink in sinks:
                    sink.write(ResultBatch.of(evaluation))
