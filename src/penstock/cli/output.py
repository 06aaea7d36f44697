"""Result lines to standard output or to a file."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import click


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
