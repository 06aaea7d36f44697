"""Recorded results of an engine, checked by the oracle: `verify --answer` and `oracle --judge`."""

from __future__ import annotations

from pathlib import Path

import click

from penstock.algebra.inputs import InputError, Inputs
from penstock.cli.query_set import QuerySet
from penstock.oracle.judging import judge
from penstock.rdf.results import Evaluation, ResultLineError, from_json_line

DIFFERENT = 3


def judge_answer(
    asked: QuerySet, inputs: Inputs, path: str, option: str, *, flush: bool, numbers_by_value: bool
) -> int:
    """Report for which origins the results in the file are correct; returns the exit status."""
    if len(asked.queries) > 1:
        raise InputError(f"{option} checks the answer of a single query: name one")
    (query,) = asked.queries.values()
    recorded = _recorded_answer(path, option)
    verdict = judge(query, inputs, recorded, asked.settings, flush=flush, numbers_by_value=numbers_by_value)
    since = f"compared from {verdict.compared_from} on"
    if not verdict.is_right:
        difference = "" if verdict.difference is None else f" With the nearest origins, {verdict.difference}."
        click.echo(f"wrong: this is not the answer for any t0 ({since}).{difference}")
        return DIFFERENT
    origins = [", ".join(map(str, ranges)) for ranges in verdict.right_for]
    right = "right with windows closed on the left" if verdict.closed == "left" else "right"
    click.echo(
        f"{right} for t0 = {' or '.join(dict.fromkeys(origins))} ({since})" if any(origins) else f"{right} ({since})"
    )
    return 0


def _recorded_answer(path: str, option: str) -> list[Evaluation]:
    hint = f"'{option}'"
    try:
        lines = Path(path).read_text(encoding="utf-8").splitlines()
        return [from_json_line(line) for line in lines if line.strip()]
    except OSError as error:
        raise click.BadParameter(f"{path!r} cannot be read ({error.strerror}).", param_hint=hint) from None
    except UnicodeDecodeError:
        raise click.BadParameter(f"{path!r} is not UTF-8 text.", param_hint=hint) from None
    except ResultLineError as error:
        raise click.BadParameter(f"{path}: {error}", param_hint=hint) from None
