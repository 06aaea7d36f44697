"""What can be wrong with input: a source that is not there, or a text that is not RDF."""

from __future__ import annotations


class SourceError(ValueError):
    """A source that cannot be read at all: it is not there, not permitted, or of an unknown format."""


class ReadingError(Exception):
    """A text that is not what it should be: `reason` is a sentence, `line` counts from 1 within the text."""

    def __init__(self, reason: str, line: int | None = None) -> None:
        self.reason = reason
        self.line = line
        super().__init__(reason)

    def place(self, name: str, first_line: int | None = None) -> str:
        """`file:line`, for a text that begins in `first_line` of the file `name`; no line where none is known."""
        if self.line is not None:
            return f"{name}:{(first_line or 1) + self.line - 1}"
        return name if first_line is None else f"{name}:{first_line}"
