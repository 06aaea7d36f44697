"""`penstock bench`: the papers' experiments and the peers, as tables and plots."""

from __future__ import annotations

import json
import shlex
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from penstock.bench.experiments import EXPERIMENTS, Experiment
from penstock.cli.engines import ENGINES, engine_name
from penstock.syntax.suggestions import did_you_mean

if TYPE_CHECKING:
    from penstock.bench.context import ExperimentContext
    from penstock.bench.results import Result

ALL = "all"


def experiment_name(value: str) -> str:
    if value in EXPERIMENTS or value == ALL:
        return value
    hint = did_you_mean(value, [*EXPERIMENTS, ALL]) or f"there are {', '.join(EXPERIMENTS)} and {ALL}"
    raise click.BadParameter(f"there is no experiment {value!r}; {hint}")


def peer_command(value: str) -> tuple[str, str]:
    name, equals, command = (part.strip() for part in value.partition("="))
    if not equals or not name or not command:
        raise click.BadParameter(f"{value!r} names no command; write NAME=COMMAND, such as 'mine=./engine --fast'.")
    try:
        shlex.split(command)
    except ValueError as error:
        raise click.BadParameter(f"{command!r} is no command: {error}.") from None
    return name, command


@click.command(
    epilog="""
    \b
    Examples:
      penstock bench --list
      penstock bench throughput --quick
      penstock bench all --quick --out results
      penstock bench lubm --scale 5 --peer jena=apache-jena/bin/arq
      penstock bench throughput --peer rsp-js=FOLDER --peer "mine=./engine --fast"

    A peer is called as COMMAND QUERY GRAPH: the query is RSP-QL, the graph N-Triples. It reads the stream, timestamped
    N-Triples, on standard input, and writes a result line (JSON) for each evaluation. For rsp-js, name the folder that
    npm installed it in; for jena, Jena's command arq.

    Exit status: 0 when all was measured, 1 when a result of Penstock was wrong or a run failed, 2 when a name or an
    option is wrong.
    """
)
@click.argument("names", nargs=-1, metavar="[NAME…|all]", type=experiment_name)
@click.option("--list", "is_list", is_flag=True, help="List the experiments.")
@click.option("--quick", is_flag=True, help="Small sizes and few rounds: all experiments take some minutes.")
@click.option(
    "--scale",
    type=click.FloatRange(min=0, min_open=True),
    default=1.0,
    show_default=True,
    metavar="X",
    help="Multiply sizes by X.",
)
@click.option(
    "--rounds",
    type=click.IntRange(min=1),
    metavar="N",
    help="Number of rounds; the best one counts.  [default: 1 to 3]",
)
@click.option(
    "--engine",
    "engines",
    type=engine_name,
    multiple=True,
    metavar="ENGINE",
    help="Only this engine, duckdb or spark (repeatable).  [default: both]",
)
@click.option(
    "--peer",
    "peers",
    type=peer_command,
    multiple=True,
    metavar="NAME=COMMAND",
    help="Compare with another engine (repeatable); see below.",
)
@click.option(
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path("bench-results"),
    show_default=True,
    metavar="DIR",
    help="Folder for results (JSON) and plots (PNG, SVG).",
)
def bench(
    names: tuple[str, ...],
    is_list: bool,
    quick: bool,
    scale: float,
    rounds: int | None,
    engines: tuple[str, ...],
    peers: tuple[tuple[str, str], ...],
    out: Path,
) -> None:
    """Run the papers' experiments, also against other engines.

    Each experiment generates its data, compares results before it measures times, prints tables, and writes NAME.json
    and plots. Times depend on this machine: compare ratios.
    """
    if is_list:
        _list()
        return
    if not names:
        raise click.UsageError(f"name an experiment, or all: there are {', '.join(EXPERIMENTS)}")
    from penstock.bench.answers import AnswerMismatchError
    from penstock.bench.context import ExperimentContext
    from penstock.bench.peers.commands import PeerError
    from penstock.bench.plots import can_draw
    from penstock.cli.errors import FAILED, errors_shown
    from penstock.cli.messages import show_error

    if not can_draw():
        raise click.UsageError("plots are drawn by matplotlib, which is not installed: pip install 'penstock[bench]'")
    out.mkdir(parents=True, exist_ok=True)
    chosen = list(EXPERIMENTS) if ALL in names else list(dict.fromkeys(names))
    with tempfile.TemporaryDirectory(prefix="penstock-bench-") as folder:
        setting = ExperimentContext(Path(folder), quick, scale, rounds, engines or tuple(ENGINES), dict(peers))
        try:
            with errors_shown("penstock bench"):
                for place, name in enumerate(chosen, 1):
                    _measure(EXPERIMENTS[name], setting, out, f"{place} of {len(chosen)}")
        except (AnswerMismatchError, PeerError) as error:
            show_error("penstock bench", str(error))
            raise click.exceptions.Exit(FAILED) from None
        finally:
            setting.close()


def _list() -> None:
    width = max(map(len, EXPERIMENTS))
    for experiment in EXPERIMENTS.values():
        click.echo(f"{experiment.name:{width}}  {experiment.title}")


def _measure(experiment: Experiment, setting: ExperimentContext, out: Path, place: str) -> None:
    """`place` is its number among all."""
    from penstock.bench.machine import surroundings
    from penstock.bench.plots import draw

    began = time.monotonic()

    def say(text: str) -> None:
        click.echo(f"{experiment.name}, {time.monotonic() - began:.0f} s: {text}", err=True)

    setting.say, setting.remarks = say, []
    say(f"experiment {place}, {experiment.title}")
    where = surroundings()
    result = experiment.run(setting)
    click.echo(_text(experiment, result))
    for figure in result.figures:
        draw(figure, out)
    document = {
        "experiment": experiment.name,
        "title": experiment.title,
        **where,
        "command": shlex.join(["penstock", *sys.argv[1:]]),
        "quick": setting.is_quick,
        "scale": setting.scale,
        "seconds": round(time.monotonic() - began, 1),
        "method": experiment.method,
        **result.as_json(),
    }
    (out / f"{experiment.name}.json").write_text(json.dumps(document, indent=2, ensure_ascii=False) + "\n")
    say(f"done; {out / experiment.name}.json and its plots are written")


def _text(experiment: Experiment, result: Result) -> str:
    parts: Sequence[str] = [experiment.title, *(table.text() for table in result.tables)]
    remarks = "\n".join(f"- {remark}" for remark in result.remarks)
    return "\n\n".join([*parts, remarks]).rstrip() + "\n"
