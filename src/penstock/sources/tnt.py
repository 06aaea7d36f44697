"""Lines of timestamped N-Triples as a table: the ordinary ones by columns, and every other one by the line reader."""

from __future__ import annotations

import codecs
from collections.abc import Callable

import pyarrow as pa
from pyoxigraph import Triple

from penstock.rdf.blank_nodes import label_prefix, prefixed
from penstock.rdf.elements import Malformed, OnMalformed
from penstock.rdf.errors import ReadingError
from penstock.rdf.formats.tnt import decode_line, parse_timed_triple
from penstock.rdf.limits import shown
from penstock.sources.batches import SCHEMA
from penstock.sources.columns import ended, objects, predicates, subjects, times
from penstock.sources.lines import FEW, Lines, cut, texts_of
from penstock.sources.tables import elements_of_rows

OnMalformedLine = Callable[[int, bytes, str], None]
"""Receives the number of a malformed line, from 0, the line, and the reason."""


def decode_tnt(lines: Lines, *, name: str, first_line: int, scope: str, on_malformed: OnMalformed) -> pa.Table:
    """The elements of lines, in their order: those of `read_stream`.

    The place of a malformed line is `name:line`, counted from `first_line`.
    """

    def report(index: int, text: bytes, reason: str) -> None:
        on_malformed(Malformed(f"{name}:{first_line + index}", shown(text), reason))

    found = decode_lines(lines, scope=scope, report=report, has_mark=first_line == 1)
    return found.set_column(4, SCHEMA.field("element"), pa.arange(0, found.num_rows))


def decode_lines(lines: Lines, *, scope: str, report: OnMalformedLine, has_mark: bool = False) -> pa.Table:
    """The elements of lines, numbered by their lines. `has_mark`: the first line may begin with a byte order mark."""
    columns = _ordinary(lines, scope) if len(lines) > FEW else _none(len(lines))
    rename = prefixed(scope)

    def read(index: int) -> tuple[int, Triple] | None:
        line = lines[index]
        if index == 0 and has_mark:
            line = line.removeprefix(codecs.BOM_UTF8)
        try:
            text = decode_line(line)
            return parse_timed_triple(text, rename) if text and not text.startswith("#") else None
        except ReadingError as error:
            report(index, line, error.reason)
            return None

    return elements_of_rows(columns, read)


def _ordinary(lines: Lines, scope: str) -> list[pa.Array]:
    """Subject, predicate, object and timestamp of each line; NULL where they are not ordinary."""
    subject, predicate, object_, time, end = lines.words(5, plain=[3]) or cut(texts_of(lines), left=2, right=2)
    prefix = label_prefix(scope)
    return [subjects(subject, prefix), predicates(predicate), objects(object_, prefix), ended(times(time), end)]


def _none(length: int) -> list[pa.Array]:
    return [pa.nulls(length, field.type) for field in SCHEMA][:4]
