"""Elements and triples as tables of encoded terms."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache, reduce
from itertools import groupby
from operator import itemgetter
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pyoxigraph import Triple

from penstock.rdf.conversion import decode_oxigraph, encode_oxigraph
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


def elements_of_table(table: pa.Table) -> Iterator[Element]:
    """The elements of a table (`batches.SCHEMA`), one by one."""
    for _, group in groupby(table.to_pylist(), key=itemgetter("element")):
        rows = list(group)
        triples = tuple(_triple(row) for row in rows if row["s"] is not None)
        name: Any = None if rows[0].get("g") is None else decode_oxigraph(rows[0]["g"])
        yield Element(rows[0]["ts"], triples, name)


def _triple(row: Mapping[str, Any]) -> Triple:
    subject, predicate, object_ = (decode_oxigraph(row[name]) for name in ("s", "p", "o"))
    return Triple(subject, predicate, object_)  # type: ignore[arg-type]


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


def each_triple_once(rows: pa.Table, group: str) -> pa.Table:
    """Rows with s, p and o, each triple of a group once, and the groups one after the other.

    The column `group` numbers the groups in the order of their first rows.
    """
    if pc.count_distinct(rows[group]).as_py() == rows.num_rows:
        return rows
    codes = {name: rows[name].combine_chunks().dictionary_encode().indices for name in ("s", "p", "o")}
    keys = pa.table({group: rows[group], **codes, "row": pa.arange(0, rows.num_rows)})
    once = keys.group_by([group, "s", "p", "o"]).aggregate([("row", "min")])
    return rows.take(once.sort_by([(group, "ascending"), ("row_min", "ascending")])["row_min"])


def all_valid(columns: Sequence[pa.Array]) -> pa.Array:
    """Where no column has a NULL."""
    return reduce(pc.and_, (column.is_valid() for column in columns))
