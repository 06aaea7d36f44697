"""Lines of timestamped N-Triples as a table: the ordinary ones by columns, and every other one by the line reader."""

from __future__ import annotations

import codecs

import pyarrow as pa
import pyarrow.compute as pc
from pyoxigraph import Triple

from penstock.rdf.blank_nodes import Rename, label_prefix, prefixed
from penstock.rdf.elements import Malformed, OnMalformed
from penstock.rdf.errors import ReadingError
from penstock.rdf.formats.tnt import decode_line, parse_timed_triple
from penstock.rdf.limits import shown
from penstock.sources.batches import SCHEMA
from penstock.sources.columns import ends, objects, predicates, subjects, times
from penstock.sources.lines import FEW, Lines, cut, texts_of
from penstock.sources.tables import elements_of_rows


def decode_tnt(lines: Lines, *, name: str, first_line: int, scope: str, on_malformed: OnMalformed) -> pa.Table:
    """The elements of lines, in their order: those of `read_stream`.

    The place of a malformed line is `name:line`, counted from `first_line`.
    """
    columns = _ordinary(lines, scope) if len(lines) > FEW else _none(len(lines))
    rename = prefixed(scope)

    def read(index: int) -> tuple[int, Triple] | None:
        return read_line(lines[index], name, first_line + index, rename, on_malformed)

    found = elements_of_rows(columns, read)
    return found.set_column(4, SCHEMA.field("element"), pa.arange(0, found.num_rows))


def _ordinary(lines: Lines, scope: str) -> list[pa.Array]:
    """Subject, predicate, object and timestamp of each line; NULL where they are not ordinary."""
    subject, predicate, object_, time, end = lines.words(5, plain=[3]) or cut(texts_of(lines), left=2, right=2)
    prefix = label_prefix(scope)
    stamps = times(time)
    is_end = ends(end)
    if is_end.false_count:
        stamps = pc.if_else(is_end, stamps, None)
    return [subjects(subject, prefix), predicates(predicate), objects(object_, prefix), stamps]


def _none(length: int) -> list[pa.Array]:
    return [pa.nulls(length, field.type) for field in SCHEMA][:4]


def read_line(
    line: bytes, name: str, number: int, rename: Rename, on_malformed: OnMalformed
) -> tuple[int, Triple] | None:
    """The element in a line, which is bytes without a line end, as `read_tnt` reads it."""
    if number == 1:
        line = line.removeprefix(codecs.BOM_UTF8)
    try:
        text = decode_line(line)
        return parse_timed_triple(text, rename) if text and not text.startswith("#") else None
    except ReadingError as error:
        on_malformed(Malformed(f"{name}:{number}", shown(line), error.reason))
        return None
