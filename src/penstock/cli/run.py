"""`penstock run`: continuous queries over bounded or live streams."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from penstock.api.settings import duration
from penstock.cli.engines import EngineOptions, engine_options
from penstock.cli.options import no_optimize_option, reading_options
from penstock.cli.output import answer_options, chosen_outs
from penstock.cli.run_options import RunOptions, option_value, run_options, service_options, updates_option


@click.command(
    epilog="""
    \b
    Examples:
      penstock run query.rq --stream toll.tnt --graph city.ttl
      penstock run query.rq --stream ex:toll=toll.tnt --stream ex:cameras=cameras.trig --flush
      penstock run cars.rq jams.rq --stream toll.tnt
      producer | penstock run query.rq --stream - --lateness 2s --late late.jsonl
      penstock run query.rq --stream "replay+toll.tnt?speed=60" --format table
      penstock run query.rq --stream toll/ --out answer.jsonl --checkpoint state
      penstock run query.rq --stream "toll/?follow" --out answer.jsonl --checkpoint state
      penstock run query.rq --stream toll.tnt --out kafka://localhost:9092/answers --out answer.jsonl

    Exit status: 0 success, 1 a failed run, 2 an invalid query, option or input, 130 after Ctrl-C.
    """
)
@click.argument("queries", metavar="QUERY...", nargs=-1, required=True)
@engine_options
@answer_options
@click.option(
    "--idle-timeout",
    type=option_value(duration),
    metavar="DURATION",
    help="A stream that is silent for this long no longer holds the watermark back.",
)
@click.option(
    "--time",
    type=click.Choice(("event", "arrival"), case_sensitive=False),
    default="event",
    show_default=True,
    help="Use the timestamps of the elements, or the time at which they arrive.",
)
@click.option(
    "--service-refresh",
    type=option_value(duration),
    metavar="DURATION",
    help="Re-query SERVICE endpoints at this interval; new data applies to later evaluations only.  "
    "[default: query once]",
)
@click.option(
    "--checkpoint",
    metavar="DIR",
    type=click.Path(path_type=Path),
    help="Keep the state of the run in DIR. If the run is killed, the same command continues it; no result is lost or "
    "written twice.",
)
@click.option(
    "--progress/--quiet",
    default=None,
    help="Show progress on standard error, or not. --quiet also hides the explanation of empty results.  "
    "[default: progress on a terminal]",
)
@click.option(
    "--retry-timeout",
    type=option_value(duration),
    metavar="DURATION",
    help="How long to wait for a broker or endpoint that does not answer, before the run fails.  [default: until it "
    "answers]",
)
@updates_option
@service_options
@no_optimize_option
@reading_options
@run_options
def run(
    queries: tuple[str, ...],
    engine: EngineOptions,
    flush: bool,
    empty: bool,
    out: tuple[str, ...],
    format: str | None,
    late: str | None,
    strict: bool,
    idle_timeout: int | None,
    time: str,
    checkpoint: Path | None,
    progress: bool | None,
    retry_timeout: int | None,
    no_optimize: bool,
    reading: Mapping[str, Any],
    run: RunOptions,
) -> None:
    """Run continuous queries over bounded or live streams.

    QUERY is a file, or - for standard input. Each evaluation is written to standard output, or to --out, as soon as its
    instant has passed: the instant, and the solutions (or triples, or boolean) that the query's streaming operator
    emits. A live stream ends with its producer or with Ctrl-C.

    Several queries share their streams. A query with REGISTER STREAM or REGISTER RSTREAM produces a stream that the
    others can read; --stream binds all other streams.
    """
    from penstock.cli.errors import errors_shown  # slow to load, and not needed for --help
    from penstock.cli.query_run import Output, run_queries
    from penstock.cli.query_set import read_queries

    asked = read_queries(queries, run, reading)
    output = Output(chosen_outs(out, format, asked.forms), progress)
    with errors_shown(asked.title):
        used = engine.engine(run.service_auth, retry_timeout, reads_kafka=asked.reads_kafka)
        asked.bind(used)
        registered = asked.register(
            used,
            idle_timeout=idle_timeout,
            time=time,
            flush=flush,
            empty=empty,
            strict=strict,
            late=late,
            optimize=not no_optimize,
        )
        options = (sorted(asked.streams.items()), run.graphs, run.graph_updates, output.fingerprint, late)
        run_queries(used, asked, registered, output, checkpoint=checkpoint, fingerprint=repr(options))
