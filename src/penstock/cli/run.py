"""`penstock run`: continuous queries over bounded or live streams."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path

import click

from penstock.api.settings import duration
from penstock.api.spark_streams import is_endless
from penstock.cli.engines import EngineOptions, engine_options
from penstock.cli.following import follow_queries
from penstock.cli.interrupting import interruptible
from penstock.cli.mistakes import told
from penstock.cli.options import no_optimize_option, reading_options
from penstock.cli.output import answer_options, chosen_format
from penstock.cli.preparing import read_queries
from penstock.cli.run_options import RunOptions, option_value, run_options, service_options, updates_option
from penstock.cli.running import Output, keep_checkpoint, run_queries, told_of_storage
from penstock.runtime.running import RunSettings


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

    Exit status: 0 done, 1 a run that failed, 2 a query, option or input that is wrong, 130 after Ctrl-C.
    """
)
@click.argument("queries", metavar="QUERY...", nargs=-1, required=True)
@engine_options
@answer_options
@click.option(
    "--idle-timeout",
    type=option_value(duration),
    metavar="DURATION",
    help="A stream that is silent for so long does not hold the others back.",
)
@click.option(
    "--time",
    type=click.Choice(("event", "arrival"), case_sensitive=False),
    default="event",
    show_default=True,
    help="Which time counts: that of the timestamps, or that at which elements come in.",
)
@click.option(
    "--service-refresh",
    type=option_value(duration),
    metavar="DURATION",
    help="Ask endpoints (SERVICE) again so often; a new answer holds for the instants evaluated from then on.  "
    "[default: once]",
)
@click.option(
    "--checkpoint",
    metavar="DIR",
    type=click.Path(path_type=Path),
    help="Keep in DIR how far the run is: if it is killed, the same command goes on there, and no result is lost or "
    "written twice.",
)
@click.option(
    "--progress/--quiet",
    default=None,
    help="Show progress on standard error, or do not. --quiet also leaves out why an answer is empty.  "
    "[default: progress on a terminal]",
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
    out: str,
    format: str | None,
    late: str | None,
    strict: bool,
    idle_timeout: int | None,
    time: str,
    checkpoint: Path | None,
    progress: bool | None,
    no_optimize: bool,
    dialect: str,
    prefixes: Mapping[str, str],
    base: str | None,
    run: RunOptions,
) -> None:
    """Run continuous queries over bounded or live streams.

    QUERY is a file, or - for standard input. Each evaluation goes to standard output as soon as it is there: its
    instant, and the solutions (or the triples, or the boolean) that the query's streaming operator lets out then. A
    live stream ends with its program or with Ctrl-C.

    Several queries share their streams. What REGISTER STREAM names, or REGISTER RSTREAM, is a stream that the others
    can read; --stream binds those that none of them gives.
    """
    asked = read_queries(queries, run, dialect=dialect, prefixes=prefixes, base=base)
    output = Output(out, chosen_format(format, out, asked.forms), late, strict, empty, progress)
    how = RunSettings(
        run.lateness,
        idle_timeout,
        time == "arrival",
        flush,
        services=run.services,
        has_empty=empty,
        is_optimized=not no_optimize,
    )
    with told(asked.title), told_of_storage(asked.title):
        graphs = run.graphs_of(asked.chain, asked.prefixes)
        bindings = run.stream_bindings(asked.chain, asked.prefixes)
        if engine.name == "spark" and (checkpoint is not None or any(map(is_endless, bindings.values()))):
            follow_queries(asked, engine, bindings, graphs, run, how, output, checkpoint)
            return
        sources = run.sources(asked.chain, asked.prefixes)
        with ExitStack() as opened:
            kept = None if checkpoint is None else keep_checkpoint(checkpoint, asked, run, how, output, sources)
            if kept is not None:
                opened.callback(kept.close)
            if kept is not None and kept.has_finished:
                click.echo(f"{checkpoint}: this run has been finished before; there is nothing left to do", err=True)
                return
            used = engine.open() if kept is None else kept.engine
            for iri, graph in graphs.items():
                used.load_graph(iri, graph)
            with interruptible(used.interrupt):
                updates = run.updates_of(asked.chain, asked.prefixes)
                run_queries(asked, used, sources, run.settings, how, output, kept, updates)
