"""Micro-batches that the driver decodes, as tables of elements (`batches.SCHEMA`), with the readers of every engine."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from penstock.rdf.elements import OnMalformed
from penstock.sources.batches import SCHEMA, Source
from penstock.sources.spark.frames import NO_NAME


def table_of_source(source: Source, report: OnMalformed) -> pa.Table:
    """All elements of a bounded source."""
    tables, elements = [SCHEMA.empty_table()], 0
    for batch in source.batches():
        for malformed in batch.malformed:
            report(malformed)
        tables.append(batch.table.set_column(4, "element", pc.add(batch.table["element"], elements)))
        elements += batch.elements
    return pa.concat_tables(tables, promote_options="default")


def table_of_rows(rows: pa.Table) -> pa.Table:
    """Rows of Spark, with `s`, `p`, `o`, `ts`, the name `g` of their graph or NULL, and their position `place`.

    They are ordered by timestamp. Rows with the same graph and timestamp are one element.
    """
    rows = rows.sort_by([("ts", "ascending"), ("place", "ascending")])
    element = pa.arange(0, rows.num_rows)
    has_names = rows["g"].null_count < rows.num_rows
    if has_names:
        graph = pc.binary_join_element_wise(pc.cast(rows["ts"], pa.string()), rows["g"], " ")
        alone = pc.cast(element, pa.string())
        element = pc.coalesce(graph, alone).combine_chunks().dictionary_encode().indices
        order = pc.sort_indices(element)
        rows, element = rows.take(order), element.take(order)
    table = rows.select(["s", "p", "o", "ts"]).append_column("element", pc.cast(element, pa.int64()))
    if has_names:
        is_name = pc.invert(pc.starts_with(rows["g"], NO_NAME))
        table = table.append_column("g", pc.if_else(is_name, rows["g"], None))
    return table
