"""Lines of timestamped N-Triples as a table: the ordinary ones by columns, and every other one by the line reader."""

from __future__ import annotations

import codecs
from collections.abc import Sequence

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
from penstock.sources.tables import encoded_columns


def decode_tnt(lines: Lines, *, name: str, first_line: int, scope: str, on_malformed: OnMalformed) -> pa.Table:
    """The elements of lines: those of `read_stream`, in the order of the lines.

    `name` and `first_line` say where the lines are from: what is malformed is at `name:line`.
    """
    columns = _ordinary(lines, scope) if len(lines) > FEW else _none(len(lines))
    is_ordinary = pc.and_(pc.and_(columns[0].is_valid(), columns[1].is_valid()), columns[2].is_valid())
    is_ordinary = pc.and_(is_ordinary, columns[3].is_valid())
    if is_ordinary.true_count == len(lines):
        return _table(columns, pa.arange(0, len(lines)))
    odd = pc.indices_nonzero(pc.invert(is_ordinary)).to_pylist()
    rename = prefixed(scope)
    read = [(index, read_line(lines[index], name, first_line + index, rename, on_malformed)) for index in odd]
    return _merged(
        _table([column.filter(is_ordinary) for column in columns], pc.indices_nonzero(is_ordinary).cast(pa.int64())),
        [(index, *found) for index, found in read if found is not None],
    )


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


def _table(columns: Sequence[pa.Array], element: pa.Array) -> pa.Table:
    return pa.table([*columns, element], names=SCHEMA.names).cast(SCHEMA)


def _merged(ordinary: pa.Table, odd: list[tuple[int, int, Triple]]) -> pa.Table:
    """Elements that are numbered by their lines, in the order of the lines, numbered anew."""
    if odd:
        lines, times_of_lines, triples = zip(*odd, strict=True)
        others = pa.table([*encoded_columns(triples), times_of_lines, lines], schema=SCHEMA)
        ordinary = pa.concat_tables([ordinary, others]).sort_by("element") if ordinary.num_rows else others
    return ordinary.set_column(4, SCHEMA.field("element"), pa.arange(0, ordinary.num_rows))


def read_line(
    line: bytes, name: str, number: int, rename: Rename, on_malformed: OnMalformed
) -> tuple[int, Triple] | None:
    """What `read_tnt` does with a line, given as bytes without its end."""
    if number == 1:
        line = line.removeprefix(codecs.BOM_UTF8)
    try:
        text = decode_line(line)
        return parse_timed_triple(text, rename) if text and not text.startswith("#") else None
    except ReadingError as error:
        on_malformed(Malformed(f"{name}:{number}", shown(line), error.reason))
        return None
