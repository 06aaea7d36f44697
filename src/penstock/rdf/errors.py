"""Errors in input: a source that cannot be read, or text that is not valid RDF."""

from __future__ import annotations


class SourceError(ValueError):
    """A source cannot be read: it does not exist, permission is denied, or its format is unknown."""


class ReadingError(Exception):
    """Invalid text: `reason` is a sentence, `line` counts from 1 within the text."""

    def __init__(self, reason: str, line: int | None = None) -> None:
        self.reason = reason
        self.line = line
        super().__init__(reason)

    def place(self, name: str, first_line: int | None = None) -> str:
        """`file:line`, for a text that begins in `first_line` of the file `name`; without a line if it is unknown."""
        if self.line is not None:
            return f"{name}:{(first_line or 1) + self.line - 1}"
        return name if first_line is None else f"{name}:{first_line}"
