"""Results to standard output or to a file, and the options for them."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from penstock.algebra.model import QueryForm
    from penstock.sinks import Sink

Command = TypeVar("Command", bound=Callable[..., Any])

STANDARD_OUTPUT = "-"

FORMATS = ("jsonl", "table", "csv", "tsv", "nquads", "trig", "tnt")
"""As in `penstock.sinks`, which is slow to load."""


def _late_file(file: str | None) -> str | None:
    if file == STANDARD_OUTPUT:
        raise click.BadParameter("standard output carries results only: name a file.")
    return file


_OPTIONS = (
    click.option("--flush", is_flag=True, help="Also report the windows still open when the input ends."),
    click.option("--empty", is_flag=True, help="Also print evaluations without solutions."),
    click.option("--out", metavar="FILE", default="-", help="Write to FILE, not to standard output."),
    click.option(
        "--format",
        type=click.Choice(FORMATS, case_sensitive=False),
        help="The format of results: csv and tsv are for SELECT, nquads, trig and tnt for CONSTRUCT and DESCRIBE.  "
        "[default: table on a terminal, else jsonl]",
    ),
    click.option(
        "--csv-safe",
        is_flag=True,
        help="CSV for spreadsheets: put an apostrophe before text that a spreadsheet would execute (text that begins "
        "with =, +, - or @).",
    ),
    click.option(
        "--late",
        metavar="FILE",
        callback=lambda context, option, file: _late_file(file),
        help="Write late and malformed elements to FILE, with the reason.",
    ),
    click.option("--strict", is_flag=True, help="Stop at malformed input."),
)


def answer_options(command: Command) -> Command:
    """--flush, --empty, --out, --format, --late, --strict: what run and oracle have in common."""

    @wraps(command)
    def with_format(*arguments: Any, format: str | None, csv_safe: bool, **others: Any) -> Any:
        if csv_safe and format not in (None, "csv"):
            raise click.BadParameter(f"it is for csv, and --format is {format}.", param_hint="'--csv-safe'")
        return command(*arguments, format="csv-safe" if csv_safe else format, **others)

    for option in reversed(_OPTIONS):
        with_format = option(with_format)
    return with_format  # type: ignore[return-value]


def query_name(query: str) -> str:
    """The name of a query that registers none: that of its file."""
    return "query" if query == "-" else Path(query).name.split(".")[0] or "query"


def is_terminal(out: str) -> bool:
    """Whether results are shown on a terminal."""
    return out == STANDARD_OUTPUT and sys.stdout is not None and sys.stdout.isatty()


def chosen_format(format: str | None, out: str, forms: Sequence[QueryForm]) -> str:
    """The format; ends the command where it does not fit the queries."""
    from penstock.sinks import SinkError
    from penstock.sinks.opening import check_fits

    chosen = format or ("table" if is_terminal(out) else "jsonl")
    try:
        check_fits(chosen, *forms)
    except SinkError as error:
        raise click.BadParameter(f"{error}.", param_hint="'--format'") from None
    return chosen


def open_answers(
    out: str, format: str, forms: Sequence[QueryForm], prefixes: Mapping[str, str], position: int | None = None
) -> Sink:
    """The sink of the results; ends the command where it cannot be written. `position`: where an earlier run was."""
    from penstock.sinks import SinkError, open_sink

    try:
        return open_sink(out, format, *forms, prefixes=prefixes, position=position)
    except SinkError as error:
        raise click.BadParameter(f"{error}.", param_hint="'--out'") from None
