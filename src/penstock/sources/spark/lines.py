"""Lines of `.tnt` that Spark streams, decoded in the executors' Python by the reader of files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial

import pyarrow as pa
from pyspark.sql import DataFrame

from penstock.rdf.elements import Malformed
from penstock.rdf.limits import shown, too_long
from penstock.sources.spark.rows import ARROW_MALFORMED, MALFORMED, batch_of
from penstock.sources.tnt import decode_tnt

LONG_LINE = b"\0too long\0"
"""Marks a line that was too long; the beginning of the line follows."""

_DECODED = "s string, p string, o string, ts bigint, line string"
_ARROW_DECODED = pa.schema(
    [(name, pa.string()) for name in ("s", "p", "o")] + [("ts", pa.int64()), ("line", pa.string())]
)


def decoded_lines(lines: DataFrame, scope: str) -> DataFrame:
    """The triples of lines (`value`) with their timestamps; a line that is malformed is a row with `line` alone."""
    return lines.select("value").mapInArrow(partial(_decode, scope=scope), _DECODED)


def malformed_lines(lines: DataFrame, scope: str, place: str) -> DataFrame:
    """Why lines (`value`) are malformed (`rows.MALFORMED`); `place` is where all of them are from."""
    return lines.select("value").mapInArrow(partial(_judge, scope=scope, place=place), MALFORMED)


def _decode(batches: Iterable[pa.RecordBatch], scope: str) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        lines = batch.column(0)
        table, malformed = _read(lines, scope)
        columns = [*table.columns[:4], pa.nulls(table.num_rows, pa.string())]
        yield from pa.table(columns, schema=_ARROW_DECODED).to_batches()
        rows = [(None, None, None, None, lines[number].as_py()) for number, _ in malformed]
        yield batch_of(rows, _ARROW_DECODED)


def _judge(batches: Iterable[pa.RecordBatch], scope: str, place: str) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        _, malformed = _read(batch.column(0), scope)
        yield batch_of([entry._replace(place=place) for _, entry in malformed], ARROW_MALFORMED)


def _read(lines: pa.Array, scope: str) -> tuple[pa.Table, list[tuple[int, Malformed]]]:
    """The elements of lines, and the malformed ones with their numbers, from 0."""
    found: list[Malformed] = []
    texts = lines.cast(pa.binary())
    # No line is the first of a file, at which a byte order mark may stand.
    table = decode_tnt(texts, name="", first_line=_FIRST, scope=scope, on_malformed=found.append)
    numbered = [(int(entry.place.removeprefix(":")) - _FIRST, entry) for entry in found]
    return table, [(number, _explained(texts[number].as_py(), entry)) for number, entry in numbered]


_FIRST = 2


def _explained(line: bytes, entry: Malformed) -> Malformed:
    if not line.startswith(LONG_LINE):
        return entry
    return Malformed("", shown(line.removeprefix(LONG_LINE)), too_long())
