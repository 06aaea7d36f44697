"""`penstock demo`: a continuous query over a bundled stream and city graph."""

from __future__ import annotations

import shutil
import sys
import time
from pathlib import Path

import click
from rich.console import Console
from rich.text import Text

import penstock
from penstock.cli.engines import EngineOptions, engine_options
from penstock.cli.output import STANDARD_OUTPUT
from penstock.cli.run_options import RunOptions

BUNDLED = Path(penstock.__file__).parent / "demo"
QUERY, STREAM, GRAPH = "query.rq", "stream.tnt.gz", "city.ttl"

STORY = """\
A Monday morning in the city, from seven to eight: 20,000 cars pass its
tollgates, two triples each. A graph knows which gate is in which district.
At 7:25 the bridge to the harbour is closed. What do the districts take?
"""


@click.command(
    epilog="""
    \b
    Examples:
      penstock demo
      penstock demo --engine duckdb
      penstock demo --save toll
    """
)
@engine_options
@click.option(
    "--save",
    metavar="DIR",
    type=click.Path(path_type=Path, file_okay=False),
    help="Save the query and its data in DIR, and run nothing.",
)
def demo(engine: EngineOptions, save: Path | None) -> None:
    """Run a continuous query over a bundled stream and city graph.

    It shows the query, how long each step takes, and what to try next.
    """
    if save is not None:
        _save(save)
        return
    console = Console(highlight=False)
    console.print(Text("Tollgates", style="bold"))
    console.print(STORY)
    console.print(_coloured((BUNDLED / QUERY).read_text()))
    _run(engine)
    _show_next(console, engine)


def _coloured(query: str) -> Text:
    text = Text(query)
    text.highlight_regex(r"\b[A-Z]{2,}\b", "bold")
    text.highlight_regex(r"\?\w+", "cyan")
    text.highlight_regex(r"(?m)# .*$", "not bold dim")
    return text


def _run(engine: EngineOptions) -> None:
    """Like `penstock run QUERY --stream STREAM --graph GRAPH --format table`, and prints the times."""
    from penstock.cli.errors import errors_shown  # slow to load, and not needed for --help
    from penstock.cli.query_run import Output, run_queries
    from penstock.cli.query_set import read_queries

    console = Console(stderr=True, highlight=False)
    options = RunOptions((str(BUNDLED / STREAM),), (str(BUNDLED / GRAPH),))
    asked = read_queries([str(BUNDLED / QUERY)], options, {"dialect": "auto", "prefixes": {}, "base": None})
    with errors_shown("penstock demo"):
        began = time.monotonic()
        with console.status(f"Starting {engine.title} …"):
            used = engine.engine()
            if used.is_on_spark:
                used.session()
        console.print(f"{engine.title} is ready after {time.monotonic() - began:.1f} s.\n", style="dim")
        began = time.monotonic()
        asked.bind(used)
        registered = asked.register(used, strict=True)
        run_queries(used, asked, registered, Output([(STANDARD_OUTPUT, "table")]))
        console.print(f"Answered after {time.monotonic() - began:.1f} s.\n", style="dim")


def _show_next(console: Console, engine: EngineOptions) -> None:
    """Proposes the next commands."""
    program = _program()
    if engine.name == "spark":
        console.print(f"[bold]Next,[/] the same without Java: [cyan]{program} demo --engine duckdb")
    console.print(f"[bold]Next,[/] the query and its data, to play with: [cyan]{program} demo --save toll")


def _save(folder: Path) -> None:
    if folder.exists():
        raise click.BadParameter(f"{folder} already exists; name a new folder.", param_hint="'--save'")
    folder.mkdir(parents=True)
    for name in (QUERY, STREAM, GRAPH):
        shutil.copyfile(BUNDLED / name, folder / name)
    over = f"{QUERY} --stream {STREAM} --graph {GRAPH}"
    click.echo(f"{folder} has the query, the stream and the graph. Try")
    for line in (f"cd {folder}", *(f"penstock {command} {over}" for command in ("run", "verify", "explain"))):
        click.echo(f"  {line}")


def _program() -> str:
    """The name by which this program was called, for the proposed commands."""
    called, known = Path(sys.argv[0]).absolute(), shutil.which("penstock")
    if called.name == "__main__.py":
        return "python -m penstock"
    if called.name != "penstock" or (known is not None and called.samefile(known)):
        return "penstock"
    return str(called.relative_to(Path.cwd()) if called.is_relative_to(Path.cwd()) else called)
