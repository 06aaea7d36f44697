"""The results of an engine, compared with the oracle's: `penstock verify`."""

from __future__ import annotations

from typing import Any

import click

from penstock.algebra.inputs import Inputs
from penstock.cli.engines import EngineOptions
from penstock.cli.query_set import QuerySet
from penstock.cli.recorded_results import DIFFERENT
from penstock.cli.run_report import RunReport
from penstock.oracle import answer_all
from penstock.oracle.judging import first_difference, is_ordered
from penstock.oracle.matching import TOLERANCES, matched
from penstock.oracle.numbers import with_numbers_by_value
from penstock.rdf.addresses import parse_address
from penstock.rdf.elements import Malformed
from penstock.rdf.plurals import counted
from penstock.rdf.results import Evaluation
from penstock.rdf.vocabulary import XSD_DOUBLE
from penstock.sources.files import ElementFile


def compare(
    asked: QuerySet, inputs: Inputs, on: EngineOptions, *, flush: bool, numbers_by_value: bool, optimize: bool
) -> int:
    """Run the queries on the engine and on the oracle, and report the first difference; returns the exit status."""
    found = _results(asked, inputs, on, flush=flush, optimize=optimize)
    expected = answer_all(asked.queries, asked.chain, inputs, asked.settings, flush=flush)
    is_rounded = is_reordered = False
    for name, query in asked.queries.items():
        answers = found[name], list(expected[name].with_solutions())
        if numbers_by_value:
            answers = [with_numbers_by_value(e) for e in answers[0]], [with_numbers_by_value(e) for e in answers[1]]
        answer = matched(*answers, query)
        is_rounded, is_reordered = is_rounded or answer.is_rounded, is_reordered or answer.is_reordered
        difference = first_difference(answer.evaluations, answer.reference, is_ordered(query))
        if difference is not None:
            about = f" about {name}" if len(asked.queries) > 1 else ""
            click.echo(f"{on.name} and the oracle differ{about}: {difference.text}")
            return DIFFERENT
    count = sum(map(len, found.values()))
    within = f"; SUM and AVG of doubles within a relative {TOLERANCES[XSD_DOUBLE]}" if is_rounded else ""
    apart_from = "; values of GROUP_CONCAT in another order" if is_reordered else ""
    click.echo(f"{on.name} and the oracle agree: {counted(count, 'evaluation')} with solutions{within}{apart_from}")
    return 0


def _results(asked: QuerySet, inputs: Inputs, on: EngineOptions, **options: Any) -> dict[str, list[Evaluation]]:
    """The results of the engine. It reads replays without delay, and standard input and topics as the oracle did."""
    replaced: dict[str, Any] = {}
    for iri, source in asked.streams.items():
        address = parse_address(source)
        is_read_once = address.is_standard_input or address.has_messages
        replaced[iri] = _elements(iri, inputs) if is_read_once else address.at_once
    engine = on.engine(asked.run.service_auth)
    asked.bind(engine, replaced)
    run = engine.open(
        dict.fromkeys(asked.register(engine, **options)), messages=_Silence(), service_answers=inputs.services
    )
    found: dict[str, list[Evaluation]] = {name: [] for name in asked.queries}
    for evaluation in run.evaluations():
        found[evaluation.query].append(evaluation)
    return found


def _elements(iri: str, inputs: Inputs) -> ElementFile:
    elements = inputs.streams[iri]
    return ElementFile(iri, lambda report: iter(elements), len(elements) + 1)


class _Silence(RunReport):
    """No messages: dropped input was reported when the oracle's input was read."""

    def __init__(self) -> None:
        super().__init__("")

    def left_out(self, malformed: Malformed) -> None:
        """Reported before."""
