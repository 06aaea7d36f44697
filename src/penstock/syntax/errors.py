"""Problems in a query, with positions and suggested fixes."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal as OneOf

from penstock.rdf.credentials import with_masked_credentials, without_credentials
from penstock.rdf.printable import visible
from penstock.syntax.spans import Span


@dataclass(frozen=True, slots=True)
class Problem:
    """An error or a warning (`severity`), with its position.

    `message` is a sentence without a full stop; `hint` is another sentence that suggests a fix.
    """

    message: str
    span: Span
    hint: str | None = None
    severity: OneOf["error", "warning"] = "error"

    def render(self, text: str, filename: str = "query") -> str:
        """The problem with its line, column and source line, and a caret under every affected character."""
        line_number, column, line = locate(with_masked_credentials(text), self.span.start)
        width = max(1, min(self.span.end - self.span.start, len(line) - column + 1))
        before, marked, after = _excerpt(line, column - 1, width)
        label = str(line_number)
        margin = " " * len(label)
        indent = "".join("\t" if character == "\t" else " " * _columns(character) for character in before)
        carets = "^" * max(1, sum(map(_columns, marked)))
        parts = [
            f"{filename}:{line_number}:{column}: {self.severity}: {visible(without_credentials(self.message))}",
            f" {label} | {visible(before)}{visible(marked)}{visible(after)}",
            f" {margin} | {indent}{carets}",
        ]
        if self.hint is not None:
            parts.append(f" {margin} = {visible(self.hint)}")
        return "\n".join(parts)


LONGEST_LINE = 160
"""Of a longer line only the surroundings of the problem are shown."""


def _columns(character: str) -> int:
    """The width of a character in terminal columns."""
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def _excerpt(line: str, start: int, width: int) -> tuple[str, str, str]:
    """Splits the line into the part before `start`, the `width` characters from there, and the rest."""
    marked = line[start : start + min(width, LONGEST_LINE // 2)]
    room = (LONGEST_LINE - len(marked)) // 2
    before, after = line[:start], line[start + len(marked) :]
    if len(line) > LONGEST_LINE:
        before = before if len(before) <= room else "…" + before[-room:]
        after = after if len(after) <= room else after[:room] + "…"
    return before, marked, after


def locate(text: str, offset: int) -> tuple[int, int, str]:
    """Line number and column, both from 1, of a character, and the text of its line."""
    offset = min(offset, len(text))
    lines = text[:offset].replace("\r\n", "\n").replace("\r", "\n").split("\n")
    start = offset - len(lines[-1])
    end = start
    while end < len(text) and text[end] not in "\r\n":
        end += 1
    return len(lines), len(lines[-1]) + 1, text[start:end]


class QuerySyntaxError(ValueError):
    """The query has errors. `problems` contains all of them, in text order."""

    def __init__(self, problems: Sequence[Problem], text: str, filename: str = "query") -> None:
        self.problems = tuple(sorted(problems, key=lambda problem: problem.span))
        self.text = text
        self.filename = filename
        super().__init__(self.render())

    def render(self) -> str:
        return "\n".join(problem.render(self.text, self.filename) for problem in self.problems)


class TranslationError(ValueError):
    """The target dialect cannot express the query. `reasons` names each part that it cannot express."""

    def __init__(self, target: str, reasons: Sequence[str]) -> None:
        self.target = target
        self.reasons = tuple(reasons)
        super().__init__("\n".join(f"{target} cannot express {reason}" for reason in reasons))
