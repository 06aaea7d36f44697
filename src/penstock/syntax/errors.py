"""What is wrong with a query, said so that a person can mend it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal as OneOf

from penstock.syntax.spans import Span


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong, or at least odd (`severity` warning), and where.

    `message` is a sentence without a full stop; `hint` proposes a repair, as a sentence of its own.
    """

    message: str
    span: Span
    hint: str | None = None
    severity: OneOf["error", "warning"] = "error"

    def render(self, text: str, filename: str = "query") -> str:
        """The problem with its line, column and source line, a caret under every character concerned."""
        line_number, column, line = locate(text, self.span.start)
        width = max(1, min(self.span.end - self.span.start, len(line) - column + 1))
        label = str(line_number)
        margin = " " * len(label)
        indent = "".join("\t" if character == "\t" else " " for character in line[: column - 1])
        parts = [
            f"{filename}:{line_number}:{column}: {self.severity}: {self.message}",
            f" {label} | {line}",
            f" {margin} | {indent}{'^' * width}",
        ]
        if self.hint is not None:
            parts.append(f" {margin} = {self.hint}")
        return "\n".join(parts)


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
    """A query that cannot be read. `problems` holds all that was found, in text order."""

    def __init__(self, problems: Sequence[Problem], text: str, filename: str = "query") -> None:
        self.problems = tuple(sorted(problems, key=lambda problem: problem.span))
        self.text = text
        self.filename = filename
        super().__init__(self.render())

    def render(self) -> str:
        return "\n".join(problem.render(self.text, self.filename) for problem in self.problems)


class TranslationError(ValueError):
    """A query that the target dialect cannot express. `reasons` names each part that is in the way."""

    def __init__(self, target: str, reasons: Sequence[str]) -> None:
        self.target = target
        self.reasons = tuple(reasons)
        super().__init__("\n".join(f"{target} cannot express {reason}" for reason in reasons))
