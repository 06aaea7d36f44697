"""The reference, from the program itself: the commands as they help, the Python API as its docstrings say."""

from __future__ import annotations

import dataclasses
import inspect
import re
import textwrap
from collections.abc import Iterator
from html import escape
from importlib import import_module
from typing import Any

import click

import penstock
from penstock.cli import commands

_WIDTH = 88
_ANNOTATION = re.compile(r": '([^']*)'")

# The commands


def commands_as_html() -> str:
    """Every command with its usage, its words, its options and its examples."""
    with click.Context(commands, info_name="penstock") as group:
        return "\n\n".join(_command(name, group) for name in commands.list_commands(group))


def _command(name: str, group: click.Context) -> str:
    command = commands.get_command(group, name)
    assert command is not None
    with click.Context(command, info_name=name, parent=group) as context:
        usage = " ".join(command.collect_usage_pieces(context))
        parts = [
            f"## penstock {name}",
            f"```sh\npenstock {name} {usage}\n```",
            *_paragraphs(command.help),
            _options(command, context),
            *_paragraphs(command.epilog),
        ]
    return "\n\n".join(parts)


def _paragraphs(text: str | None) -> Iterator[str]:
    """What click shows: paragraphs, of which those after `\\b` keep their lines."""
    for paragraph in inspect.cleandoc(text or "").split("\n\n"):
        if paragraph.startswith("\b"):
            title, _, lines = paragraph.removeprefix("\b").strip("\n").partition("\n")
            yield f"{title.strip()}\n\n```sh\n{textwrap.dedent(lines)}\n```"
        else:
            yield _words(paragraph)


def _words(text: str) -> str:
    """Words in which nothing is meant as Markdown, but for `code`."""
    return re.sub(r"([*_<\[|])", r"\\\1", text)


def _options(command: click.Command, context: click.Context) -> str:
    rows = [record for parameter in command.params if (record := parameter.get_help_record(context)) is not None]
    cells = "\n".join(
        f"<tr><td><code>{escape(names)}</code></td><td>{escape(words)}</td></tr>" for names, words in rows
    )
    return f'<div class="table"><table class="options">\n<tr><th>option</th><th></th></tr>\n{cells}\n</table></div>'


# The Python API


def api_of(name: str) -> str:
    """A public name of `penstock`, or a class elsewhere that a public function returns (`package.module.Class`)."""
    module, _, last = name.rpartition(".")
    thing = getattr(import_module(module) if module else penstock, last)
    shown = last if module else f"penstock.{name}"
    parts = [_heading("##", shown, thing), _docstring(thing)]
    if inspect.isclass(thing):
        parts += [_fields(thing), *(_member(*member) for member in _members(thing))]
    return "\n\n".join(part for part in parts if part)


def _heading(level: str, name: str, thing: Any) -> str:
    title = f"{level} {name.removeprefix('penstock.')}"
    if inspect.isclass(thing) and issubclass(thing, BaseException):
        return title
    return f"{title}\n\n```python\n{_call(name, thing)}\n```"


def _call(name: str, thing: Any) -> str:
    """How it is called, over several lines where one is not enough."""
    signature = inspect.signature(thing)
    own = [parameter for parameter in signature.parameters.values() if parameter.name != "self"]
    returned = signature.return_annotation
    end = ")" if inspect.isclass(thing) or returned is signature.empty else f") -> {returned}"
    keyword = next((place for place, parameter in enumerate(own) if parameter.kind is parameter.KEYWORD_ONLY), None)
    parameters = [_ANNOTATION.sub(r": \1", str(parameter)).replace("OneOf[", "Literal[") for parameter in own]
    if keyword is not None:
        parameters.insert(keyword, "*")
    whole = f"{name}({', '.join(parameters)}{end}"
    if len(whole) <= _WIDTH:
        return whole
    return "\n".join([f"{name}(", *(f"    {parameter}," for parameter in parameters), end])


def _docstring(thing: Any) -> str:
    """The docstring as Markdown: what begins with `>>>` is code."""
    paragraphs = (inspect.getdoc(thing) or "").split("\n\n")
    return "\n\n".join(f"```pycon\n{text}\n```" if text.startswith(">>>") else text for text in paragraphs)


def _fields(thing: type) -> str:
    if not dataclasses.is_dataclass(thing):
        return ""
    rows = [f"| `{field.name}` | `{field.type}` |".replace("||", "|") for field in dataclasses.fields(thing)]
    return "\n".join(["| field | type |", "|---|---|", *(row.replace(" | None", " or None") for row in rows)])


def _members(thing: type) -> Iterator[tuple[str, Any]]:
    """Its public methods and properties, in the order in which they are written."""
    for name, member in vars(thing).items():
        if not name.startswith("_") and (inspect.isfunction(member) or isinstance(member, (property, classmethod))):
            yield name, member


def _member(name: str, member: Any) -> str:
    if isinstance(member, property):
        return f"### {name}\n\n{_docstring(member)}"
    called = member.__func__ if isinstance(member, classmethod) else member
    return f"{_heading('###', name, called)}\n\n{_docstring(called)}"
