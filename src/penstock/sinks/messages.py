"""Answers as messages for brokers and endpoints: each evaluation is one message.

An evaluation that is too large for its receiver is divided by rows. The key of a message is `QUERY/INSTANT/ROW`, where
ROW is the number of its first row: a receiver that knows the keys it has seen can drop repeated messages.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from penstock.rdf.result_batches import ResultBatch
from penstock.rdf.term_columns import TEXT, joined
from penstock.sinks.lines import Writer

SCHEMA = pa.schema([("key", TEXT), ("value", pa.large_binary()), ("query", TEXT), ("time", pa.int64())])

_FILLED = 0.9
"""How full a message may be, as rows differ in size."""


class MessageWriter:
    """Makes messages of evaluations, in a format; none is larger than `most_bytes`, unless a single row is."""

    def __init__(self, writer: Writer, variables: tuple[str, ...], most_bytes: int | None = None) -> None:
        self._writer = writer
        self._beginning = writer.beginning(variables)
        self._most_bytes = most_bytes

    def messages(self, batch: ResultBatch, which: range) -> pa.Table:
        """The messages of some consecutive evaluations, in order."""
        batch = batch.part(which)
        values = self._values(batch)
        tables = []
        done = 0
        for number in self._too_large(values):
            tables.append(_table(batch.part(range(done, number)), values.slice(done, number - done)))
            tables.extend(self._divided(batch.part(range(number, number + 1)), 0))
            done = number + 1
        tables.append(_table(batch.part(range(done, len(batch))), values.slice(done)))
        return pa.concat_tables(tables)

    def _values(self, batch: ResultBatch) -> pa.Array:
        texts = self._writer.texts(batch)
        if texts.type == pa.large_binary():
            return texts
        return joined(self._beginning, pc.utf8_rtrim(texts, characters="\r\n")).cast(pa.large_binary())

    def _too_large(self, values: pa.Array) -> list[int]:
        if self._most_bytes is None:
            return []
        sizes = pc.binary_length(values).to_numpy()
        found: list[int] = np.flatnonzero(sizes > self._most_bytes).tolist()
        return found

    def _divided(self, evaluation: ResultBatch, first: int) -> Iterator[pa.Table]:
        """The messages of one evaluation, or of a part of it that begins with this row."""
        assert self._most_bytes is not None
        values = self._values(evaluation)
        rows = len(evaluation.places)
        size = pc.binary_length(values)[0].as_py()
        if rows <= 1 or size <= self._most_bytes:
            yield _table(evaluation, values, first)
            return
        parts = evaluation.divided(max(1, min(rows - 1, int(rows * _FILLED * self._most_bytes / size))))
        for number in range(len(parts)):
            yield from self._divided(parts.part(range(number, number + 1)), first + int(parts.bounds[number]))


def _table(batch: ResultBatch, values: pa.Array, first: int = 0) -> pa.Table:
    """`first` is the number of the first row of each message."""
    queries = pa.array(batch.queries, TEXT).take(pa.array(batch.members))
    times = pa.array(batch.times)
    keys = joined(queries, "/", times.cast(TEXT), f"/{first}")
    return pa.table([keys, values, queries, times], schema=SCHEMA)


def in_pieces(messages: pa.Table, most_bytes: int) -> Iterator[pa.Table]:
    """The messages in tables of at most `most_bytes` each, or of a single larger message."""
    sizes = np.cumsum(pc.binary_length(messages["value"]).to_numpy())
    start, done = 0, 0
    while start < messages.num_rows:
        stop = max(start + 1, int(np.searchsorted(sizes, done + most_bytes, side="right")))
        yield messages.slice(start, stop - start)
        start, done = stop, int(sizes[stop - 1])
