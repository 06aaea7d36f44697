"""The group of commands: colours, suggestions for misspelt names, and pipes whose reader ends early."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from typing import Any

import click

from penstock.cli.messages import colour_wanted


class HelpFormatter(click.HelpFormatter):
    """Bold headings; click removes the colours if the output is not a terminal."""

    def write_heading(self, heading: str) -> None:
        super().write_heading(click.style(heading, bold=True))

    def write_usage(self, prog: str, args: str = "", prefix: str | None = None) -> None:
        super().write_usage(prog, args, click.style("Usage:", bold=True) + " " if prefix is None else prefix)

    def write_dl(self, rows: Any, col_max: int = 30, col_spacing: int = 2) -> None:
        super().write_dl([(click.style(term, fg="cyan"), text) for term, text in rows], col_max, col_spacing)


class CommandContext(click.Context):
    formatter_class = HelpFormatter


class Commands(click.Group):
    """Commands, each in a module `penstock.cli.NAME`, which is loaded when the command is called.

    `summaries` are the first sentences of their help, by name, so that help for the group loads no command.
    """

    context_class = CommandContext

    def __init__(self, *args: Any, summaries: Mapping[str, str], **settings: Any) -> None:
        super().__init__(*args, **settings)
        self.summaries = summaries

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.summaries)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([*self.summaries.items()])

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self.summaries:
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
        if args[0] not in self.summaries and not args[0].startswith("-"):
            from penstock.syntax.suggestions import did_you_mean

            hint = did_you_mean(args[0], self.summaries) or f"there are {', '.join(self.summaries)}"
            raise click.UsageError(f"there is no command {args[0]!r}; {hint}", ctx)
        return super().resolve_command(ctx, args)


@contextmanager
def _reader_may_leave() -> Iterator[None]:
    """`penstock … | head -1`: a reader that ends early is not an error."""
    try:
        yield
    except BrokenPipeError:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        for stream in (sys.stdout, sys.stderr):
            os.dup2(nowhere, stream.fileno())
        raise click.exceptions.Exit(0) from None
