"""Results to standard output or to a file, and the options for them."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from penstock.algebra.model import QueryForm
    from penstock.sinks import Sink

Command = TypeVar("Command", bound=Callable[..., Any])

STANDARD_OUTPUT = "-"

FORMATS = ("jsonl", "table", "csv", "tsv", "nquads", "trig", "tnt", "messages", "jelly", "parquet")
"""As in `penstock.sinks`, which is slow to load."""


def _late_file(file: str | None) -> str | None:
    if file == STANDARD_OUTPUT:
        raise click.BadParameter("standard output carries results only: name a file.")
    return file


_OPTIONS = (
    click.option("--flush", is_flag=True, help="Also report the windows still open when the input ends."),
    click.option("--empty", is_flag=True, help="Also print evaluations without solutions."),
    click.option(
        "--out",
        multiple=True,
        metavar="FILE|ADDRESS",
        default=("-",),
        help="Write to a file, not to standard output (repeatable): FILE, or FOLDER with --format parquet. Or to a "
        "broker or endpoint: kafka://HOST:PORT/TOPIC, mqtt://[USER@]HOST/TOPIC, http://HOST/PATH (a POST request for "
        "each evaluation), sparql+http://HOST/update (a named graph for each evaluation). ?format= after an "
        "address sets its format.",
    ),
    click.option(
        "--format",
        type=click.Choice(FORMATS, case_sensitive=False),
        help="The format of results: csv and tsv are for SELECT; nquads, trig, tnt, messages (RDF Messages) and jelly "
        "for CONSTRUCT and DESCRIBE; parquet is written to a folder.  [default: table on a terminal, else jsonl]",
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
            raise click.BadParameter(f"it is for csv, but --format is {format}.", param_hint="'--csv-safe'")
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


def chosen_outs(outs: Sequence[str], format: str | None, forms: Sequence[QueryForm]) -> list[tuple[str, str]]:
    """The targets, each with its format; ends the command where one does not fit the queries."""
    if len(set(outs)) < len(outs):
        raise click.BadParameter("the same target is named twice.", param_hint="'--out'")
    return [(out, chosen_format(format, out, forms)) for out in outs]


def chosen_format(format: str | None, out: str, forms: Sequence[QueryForm]) -> str:
    """The format; ends the command where it does not fit the queries."""
    from penstock.sinks import SinkError
    from penstock.sinks.addresses import sink_address, takes_messages
    from penstock.sinks.formats import check_fits
    from penstock.sinks.opening import format_of

    with out_errors():
        address = sink_address(out)
        chosen = format_of(address, format or ("table" if is_terminal(out) else "jsonl"))
    try:
        check_fits(chosen, *forms, are_messages=takes_messages(address))
    except SinkError as error:
        raise click.BadParameter(f"{error}.", param_hint="'--format'") from None
    return chosen


def open_answers(out: str, format: str, forms: Sequence[QueryForm], prefixes: Mapping[str, str]) -> Sink:
    """The sink of the results; ends the command where it cannot be written."""
    from penstock.sinks import open_sink

    with out_errors():
        return open_sink(out, format, *forms, prefixes=prefixes)


@contextmanager
def out_errors() -> Iterator[None]:
    """A target that cannot be written ends the command."""
    from penstock.sinks import SinkError

    try:
        yield
    except SinkError as error:
        raise click.BadParameter(f"{error}.", param_hint="'--out'") from None
