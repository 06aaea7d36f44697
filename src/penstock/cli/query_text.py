"""Text in and out: a query, from a file or from standard input, and output to a file."""

from __future__ import annotations

import sys
from codecs import BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE
from pathlib import Path

import click

MAX_BYTES = 16 * 1024 * 1024
"""No query is longer; so `/dev/zero` ends as well."""

STANDARD_INPUT = "-"


class NoQueryError(Exception):
    """A query text that cannot be read: `message` is the reason, `hint` the remedy."""

    def __init__(self, message: str, hint: str | None = None) -> None:
        self.message = message
        self.hint = hint
        super().__init__(message)


def name_of(query: str) -> str:
    """The argument QUERY as messages show it."""
    return "<stdin>" if query == STANDARD_INPUT else click.format_filename(query)


def read_source(query: str) -> str:
    """The text of the argument QUERY."""
    return _decoded(_standard_input() if query == STANDARD_INPUT else _file(query))


def write_file(out: str, text: str) -> None:
    """Write to the file that `--out` names; ends the command where that is not possible."""
    try:
        Path(out).write_text(text, encoding="utf-8", errors="backslashreplace")
    except OSError as error:
        raise click.BadParameter(f"{out!r} cannot be written ({error.strerror}).", param_hint="'--out'") from None


def _file(query: str) -> bytes:
    try:
        with Path(query).open("rb") as file:
            return file.read(MAX_BYTES + 1)
    except IsADirectoryError:
        raise NoQueryError("this is a directory, not a query", f"name the files in it: {query}/*.rq") from None
    except OSError as error:
        is_query = any(character in query for character in "{\n")
        hint = "to pass the text of a query, write it to standard input and use - as the file" if is_query else None
        raise NoQueryError(_reason(error), hint) from None


def _reason(error: OSError) -> str:
    reasons: dict[type[OSError], str] = {
        FileNotFoundError: "there is no such file",
        PermissionError: "cannot be read: permission denied",
    }
    return reasons.get(type(error)) or f"this file cannot be read ({error.strerror})"


def _standard_input() -> bytes:
    if sys.stdin is None:
        raise NoQueryError("standard input is closed")
    if sys.stdin.isatty():
        click.echo("Type a query, and Ctrl-D on a line of its own to end it.", err=True)
    try:
        return sys.stdin.buffer.read(MAX_BYTES + 1)
    except OSError as error:
        raise NoQueryError(f"standard input cannot be read ({error.strerror})") from None


def _decoded(content: bytes) -> str:
    if len(content) > MAX_BYTES:
        raise NoQueryError(f"this is larger than {MAX_BYTES >> 20} MB, which is too large for a query")
    if content.startswith((BOM_UTF16_LE, BOM_UTF16_BE)):
        raise NoQueryError("this is UTF-16 text, but a query must be UTF-8", "save the file with the encoding UTF-8")
    if b"\0" in content:
        raise NoQueryError("this is binary data, not a query")
    try:
        text = content.removeprefix(BOM_UTF8).decode()
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise NoQueryError(
            f"this is not UTF-8 text (byte {content[error.start]:#04x} in line {line})",
            "save the file with the encoding UTF-8",
        ) from None
    if not text.strip():
        raise NoQueryError("this is empty: there is no query in it")
    return text
