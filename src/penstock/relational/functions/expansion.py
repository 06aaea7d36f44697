"""Macros for Spark, which has none: each call in a statement is replaced by the body of the macro.

Spark's own SQL functions are not sufficient. They may be used neither in ORDER BY nor in a lambda, and each level of
them is another projection to analyse. So the body of a macro replaces its call, as in DuckDB, with each argument
repeated as often as the body names it. If that would be long, the macro binds a name: `transform(array(argument), name
-> …)[0]`, which costs almost nothing in Spark. The names of a macro are made unique, so that they never clash with
those of an argument.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache

from penstock.relational.functions.library import Macro, macros

_TOKEN = re.compile(r"'(?:[^'\\]|\\.)*'|`[^`]*`|\w+|\x00[0-9]+\x00|\s+|->|.", re.DOTALL)
_ARGUMENT = re.compile(r"\x00([0-9]+)\x00")
_LAMBDA = re.compile(r"(?:\b(\w+)|\((\w+), (\w+)\)) ->")
_OPENING = ("(", "[", "CASE")
_CLOSING = (")", "]", "END")


@dataclass(frozen=True, slots=True)
class _MacroTemplate:
    """A fully expanded macro: pieces of text, and between them the numbers of arguments."""

    pieces: tuple[str | int, ...]

    def filled(self, arguments: list[str]) -> str:
        enclosed = [_enclosed(argument) for argument in arguments]
        return "".join(piece if isinstance(piece, str) else enclosed[piece] for piece in self.pieces)


def expanded(statement: str) -> str:
    """The statement, in Spark SQL, without calls of macros."""
    return _expanded(tokens(statement), _templates())


def tokens(statement: str) -> list[str]:
    """Words, strings, spaces and operators of Spark SQL."""
    return _TOKEN.findall(statement)


@cache
def _templates() -> Mapping[str, _MacroTemplate]:
    made: dict[str, _MacroTemplate] = {}
    for number, (name, macro) in enumerate(macros("spark").items()):
        body = _enclosed(_expanded(_with_places(macro, number), made))
        pieces = [int(piece) if place % 2 else piece for place, piece in enumerate(_ARGUMENT.split(body))]
        made[name] = _MacroTemplate(tuple(pieces))
    return made


def _with_places(macro: Macro, number: int) -> list[str]:
    """The tokens of a macro's body, with placeholders for its arguments and unique names in its lambdas."""
    own = {name for names in _LAMBDA.findall(macro.body) for name in names if name}
    places = {name: f"\0{place}\0" for place, name in enumerate(macro.parameters)}
    places |= {name: f"{name}_{number}" for name in own}
    tokens = [" " if token.isspace() else token for token in _TOKEN.findall(macro.body)]
    before = ["", *tokens]
    return [token if last == "." else places.get(token, token) for last, token in zip(before, tokens, strict=False)]


def _expanded(tokens: list[str], templates: Mapping[str, _MacroTemplate]) -> str:
    written: list[str] = []
    rest = iter(tokens)
    for token in rest:
        template = templates.get(token.lower()) if token[0] in "sS" else None
        if template is None:
            written.append(token)
        else:
            arguments = [_expanded(argument, templates) for argument in _arguments(rest)]
            written.append(template.filled(arguments))
    return "".join(written)


def _arguments(tokens: Iterator[str]) -> list[list[str]]:
    """The arguments of a call, whose parentheses begin with the next token."""
    next(tokens)
    arguments: list[list[str]] = [[]]
    depth = 0
    for token in tokens:
        if token in ("(", "["):
            depth += 1
        elif token in (")", "]"):
            if depth == 0:
                break
            depth -= 1
        if token == "," and depth == 0:
            arguments.append([])
        else:
            arguments[-1].append(token)
    return arguments


def _enclosed(text: str) -> str:
    """In parentheses, if an adjacent operator could split it."""
    text = text.strip()
    depth = 0
    for token in _TOKEN.findall(text):
        if token in _CLOSING:
            depth -= 1
        elif depth == 0 and not (token in _OPENING or token == "." or token[0] in "'`\0" or token.isidentifier()):
            return f"({text})"
        if token in _OPENING:
            depth += 1
    return text
