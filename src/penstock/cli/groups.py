"""The group of commands: colours, suggestions for misspelt names, and pipes whose reader ends early."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

import click

from penstock.cli.messages import colour_wanted


class Help(click.HelpFormatter):
    """Headings stand out; click takes the colour away again where the reader is not a terminal."""

    def write_heading(self, heading: str) -> None:
        super().write_heading(click.style(heading, bold=True))

    def write_usage(self, prog: str, args: str = "", prefix: str | None = None) -> None:
        super().write_usage(prog, args, click.style("Usage:", bold=True) + " " if prefix is None else prefix)

    def write_dl(self, rows: Any, col_max: int = 30, col_spacing: int = 2) -> None:
        super().write_dl([(click.style(term, fg="cyan"), text) for term, text in rows], col_max, col_spacing)


class Surroundings(click.Context):
    formatter_class = Help


class Commands(click.Group):
    """Commands that each live in a module of their own, `penstock.cli.NAME`, loaded when it is asked for."""

    context_class = Surroundings

    def __init__(self, *args: Any, names: tuple[str, ...], **settings: Any) -> None:
        super().__init__(*args, **settings)
        self.names = names

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.names)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self.names:
            return None
        command: click.Command = getattr(import_module(f"penstock.cli.{cmd_name}"), cmd_name)
        return command

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        extra["color"] = colour_wanted()
        with _reader_may_leave():
            return super().make_context(info_name, args, parent, **extra)

    def invoke(self, ctx: click.Context) -> Any:
        with _reader_may_leave():
            return super().invoke(ctx)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args[0] not in self.names and not args[0].startswith("-"):
            from penstock.syntax.suggestions import did_you_mean

            hint = did_you_mean(args[0], self.names) or f"there are {', '.join(self.names)}"
            raise click.UsageError(f"there is no command {args[0]!r}; {hint}", ctx)
        return super().resolve_command(ctx, args)


@contextmanager
def _reader_may_leave() -> Iterator[None]:
    """`penstock … | head -1`: a reader that ends early is no failure."""
    try:
        yield
    except BrokenPipeError:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        for stream in (sys.stdout, sys.stderr):
            os.dup2(nowhere, stream.fileno())
        raise click.exceptions.Exit(0) from None
