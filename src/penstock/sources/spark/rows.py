"""The rows of a history on Spark: one for each triple, with numbers for the order of triples and elements."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as sf

ROWS = "s string, p string, o string, ts bigint, element bigint, arrival bigint"
"""Encoded terms, the timestamp, and the numbers of the element and of the triple.

The numbers grow in the order of the input and have gaps; the triples of an element share the element's number. The
triples of an element may be scattered: order by element, then by triple. An element without triples, such as an empty
snapshot, is a row whose terms are NULL.
"""

NAMED_ROWS = f"{ROWS}, g string"
"""The same with the names of elements: `g` is encoded, and NULL if the element has no name."""

MALFORMED = "place string, text string, reason string"
"""The place of malformed input (`file:line`), its text, and the reason, as a sentence (rdf/elements.py)."""

ARROW_ROWS = pa.schema(
    [(name, pa.string()) for name in ("s", "p", "o")] + [(name, pa.int64()) for name in ("ts", "element", "arrival")]
)
ARROW_NAMED_ROWS = ARROW_ROWS.append(pa.field("g", pa.string()))
ARROW_MALFORMED = pa.schema([(name, pa.string()) for name in ("place", "text", "reason")])

NUMBERS_PER_FILE = 1 << 43
"""The numbers of a file begin at its index times this value; no file has so many bytes, nor so many triples."""


def named(rows: DataFrame, is_named: bool) -> DataFrame:
    """The rows with a column for the names of elements or, if no query reads them, without one."""
    if not is_named:
        return rows.drop("g")
    return rows if "g" in rows.columns else rows.withColumn("g", sf.lit(None).cast("string"))


def batch_of(rows: Sequence[tuple[Any, ...]], schema: pa.Schema) -> pa.RecordBatch:
    columns = zip(*rows, strict=True) if rows else [()] * len(schema)
    return pa.record_batch(
        [pa.array(column, field.type) for column, field in zip(columns, schema, strict=True)], schema
    )
