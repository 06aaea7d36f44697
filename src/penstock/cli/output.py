"""Result lines to standard output or to a file, and the options that say which and where."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, TypeVar

import click

Command = TypeVar("Command", bound=Callable[..., Any])


_OPTIONS = (
    click.option("--flush", is_flag=True, help="Also report the windows still open when the input ends."),
    click.option("--empty", is_flag=True, help="Also print evaluations without solutions."),
    click.option("--out", metavar="FILE", default="-", help="Write to FILE, not to standard output."),
    click.option(
        "--format", type=click.Choice(("jsonl",)), default="jsonl", show_default=True, help="One line a result."
    ),
    click.option("--late", metavar="FILE", help="Write late and malformed input to FILE, with the reason."),
    click.option("--strict", is_flag=True, help="Stop at malformed input."),
)


def answer_options(command: Command) -> Command:
    """--flush, --empty, --out, --format, --late, --strict: what run and oracle have in common."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def query_name(query: str) -> str:
    """What a query goes by that registers no name: that of its file."""
    return "query" if query == "-" else Path(query).name.split(".")[0] or "query"


def write_lines(lines: Iterable[str], out: str, option: str) -> None:
    """One line after the other, as they come; `option` is the one that named the file."""
    if out == "-":
        for line in lines:
            click.echo(line)
        return
    try:
        with Path(out).open("w", encoding="utf-8") as file:
            file.writelines(f"{line}\n" for line in lines)
    except OSError as error:
        raise click.BadParameter(f"{out!r} cannot be written ({error.strerror}).", param_hint=f"'{option}'") from None
