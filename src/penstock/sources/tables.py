"""Elements and triples as tables of encoded terms."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache, reduce
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
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


def elements_of_rows(columns: Sequence[pa.Array], read: Callable[[int], tuple[int, Triple] | None]) -> pa.Table:
    """Rows that are an element each, numbered by their places: subjects, predicates, objects and timestamps.

    A row with a NULL is not ordinary: `read` reads it, by its place, and returns None if it is malformed.
    """
    is_ordinary = all_valid(columns)
    table = pa.table([*columns, pa.arange(0, len(is_ordinary))], names=SCHEMA.names).cast(SCHEMA)
    if is_ordinary.true_count == len(is_ordinary):
        return table
    ordinary = table.filter(is_ordinary)
    odd = pc.indices_nonzero(pc.invert(is_ordinary)).to_pylist()
    found = [(*element, place) for place in odd if (element := read(place)) is not None]
    if not found:
        return ordinary
    times, triples, places = zip(*found, strict=True)
    others = pa.table([*encoded_columns(triples), times, places], schema=SCHEMA)
    return pa.concat_tables([ordinary, others]).sort_by("element") if ordinary.num_rows else others


def all_valid(columns: Sequence[pa.Array]) -> pa.Array:
    """Where no column has a NULL."""
    return reduce(pc.and_, (column.is_valid() for column in columns))
