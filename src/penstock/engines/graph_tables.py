"""Static graphs as tables of encoded terms, for every engine."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from penstock.algebra.inputs import GraphTriple
from penstock.rdf.conversion import encode_oxigraph
from penstock.relational.windows import FOREVER

STARTS, ENDS = "starts", "ends"
"""The columns that a graph has only if it changes."""


def graph_table(triples: Sequence[GraphTriple]) -> pa.Table:
    """Columns s, p and o; of a graph that changes also when each triple begins and ceases to be there."""
    columns: dict[str, pa.Array] = {
        "s": pa.array([encode_oxigraph(triple.subject) for triple, _ in triples], pa.string()),
        "p": pa.array([encode_oxigraph(triple.predicate) for triple, _ in triples], pa.string()),
        "o": pa.array([encode_oxigraph(triple.object) for triple, _ in triples], pa.string()),
    }
    if any(valid.end is not None or valid.start > -FOREVER for _, valid in triples):
        columns[STARTS] = pa.array([valid.start for _, valid in triples], pa.int64())
        columns[ENDS] = pa.array([FOREVER if valid.end is None else valid.end for _, valid in triples], pa.int64())
    return pa.table(columns)


def changes(graph: pa.Table) -> bool:
    return STARTS in graph.column_names
