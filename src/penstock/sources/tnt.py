"""Lines of timestamped N-Triples as a table: the ordinary ones by columns, and every other one by the line reader."""

from __future__ import annotations

import codecs
from collections.abc import Callable, Sequence

import pyarrow as pa
import pyarrow.compute as pc
from pyoxigraph import Triple

from penstock.rdf.blank_nodes import Rename, label_prefix, prefixed
from penstock.rdf.elements import Malformed, OnMalformed
from penstock.rdf.errors import ReadingError
from penstock.rdf.formats.tnt import decode_line, parse_timed_triple
from penstock.rdf.limits import shown
from penstock.sources.batches import SCHEMA
from penstock.sources.columns import objects, predicates, subjects, times
from penstock.sources.tables import encoded_columns
from penstock.sources.word_columns import FEW, cut, texts_of

OnMalformedLine = Callable[[int, bytes, str], None]
"""Receives the number of a malformed line, from 0, the line, and the reason."""


def decode_tnt(lines: pa.Array, *, name: str, first_line: int, scope: str, on_malformed: OnMalformed) -> pa.Table:
    """The elements of lines, given as bytes without their ends: those of `read_stream`, in the order of the lines.

    `name` and `first_line` say where the lines are from: what is malformed is at `name:line`.
    """

    def report(index: int, text: bytes, reason: str) -> None:
        on_malformed(Malformed(f"{name}:{first_line + index}", shown(text), reason))

    rows = decode_lines(lines, scope=scope, report=report, has_mark=first_line == 1)
    if rows.num_rows == len(lines):
        return rows
    return rows.set_column(4, SCHEMA.field("element"), pa.arange(0, rows.num_rows))


def decode_lines(lines: pa.Array, *, scope: str, report: OnMalformedLine, has_mark: bool = False) -> pa.Table:
    """The elements of lines, numbered by their lines. `has_mark`: the first line may begin with a byte order mark."""
    columns = _ordinary(lines, scope) if len(lines) > FEW else _none(len(lines))
    is_ordinary = pc.and_(pc.and_(columns[0].is_valid(), columns[1].is_valid()), columns[2].is_valid())
    is_ordinary = pc.and_(is_ordinary, columns[3].is_valid())
    if is_ordinary.true_count == len(lines):
        return _table(columns, pa.arange(0, len(lines)))
    odd = pc.indices_nonzero(pc.invert(is_ordinary)).to_pylist()
    rename = prefixed(scope)
    read = [(index, _read_line(lines[index].as_py(), index, rename, report, has_mark)) for index in odd]
    return _merged(
        _table([column.filter(is_ordinary) for column in columns], pc.indices_nonzero(is_ordinary).cast(pa.int64())),
        [(index, *found) for index, found in read if found is not None],
    )


def _ordinary(lines: pa.Array, scope: str) -> list[pa.Array]:
    """Subject, predicate, object and timestamp of each line; NULL where they are not ordinary."""
    subject, predicate, object_, time, end = cut(texts_of(lines), left=2, right=2)
    prefix = label_prefix(scope)
    is_end = pc.or_(pc.equal(end, "."), pc.equal(end, ".\r"))
    stamps = times(time)
    if is_end.false_count:
        stamps = pc.if_else(is_end, stamps, None)
    return [subjects(subject, prefix), predicates(predicate), objects(object_, prefix), stamps]


def _none(length: int) -> list[pa.Array]:
    return [pa.nulls(length, field.type) for field in SCHEMA][:4]


def _table(columns: Sequence[pa.Array], element: pa.Array) -> pa.Table:
    return pa.table([*columns, element], names=SCHEMA.names).cast(SCHEMA)


def _merged(ordinary: pa.Table, odd: list[tuple[int, int, Triple]]) -> pa.Table:
    """Elements that are numbered by their lines, in the order of the lines."""
    if odd:
        lines, times_of_lines, triples = zip(*odd, strict=True)
        others = pa.table([*encoded_columns(triples), times_of_lines, lines], schema=SCHEMA)
        ordinary = pa.concat_tables([ordinary, others]).sort_by("element") if ordinary.num_rows else others
    return ordinary


def _read_line(
    line: bytes, index: int, rename: Rename, report: OnMalformedLine, has_mark: bool
) -> tuple[int, Triple] | None:
    """What `read_tnt` does with a line, given as bytes without its end."""
    if index == 0 and has_mark:
        line = line.removeprefix(codecs.BOM_UTF8)
    try:
        text = decode_line(line)
        return parse_timed_triple(text, rename) if text and not text.startswith("#") else None
    except ReadingError as error:
        report(index, line, error.reason)
        return None
