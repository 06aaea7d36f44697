"""`penstock explain`: when results appear, and why."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from penstock.cli.engines import engine_name
from penstock.cli.options import no_optimize_option, reading_options
from penstock.cli.query_text import write_file
from penstock.cli.run_options import RunOptions, run_options

if TYPE_CHECKING:
    from penstock.explain.sql import EngineName
    from penstock.explain.text import Role

FORMATS = ("text", "json", "dot", "svg", "html", "sql")

_COLOURS: dict[Role, dict[str, object]] = {
    "heading": {"bold": True, "underline": True},
    "name": {"bold": True},
    "quiet": {"dim": True},
    "static": {"fg": "green"},
    "streaming": {"fg": "blue"},
    "own": {"fg": "yellow", "bold": True},
}


@click.command(
    epilog="""
    \b
    Examples:
      penstock explain query.rq
      penstock explain query.rq --stream toll.tnt --report arrival
      penstock explain query.rq --stream toll.tnt --format html --out query.html
      penstock explain query.rq --format dot | dot -Tpng > query.png
      penstock explain query.rq --format sql --engine spark

    Exit status: 0 when the query is explained, 2 when it, an option or an input is wrong.
    """
)
@click.argument("query")
@click.option(
    "--format",
    "output_format",
    type=click.Choice(FORMATS, case_sensitive=False),
    default="text",
    show_default=True,
    help="Text, JSON, the operator graph for Graphviz, a picture, a self-contained page, or the SQL.",
)
@click.option(
    "--engine",
    type=engine_name,
    default="duckdb",
    show_default=True,
    metavar="ENGINE",
    help="Whose SQL to show: duckdb or spark; no engine is started.",
)
@click.option("--out", metavar="FILE", default="-", help="Write to FILE, not to standard output.")
@no_optimize_option
@reading_options
@run_options
def explain(
    query: str,
    output_format: str,
    engine: EngineName,
    out: str,
    no_optimize: bool,
    reading: Mapping[str, Any],
    run: RunOptions,
) -> None:
    """Show when results appear and why.

    QUERY is a file, or - for standard input. Output: settings and where they come from, windows with their first
    instants, streaming and static operators, and the optimized plan. With --stream there is also a timeline: the
    elements, the windows over them, and the evaluation instants under each dialect's report policy.
    """
    from penstock.api.dead_letters import DeadLetters  # slow to load, and not needed for --help
    from penstock.api.explanations import MOST_ELEMENTS
    from penstock.cli.errors import errors_shown
    from penstock.cli.query_set import read_queries
    from penstock.cli.run_report import RunReport
    from penstock.explain import FORMATS, describe
    from penstock.explain.text import as_text
    from penstock.rdf.credentials import without_credentials

    asked = read_queries([query], run, reading, needs_streams=False)
    report = RunReport(asked.title)
    letters = DeadLetters(report)
    with errors_shown(asked.title), closing(report):
        (name,) = asked.texts
        document = describe(
            asked.queries[name],
            asked.texts[name],
            asked.settings,
            asked.inputs(partial(letters.malformed, ""), most_elements=MOST_ELEMENTS),
            prefixes=reading["prefixes"],
            dialect_said_by_user=reading["dialect"] != "auto",
            is_optimized=not no_optimize,
            engine=engine,
        )
        letters.sum_up()
    if out == "-":
        painted = without_credentials(as_text(document, _paint)) if output_format == "text" else None
        click.echo(painted or FORMATS[output_format](document), nl=False)
        return
    write_file(out, FORMATS[output_format](document))


def _paint(text: str, role: Role) -> str:
    """Colours, which click takes away again where the reader is not a terminal."""
    return click.style(text, **_COLOURS[role])  # type: ignore[arg-type]
