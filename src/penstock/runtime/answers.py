"""Answers of queries on their way to outlets, and to the queries that read them as streams."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from heapq import merge
from operator import itemgetter
from typing import TypeAlias

import numpy as np
import pyarrow as pa

from penstock.rdf.result_batches import ResultBatch
from penstock.rdf.term_columns import text_array
from penstock.sources.batches import SCHEMA

Answer: TypeAlias = tuple[ResultBatch, range]
"""Some consecutive evaluations of a batch."""


def in_time_order(found: Sequence[Iterable[ResultBatch]]) -> Iterator[Answer]:
    """The answers of several queries, each in time order; at one instant, in the order of the queries.

    A single query answers whole batches.
    """
    if len(found) == 1:
        for batch in found[0]:
            if len(batch.queries) > 1:
                for _, _, number in _instants([batch]):
                    yield batch, range(number, number + 1)
            elif len(batch):
                yield batch, range(len(batch))
        return
    for _, batch, number in merge(*map(_instants, found), key=itemgetter(0)):
        yield batch, range(number, number + 1)


def contiguous(answers: Iterable[Answer]) -> Iterator[Answer]:
    """As few as possible: consecutive evaluations of a batch stay together."""
    pending: Answer | None = None
    for batch, which in answers:
        if pending is not None and pending[0] is batch and pending[1].stop == which.start:
            pending = batch, range(pending[1].start, which.stop)
            continue
        if pending is not None:
            yield pending
        pending = batch, which
    if pending is not None:
        yield pending


def _instants(batches: Iterable[ResultBatch]) -> Iterator[tuple[int, ResultBatch, int]]:
    for batch in batches:
        for number, time in enumerate(batch.times.tolist()):
            yield time, batch, number


def elements_table(batch: ResultBatch, which: range) -> pa.Table:
    """Evaluations as elements of a stream: one graph each, or several named graphs; no element without triples.

    The columns are those of streams, and `g` if there are named graphs; the rows of an element are consecutive.
    """
    start, stop = batch.bounds[which.start], batch.bounds[which.stop]
    rows = batch.rows.take(pa.array(batch.places[start:stop]))
    numbers = batch.numbers[start:stop]
    if "g" in rows.column_names:
        graphs = text_array(rows["g"]).dictionary_encode().indices.fill_null(-1).to_numpy().astype(np.int64) + 1
        key = pa.array(numbers * (graphs.max(initial=0) + 1) + graphs)
        elements = key.dictionary_encode().indices.to_numpy().astype(np.int64)
        order = np.argsort(elements, kind="stable")
        rows, numbers, elements = rows.take(pa.array(order)), numbers[order], elements[order]
    else:
        elements = pa.array(numbers).dictionary_encode().indices.to_numpy().astype(np.int64)
    columns = [rows[name].cast(pa.string()) for name in ("s", "p", "o")]
    table = pa.table([*columns, pa.array(batch.times[numbers]), pa.array(elements)], schema=SCHEMA)
    return table.append_column("g", rows["g"].cast(pa.string())) if "g" in rows.column_names else table


def joined_elements(tables: Sequence[pa.Table]) -> pa.Table | None:
    """One table of several, with renumbered elements; None if there is no element."""
    numbered: list[pa.Table] = []
    before = 0
    place = SCHEMA.get_field_index("element")
    for table in tables:
        if table.num_rows:
            numbers = table["element"].to_numpy() + before
            numbered.append(table.set_column(place, SCHEMA.field(place), pa.array(numbers)))
            before = int(numbers[-1]) + 1
    return pa.concat_tables(numbered, promote_options="default") if numbered else None
