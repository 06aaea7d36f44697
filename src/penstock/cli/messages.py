"""Messages on standard error, in colour on a terminal."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING
from typing import Literal as OneOf

import click

if TYPE_CHECKING:
    from penstock.syntax.errors import Problem

Severity = OneOf["error", "warning", "note"]

_COLOURS: dict[Severity, str] = {"error": "red", "warning": "yellow", "note": "cyan"}
_HINT_COLOUR = "cyan"


def colour_wanted() -> bool | None:
    """False where the user declines; None leaves it to click, which colours what goes to a terminal."""
    return False if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb" else None


def show_problems(problems: Iterable[Problem], text: str, name: str) -> None:
    for problem in problems:
        click.echo(_coloured(problem, problem.render(text, name)), err=True, color=colour_wanted())


def show_error(name: str, message: str, hint: str | None = None) -> None:
    """An error that has no place in a text."""
    show(name, "error", message, (), hint)


def show(name: str, severity: Severity, message: str, items: Sequence[str], hint: str | None = None) -> None:
    """A sentence, a list and a hint, the last two as far as there are any."""
    from penstock.rdf.credentials import without_credentials  # not before it is needed: --version does without
    from penstock.rdf.printable import escaped

    message = without_credentials(message)
    items = [without_credentials(item) for item in items]
    label = click.style(f"{severity}:", fg=_COLOURS[severity], bold=True)
    lines = [f"{click.style(f'{name}:', bold=True)} {label} {escaped(message)}"]
    lines += [f"  - {escaped(item)}" for item in items]
    if hint is not None:
        lines.append(click.style(f"  = {escaped(hint)}", fg=_HINT_COLOUR))
    click.echo("\n".join(lines), err=True, color=colour_wanted())


def _coloured(problem: Problem, rendered: str) -> str:
    """The lines of `Problem.render`: the place and the sentence, the source, the carets, the hint if there is one."""
    first, source, carets, *hint = rendered.split("\n")
    colour = _COLOURS[problem.severity]
    place, _, sentence = first.partition(f" {problem.severity}: ")
    label = click.style(f"{problem.severity}:", fg=colour, bold=True)
    lines = [f"{click.style(place, bold=True)} {label} {sentence}", source, click.style(carets, fg=colour)]
    return "\n".join([*lines, *(click.style(line, fg=_HINT_COLOUR) for line in hint)])
