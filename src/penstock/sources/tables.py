"""Elements and triples as tables of encoded terms."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import pyarrow as pa
from pyoxigraph import Triple

from penstock.rdf.conversion import encode_oxigraph
from penstock.rdf.elements import Element
from penstock.sources.batches import SCHEMA

_encoded = lru_cache(maxsize=1 << 16)(encode_oxigraph)


def table_of(elements: Sequence[Element]) -> pa.Table:
    """A row for each triple, or one without terms for an element that has none; with names, if there are any."""
    rows = [
        (triple, element.time, number)
        for number, element in enumerate(elements)
        for triple in element.triples or (None,)
    ]
    triples, times, numbers = zip(*rows, strict=True) if rows else ((), (), ())
    columns: list[Any] = [*encoded_columns(triples), times, numbers]
    arrays = [pa.array(column, field.type) for column, field in zip(columns, SCHEMA, strict=True)]
    table = pa.table(arrays, schema=SCHEMA)
    if all(element.graph is None for element in elements):
        return table
    names = [None if element.graph is None else _encoded(element.graph) for element in elements]
    return table.append_column("g", pa.array(names, pa.string()).take(table["element"]))


def encoded_triples(triples: Sequence[Triple]) -> pa.Table:
    """Columns s, p and o."""
    return pa.table([pa.array(column, pa.string()) for column in encoded_columns(triples)], names=["s", "p", "o"])


def encoded_columns(triples: Sequence[Triple | None]) -> list[list[str | None]]:
    """Subjects, predicates and objects, encoded; NULL for no triple."""
    return [
        [None if triple is None else _encoded(triple.subject) for triple in triples],
        [None if triple is None else _encoded(triple.predicate) for triple in triples],
        [None if triple is None else _encoded(triple.object) for triple in triples],
    ]
