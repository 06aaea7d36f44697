"""Answers as tables of plain values: for Arrow, for pandas."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import asdict
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from penstock.algebra.model import AskForm, QueryForm, SelectForm
from penstock.api.value_columns import booleans, taken, texts, values
from penstock.api.value_columns import terms as term_texts
from penstock.rdf.result_batches import Numbers
from penstock.rdf.term_columns import TEXT
from penstock.runtime.answers import Answer
from penstock.sinks.counts import Counts
from penstock.sinks.lines import time_column

if TYPE_CHECKING:
    import pandas as pd

_COUNTS = "counts"


def arrow_table(answers: Iterable[Answer], form: QueryForm, *, terms: bool) -> pa.Table:
    """A row for each solution, triple or boolean, the instant before it.

    A column of numbers, booleans or dates and times has such values; any other holds texts. With `terms` each value is
    an RDF term as N-Triples.
    """
    return _table(answers, form, term_texts if terms else values)


def text_table(answers: Iterable[Answer], form: QueryForm, *, terms: bool) -> pa.Table:
    """The same with texts only, so that the columns of any evaluations have the same types."""
    return _table(answers, form, term_texts if terms else texts)


def _table(answers: Iterable[Answer], form: QueryForm, convert: Callable[[pa.ChunkedArray], pa.Array]) -> pa.Table:
    names = columns_of(form)
    times: list[pa.Array] = [pa.array([], pa.int64())]
    parts = [pa.table({name: pa.array([], TEXT) for name in names})]
    places: list[Numbers] = [np.zeros(0, np.int64)]
    before = 0
    for batch, which in answers:
        sizes = batch.sizes[which.start : which.stop]
        times.append(pa.array(np.repeat(batch.times[which.start : which.stop], sizes)))
        rows, own = batch.distinct(which)
        parts.append(rows.cast(pa.schema([(name, TEXT) for name in rows.column_names])))
        places.append(own + before)
        before += rows.num_rows
    found = pa.concat_tables(parts, promote_options="default")
    if "g" in found.column_names and "g" not in names and not isinstance(form, SelectForm):
        names = (*names, "g") if found["g"].null_count < found.num_rows else names
    convert = booleans if isinstance(form, AskForm) else convert
    chosen = pa.array(np.concatenate(places))
    columns = [taken(convert(found[name]), chosen) for name in names]
    return pa.table([pa.chunked_array(times), *columns], names=[time_column(names), *names])


def pandas_frame(table: pa.Table) -> pd.DataFrame:
    """The same for pandas; a column of integers or booleans with missing values has a nullable type."""
    try:
        import pandas as pd
    except ImportError:
        raise ImportError(
            "to_df() needs pandas, which is not installed: pip install pandas, or take to_arrow()"
        ) from None
    frame = table.to_pandas()
    for name in table.column_names:
        column = table[name]
        if column.null_count and column.type in (pa.int64(), pa.bool_()):
            kind = "Int64" if column.type == pa.int64() else "boolean"
            frame[name] = pd.array(column.to_pylist(), dtype=kind)
    counts = (table.schema.metadata or {}).get(_COUNTS.encode())
    if counts is not None:
        frame.attrs[_COUNTS] = json.loads(counts)
    return frame


def with_counts(table: pa.Table, counts: Counts) -> pa.Table:
    """The table with the counts of its run in the metadata of its schema, which `pandas_frame` takes over."""
    return table.replace_schema_metadata({_COUNTS: json.dumps(asdict(counts))})


def columns_of(form: QueryForm) -> tuple[str, ...]:
    """The columns besides the instant."""
    if isinstance(form, SelectForm):
        return tuple(variable.name for variable in form.variables)
    return ("boolean",) if isinstance(form, AskForm) else ("s", "p", "o")
