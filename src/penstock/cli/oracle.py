"""`penstock oracle`: the reference answer, computed the slow way, and the judge of other engines' answers."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import click

from penstock.algebra import Settings
from penstock.cli.mistakes import told
from penstock.cli.options import reading_options
from penstock.cli.output import answer_options, chosen_format, open_answers, query_name
from penstock.cli.preparing import prepare
from penstock.cli.run_options import RunOptions, run_options, service_timeout_option
from penstock.cli.sources import name_of
from penstock.oracle import Inputs, answer
from penstock.oracle.judging import judge
from penstock.rdf.results import Evaluation, ResultLineError, from_json_line
from penstock.syntax import ast

DIFFERENT = 3


@click.command(
    epilog="""
    \b
    Examples:
      penstock oracle query.rq --stream toll.tnt --graph city.ttl
      penstock oracle query.rq --stream ex:toll=toll.tnt --stream ex:cameras=cameras.trig --flush
      penstock oracle query.rq --stream toll.tnt --judge answer.jsonl

    Exit status: 0 when there is an answer, or the judged one is right; 2 when the query, an option or an input is
    wrong; 3 when the judged answer is wrong.
    """
)
@click.argument("query")
@click.option(
    "--judge",
    "recorded",
    metavar="ANSWER",
    help="Judge an answer recorded by another engine (result lines in a file): right for which t0, or for none.",
)
@answer_options
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
            context.exit(_judge(given.query, given.inputs, run.settings, recorded))
        format = chosen_format(format, out, given.continuous.form)
        result = answer(given.query, given.inputs, run.settings, flush=flush, name=query_name(query))
        with open_answers(out, format, given.continuous.form, given.prefixes) as sink:
            for evaluation in result.evaluations if empty else result.with_solutions():
                sink.write(evaluation)


def _judge(query: ast.Query, inputs: Inputs, settings: Settings, recorded: str) -> int:
    verdict = judge(query, inputs, _recorded_answer(recorded), settings)
    since = f"compared from {verdict.compared_from} on"
    if not verdict.is_right:
        difference = "" if verdict.difference is None else f" With the nearest origins, {verdict.difference}."
        click.echo(f"wrong: there is no t0 for which this is the answer ({since}).{difference}")
        return DIFFERENT
    origins = [", ".join(map(str, ranges)) for ranges in verdict.right_for]
    click.echo(
        f"right for t0 = {' or '.join(dict.fromkeys(origins))} ({since})" if any(origins) else f"right ({since})"
    )
    return 0


def _recorded_answer(path: str) -> list[Evaluation]:
    try:
        lines = Path(path).read_text(encoding="utf-8").splitlines()
        return [from_json_line(line) for line in lines if line.strip()]
    except OSError as error:
        raise click.BadParameter(f"{path!r} cannot be read ({error.strerror}).", param_hint="'--judge'") from None
    except UnicodeDecodeError:
        raise click.BadParameter(f"{path!r} is not UTF-8 text.", param_hint="'--judge'") from None
    except ResultLineError as error:
        raise click.BadParameter(f"{path}: {error}", param_hint="'--judge'") from None
