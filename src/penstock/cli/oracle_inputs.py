"""What oracle and verify begin with: the queries, and all of their input in memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial

from penstock.algebra.inputs import Inputs, late_elements
from penstock.api.dead_letters import DeadLetters
from penstock.cli.mistakes import told
from penstock.cli.query_set import QuerySet, read_queries
from penstock.cli.run_options import RunOptions
from penstock.cli.run_report import RunReport


@dataclass(frozen=True, slots=True)
class OracleInputs:
    """Queries, and all that they are run over."""

    asked: QuerySet
    inputs: Inputs


def prepare(
    queries: Sequence[str],
    run: RunOptions,
    *,
    dialect: str,
    prefixes: Mapping[str, str],
    base: str | None,
    late: str | None = None,
    strict: bool = False,
) -> OracleInputs:
    """The queries and their input; ends the command with status 2 where either is wrong.

    Malformed elements, and elements that came too late, are reported and written to the file `late`.
    """
    asked = read_queries(queries, run, dialect=dialect, prefixes=prefixes, base=base)
    report = RunReport(asked.title)
    with told(asked.title), closing(report), closing(DeadLetters(report)) as letters:
        letters.add(asked.title, late, is_strict=strict)
        letters.open(asked.title)
        inputs = run.inputs(asked.chain, asked.prefixes, partial(letters.malformed, ""))
        inputs = replace(inputs, services=run.answers(asked.chain))
        too_late = [entry for query in asked.chain.queries.values() for entry in late_elements(query.dataset, inputs)]
        for stream, element in too_late:
            letters.late_element(asked.title, stream, element.time, [f"{triple} ." for triple in element.triples])
        letters.sum_up()
        letters.drop(asked.title, len(too_late))
    return OracleInputs(asked, inputs)
