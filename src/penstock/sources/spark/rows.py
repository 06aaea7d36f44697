"""What a history is on Spark: a row for each triple, with numbers that say in what order triples and elements came."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as sf

ROWS = "s string, p string, o string, ts bigint, element bigint, arrival bigint"
"""Encoded terms, the timestamp, and the numbers of the element and of the triple.

The numbers grow in the order of the input and have gaps; the triples of an element share the element's number. Where
elements are written in pieces their triples do not come one after the other: order by element, then by triple. An
element without triples, which an empty snapshot is, is a row whose terms are NULL.
"""

NAMED_ROWS = f"{ROWS}, g string"
"""The same where somebody asks for the names of elements: `g` is encoded, and NULL where the element has none."""

MALFORMED = "place string, text string, reason string"
"""Where malformed input stands (`file:line`), the input itself, and why, as a sentence (rdf/elements.py)."""

ARROW_ROWS = pa.schema(
    [(name, pa.string()) for name in ("s", "p", "o")] + [(name, pa.int64()) for name in ("ts", "element", "arrival")]
)
ARROW_NAMED_ROWS = ARROW_ROWS.append(pa.field("g", pa.string()))
ARROW_MALFORMED = pa.schema([(name, pa.string()) for name in ("place", "text", "reason")])

NUMBERS_PER_FILE = 1 << 43
"""A file's numbers begin at its place among the files times this; no file has so many bytes, nor so many triples."""


def named(rows: DataFrame, is_named: bool) -> DataFrame:
    """The rows with a column for the names of elements or, where nobody asks for it, without one."""
    if not is_named:
        return rows.drop("g")
    return rows if "g" in rows.columns else rows.withColumn("g", sf.lit(None).cast("string"))


def batch_of(rows: Sequence[tuple[Any, ...]], schema: pa.Schema) -> pa.RecordBatch:
    columns = zip(*rows, strict=True) if rows else [()] * len(schema)
    return pa.record_batch(
        [pa.array(column, field.type) for column, field in zip(columns, schema, strict=True)], schema
    )
