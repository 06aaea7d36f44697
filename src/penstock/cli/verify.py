"""`penstock verify`: compare an engine's results, computed now or recorded before, with the oracle's."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import click

from penstock.cli.engines import EngineOptions, engine_options
from penstock.cli.judgements import DIFFERENT, judge_answer, numbers_by_value_option
from penstock.cli.mistakes import told
from penstock.cli.options import no_optimize_option, reading_options
from penstock.cli.oracle_inputs import OracleInputs, prepare
from penstock.cli.run_options import (
    RunOptions,
    is_standard_input,
    played_at_once,
    run_options,
    service_options,
    updates_option,
)
from penstock.cli.run_report import RunReport
from penstock.oracle import answer_all
from penstock.oracle.judging import first_difference, is_ordered
from penstock.oracle.matching import TOLERANCES, matched
from penstock.oracle.numbers import with_numbers_by_value
from penstock.rdf.elements import Malformed
from penstock.rdf.plurals import counted
from penstock.rdf.results import Evaluation
from penstock.rdf.vocabulary import XSD_DOUBLE
from penstock.sources.files import ElementFile


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
    dialect: str,
    prefixes: Mapping[str, str],
    base: str | None,
    run: RunOptions,
) -> None:
    """Compare an engine with the oracle.

    QUERY is a file, or - for standard input; several queries may read each other's streams. The engine and the oracle
    both run the queries, each with its own readers, and the first difference is reported. The oracle is slow: use a
    small stream. Terms of the data are compared as they are written, computed values by value: 2.50 equals 2.5. SUM and
    AVG of doubles may differ by a relative 1e-12 (xsd:float: 1e-5), because engines add them up in any order.

    --answer checks results that another engine has recorded. If that engine does not say where its windows begin, its
    results are correct if they are the oracle's for some origin t0 from --t0 up to one step later. Windows are closed
    on the right here, (o, c]; results that are correct for windows [o, c) are reported as closed on the left.
    """
    given = prepare(queries, run, dialect=dialect, prefixes=prefixes, base=base)
    asked = given.asked
    found: dict[str, list[Evaluation]] = {name: [] for name in asked.queries}
    with told(asked.title):
        if recorded is not None:
            judged = {"flush": flush, "numbers_by_value": numbers_by_value}
            context.exit(judge_answer(given, run.settings, recorded, "--answer", **judged))
        for evaluation in _found(given, engine, run, flush=flush, optimize=not no_optimize):
            found[evaluation.query].append(evaluation)
        expected = answer_all(asked.queries, asked.chain, given.inputs, run.settings, flush=flush)
    is_rounded = False
    for name, query in asked.queries.items():
        answers = found[name], list(expected[name].with_solutions())
        if numbers_by_value:
            answers = [with_numbers_by_value(e) for e in answers[0]], [with_numbers_by_value(e) for e in answers[1]]
        answer = matched(*answers, query)
        is_rounded = is_rounded or answer.is_rounded
        difference = first_difference(answer.evaluations, answers[1], is_ordered(query))
        if difference is not None:
            about = f" about {name}" if len(queries) > 1 else ""
            click.echo(f"{engine.name} and the oracle differ{about}: {difference.text}")
            context.exit(DIFFERENT)
    count = sum(map(len, found.values()))
    within = f"; SUM and AVG of doubles within a relative {TOLERANCES[XSD_DOUBLE]}" if is_rounded else ""
    click.echo(f"{engine.name} and the oracle agree: {counted(count, 'evaluation')} with solutions{within}")


def _found(given: OracleInputs, on: EngineOptions, run: RunOptions, **options: Any) -> Iterator[Evaluation]:
    """The evaluations of the engine. It reads replays at once, and standard input as the oracle has read it."""
    asked = given.asked
    replaced: dict[str, Any] = {}
    for iri, source in run.stream_bindings(asked.chain, asked.prefixes).items():
        replaced[iri] = _elements(iri, given) if is_standard_input(source) else played_at_once(source)
    engine = on.bound(run, asked, replaced)
    registered = asked.register(engine, run, **options)
    answers = given.inputs.services
    return engine.open(dict.fromkeys(registered), messages=_Silence(), service_answers=answers).evaluations()


def _elements(iri: str, given: OracleInputs) -> ElementFile:
    elements = given.inputs.streams[iri]
    return ElementFile(iri, lambda report: iter(elements), len(elements) + 1)


class _Silence(RunReport):
    """What the run drops has been reported when the oracle's input was read."""

    def __init__(self) -> None:
        super().__init__("")

    def left_out(self, malformed: Malformed) -> None:
        """Reported before."""
