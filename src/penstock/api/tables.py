"""Streams and graphs from tables: pyarrow, pandas, Polars, and others that export Arrow."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, cast

import pyarrow as pa
import pyarrow.compute as pc
from pyoxigraph import BlankNode, Literal, Triple

from penstock.algebra.inputs import InputError
from penstock.api.terms import element_of, instant_of, term_of, triple_of
from penstock.rdf.blank_nodes import Rename, label_prefix, prefixed
from penstock.rdf.conversion import encode_oxigraph
from penstock.rdf.elements import Malformed
from penstock.rdf.errors import ReadingError
from penstock.sources.batches import MOST_ELEMENTS, SCHEMA, Batch, Position
from penstock.sources.columns import objects, predicates, subjects
from penstock.sources.graphs import TableGraph, with_odd
from penstock.sources.tables import elements_of_rows

_TERMS = ("s", "p", "o")
_TIME = ("ts", "time")
_MOST_MILLISECONDS = 10**18 - 1


def is_table(data: object) -> bool:
    return hasattr(data, "__arrow_c_stream__") or hasattr(data, "__dataframe__")


@dataclass(frozen=True, slots=True)
class TableSource:
    """A stream that is a table: a row is a triple with its timestamp, in the order of rows.

    The columns `s`, `p` and `o` hold terms as N-Triples (`o` may hold plain numbers, booleans or dates), `ts` or `time`
    whole milliseconds, dates and times, or texts of them. With columns `g` and `element` (`table_of_stream`) the rows
    of an element are consecutive, and `g` is the name of the element if it is an IRI or a blank node.
    """

    name: str
    table: pa.Table
    scope: str
    most_elements: int = MOST_ELEMENTS
    is_live: bool = field(default=False, init=False)
    can_resume: bool = field(default=True, init=False)

    def batches(self, position: Position | None = None) -> Iterator[Batch]:
        start = 0 if position is None else position["row"]
        while start < self.table.num_rows:
            part = self.table.slice(start, self._rows_from(start))
            malformed: list[Malformed] = []
            table = self._decoded(part, start, malformed)
            start += part.num_rows
            yield Batch(table, {"row": start}, tuple(malformed))

    @property
    def _has_graphs(self) -> bool:
        return "g" in self.table.column_names

    def _rows_from(self, start: int) -> int:
        """The number of rows of a batch that begins here: no element is cut."""
        rows = cast(int, self.table.num_rows)
        end = min(start + self.most_elements, rows)
        if self._has_graphs:
            element = self.table["element"]
            last = element[end - 1].as_py()
            end = bisect_right(range(rows), last, lo=end, key=lambda row: element[row].as_py())
        return end - start

    def _decoded(self, part: pa.Table, start: int, malformed: list[Malformed]) -> pa.Table:
        """The elements of some rows: common terms are read by columns, every other row by itself."""
        rename = prefixed(self.scope)

        def read(place: int) -> tuple[int, Triple] | None:
            row = tuple(column[place].as_py() for column in part.columns[:4])
            try:
                time, (triple,), _ = element_of(row, rename)
            except ReadingError as error:
                malformed.append(Malformed(f"{self.name}:{start + place + 1}", repr(row), error.reason))
                return None
            return time, triple

        found = elements_of_rows(_ordinary(part, label_prefix(self.scope)), read)
        if not self._has_graphs:
            return found.set_column(4, SCHEMA.field("element"), pa.arange(0, found.num_rows))
        kept = part.select(["g", "element"]).take(found["element"])
        numbers = kept["element"].combine_chunks().dictionary_encode().indices.cast(pa.int64())
        names = _names(kept["g"], label_prefix(self.scope), rename)
        return found.set_column(4, SCHEMA.field("element"), numbers).append_column("g", names)


def table_of_stream(data: Any) -> pa.Table:
    """The columns of a stream, in the order s, p, o, ts. Raises InputError if one is missing.

    If there is a column g, rows of the same g and ts are one element: they are moved to the first of them, and a column
    `element` after g numbers the elements.
    """
    table = _arrow(data)
    time = next((name for name in _TIME if name in table.column_names), None)
    if time is None or not set(_TERMS) <= set(table.column_names):
        raise InputError(
            f"a stream has the columns s, p, o and ts, but this one has {_list(table)}: rename or add what is missing"
        )
    if "g" not in table.column_names:
        return table.select([*_TERMS, time])
    graph, moment = (table[name].combine_chunks().dictionary_encode() for name in ("g", time))
    key = pc.add(pc.multiply(graph.indices.cast(pa.int64()), len(moment.dictionary) + 1), moment.indices)
    alone = pc.negate(pa.arange(1, table.num_rows + 1))
    element = pc.coalesce(key, alone).dictionary_encode().indices.cast(pa.int64())
    numbered = table.select([*_TERMS, time, "g"]).append_column("element", element)
    return numbered.take(pc.array_sort_indices(element))


def _names(column: pa.ChunkedArray, prefix: str, rename: Rename) -> pa.Array:
    """The names of elements, encoded; NULL for a text that is not an IRI or a blank node and only groups rows."""

    def odd(text: str) -> str:
        term = term_of(text)
        if isinstance(term, Literal):
            raise ReadingError(f"{term} is not the name of a graph")
        return encode_oxigraph(rename(term) if isinstance(term, BlankNode) else term)

    ordinary = subjects(_texts(column), prefix)
    if ordinary.null_count == column.null_count:
        return ordinary.cast(pa.string())
    return pc.coalesce(ordinary, _read_once(column, odd, pa.large_string())).cast(pa.string())


def graph_of_table(name: str, data: Any, scope: str) -> TableGraph:
    """The triples of a graph. Raises InputError where a column is missing, and ReadingError."""
    table = _arrow(data)
    if not set(_TERMS) <= set(table.column_names):
        raise InputError(f"a graph has the columns s, p and o, but this one has {_list(table)}: rename them")
    terms = table.select(_TERMS)
    rename = prefixed(scope)

    def read(odd: list[int]) -> list[Triple]:
        return [triple_of(list(row.values()), rename) for row in terms.take(odd).to_pylist()]

    return TableGraph(name, with_odd(_ordinary_terms(terms, label_prefix(scope)), read))


def _arrow(data: Any) -> pa.Table:
    return pa.table(data) if hasattr(data, "__arrow_c_stream__") else pa.Table.from_pandas(data, preserve_index=False)


def _list(table: pa.Table) -> str:
    return ", ".join(map(str, table.column_names)) or "none"


def _ordinary(part: pa.Table, prefix: str) -> list[pa.Array]:
    """Encoded terms and timestamps; NULL for uncommon ones."""
    return [*_ordinary_terms(part, prefix), _times(part.column(3))]


def _ordinary_terms(part: pa.Table, prefix: str) -> list[pa.Array]:
    subject, predicate, object_ = part.columns[:3]
    return [
        subjects(_texts(subject), prefix),
        predicates(_texts(predicate)),
        objects(_texts(object_), prefix) if _is_text(object_.type) else _read_once(object_, _value, pa.large_string()),
    ]


def _texts(column: pa.ChunkedArray) -> pa.Array:
    return column.cast(pa.large_string()).combine_chunks() if _is_text(column.type) else _none(len(column))


def _times(column: pa.ChunkedArray) -> pa.Array:
    if pa.types.is_timestamp(column.type):
        column = column.cast(pa.timestamp("ms", column.type.tz), safe=False).cast(pa.int64())
    if not pa.types.is_integer(column.type):
        return _read_once(column, instant_of, pa.int64())
    times = column.cast(pa.int64()).combine_chunks()
    is_in_range = pc.less_equal(pc.abs(times), _MOST_MILLISECONDS)
    return pc.if_else(is_in_range, times, None)


def _read_once(column: pa.ChunkedArray, read: Callable[[Any], str | int], kind: pa.DataType) -> pa.Array:
    """Values of any other kind, each distinct one read once; NULL if one cannot be read."""
    different = column.combine_chunks().dictionary_encode()
    found: list[str | int | None] = []
    for value in different.dictionary.to_pylist():
        try:
            found.append(read(value))
        except ReadingError:
            found.append(None)
    return pa.array(found, kind).take(different.indices)


def _value(value: Any) -> str:
    return encode_oxigraph(term_of(value))


def _is_text(kind: pa.DataType) -> bool:
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


def _none(length: int) -> pa.Array:
    return pa.nulls(length, pa.large_string())
