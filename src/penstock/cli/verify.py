"""`penstock verify`: compare an engine's results, computed now or recorded before, with the oracle's."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click

from penstock.cli.engines import EngineOptions, engine_options
from penstock.cli.options import no_optimize_option, numbers_by_value_option, reading_options
from penstock.cli.run_options import RunOptions, run_options, service_options, updates_option


@click.command(
    epilog="""
    \b
    Examples:
      penstock verify query.rq --stream toll.tnt --graph city.ttl
      penstock verify cars.rq jams.rq --stream toll.tnt
      penstock verify query.rq --stream toll.tnt --answer answer.jsonl

    Exit status: 0 when both answers are the same, 2 when the query, an option or an input is wrong, 3 when they differ.
    """
)
@click.argument("queries", metavar="QUERY...", nargs=-1, required=True)
@engine_options
@click.option(
    "--answer",
    "recorded",
    metavar="FILE",
    help="Check recorded results in FILE; report for which t0, if any, they are correct.",
)
@numbers_by_value_option
@click.option("--flush", is_flag=True, help="Also report the windows still open when the input ends.")
@updates_option
@service_options
@no_optimize_option
@reading_options
@run_options
@click.pass_context
def verify(
    context: click.Context,
    queries: tuple[str, ...],
    engine: EngineOptions,
    recorded: str | None,
    numbers_by_value: bool,
    flush: bool,
    no_optimize: bool,
    reading: Mapping[str, Any],
    run: RunOptions,
) -> None:
    """Compare an engine with the oracle.

    QUERY is a file, or - for standard input; several queries may read each other's streams. The engine and the oracle
    both run the queries, each with its own readers, and the first difference is reported. The oracle is slow: use a
    small stream. Terms of the data are compared as they are written, computed values by value: 2.50 equals 2.5. SUM and
    AVG of doubles may differ by a relative 1e-12 (xsd:float: 1e-5), because engines add them up in any order.

    --answer checks results that another engine has recorded. That engine need not record where its windows begin: its
    results are correct if they equal the oracle's for some origin t0 between --t0 and one step later. Windows are
    closed on the right here, (o, c]; results that are correct for windows [o, c) are reported as closed on the left.
    """
    from penstock.cli.comparison import compare  # slow to load, and not needed for --help
    from penstock.cli.errors import errors_shown
    from penstock.cli.query_set import read_queries
    from penstock.cli.recorded_results import judge_answer

    asked = read_queries(queries, run, reading)
    inputs = asked.oracle_inputs()
    how = {"flush": flush, "numbers_by_value": numbers_by_value}
    with errors_shown(asked.title):
        if recorded is not None:
            context.exit(judge_answer(asked, inputs, recorded, "--answer", **how))
        context.exit(compare(asked, inputs, engine, optimize=not no_optimize, **how))
