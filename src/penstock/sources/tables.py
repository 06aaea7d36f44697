"""Elements and triples as tables of encoded terms."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

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
    columns = [
        [None if triple is None else _encoded(triple.subject) for triple, _, _ in rows],
        [None if triple is None else _encoded(triple.predicate) for triple, _, _ in rows],
        [None if triple is None else _encoded(triple.object) for triple, _, _ in rows],
        [time for _, time, _ in rows],
        [number for _, _, number in rows],
    ]
    arrays = [pa.array(column, field.type) for column, field in zip(columns, SCHEMA, strict=True)]
    table = pa.table(arrays, schema=SCHEMA)
    if all(element.graph is None for element in elements):
        return table
    names = [None if element.graph is None else _encoded(element.graph) for element in elements]
    return table.append_column("g", pa.array(names, pa.string()).take(table["element"]))


def encoded_triples(triples: Sequence[Triple]) -> pa.Table:
    """Columns s, p and o."""
    columns = {
        "s": [_encoded(triple.subject) for triple in triples],
        "p": [_encoded(triple.predicate) for triple in triples],
        "o": [_encoded(triple.object) for triple in triples],
    }
    return pa.table({name: pa.array(column, pa.string()) for name, column in columns.items()})
