"""Columns of encoded terms as columns of plain values: numbers, booleans, instants, texts."""

from __future__ import annotations

from collections.abc import Callable

import pyarrow as pa
import pyarrow.compute as pc

from penstock.rdf.instants import parse_instant
from penstock.rdf.term_columns import (
    TEXT,
    Terms,
    by_kind,
    formatted,
    in_places,
    joined,
    n_triples,
    plain,
    text_array,
)
from penstock.sources.columns import times

_INSTANT = pa.timestamp("ms", "UTC")
_LARGEST = 2**63
_MOST_BYTES = 2**31 - 1

_INTEGER = r"^[+-]?[0-9]{1,18}$"
_NUMBER = r"^[+-]?(?:[0-9]{1,100}(?:\.[0-9]{0,100})?|\.[0-9]{1,100})(?:[eE][+-]?[0-9]{1,2})?$"
"""The form that Arrow reads; other texts are rare and read one by one."""


def values(column: pa.ChunkedArray) -> pa.Array:
    """Numbers, booleans or instants if all terms have such values; else texts."""
    terms = text_array(column).dictionary_encode()
    kinds = by_kind(terms.dictionary)
    parts = [_typed(of_kind) for of_kind, _ in kinds]
    types = {part.type for part in parts}
    if types == {pa.int64(), pa.float64()}:
        types = {pa.float64()}
    if len(types) != 1 or any(part.null_count for part in parts):
        return texts(column)
    (type_,) = types
    return in_places([part.cast(type_) for part in parts], [places for _, places in kinds]).take(terms.indices)


def texts(column: pa.ChunkedArray) -> pa.Array:
    """IRIs without brackets, labels, lexical forms."""
    return formatted(column, plain)


def terms(column: pa.ChunkedArray) -> pa.Array:
    """Terms as N-Triples."""
    return formatted(column, n_triples)


def booleans(column: pa.ChunkedArray) -> pa.Array:
    return _booleans(texts(column))


def taken(column: pa.Array, places: pa.Array) -> pa.Array:
    """The values at these places; texts that are small enough together have the plain type of strings."""
    if column.type != TEXT:
        return column.take(places)
    lengths = pc.fill_null(pc.binary_length(column), 0).to_numpy()
    size = int(lengths[places.to_numpy()].sum()) if len(lengths) else 0
    return (column.cast(pa.string()) if size < _MOST_BYTES else column).take(places)


# Values: NULL if a term has none


def _typed(terms: Terms) -> pa.Array:
    if terms.tag in "in":
        return _read(terms.lexical, _INTEGER, _integer, pa.int64())
    if terms.tag in "def":
        return _read(terms.lexical, _NUMBER, _float, pa.float64())
    if terms.tag == "b":
        return _booleans(terms.lexical)
    return _instants(terms.lexical) if terms.tag == "t" else pa.nulls(len(terms.lexical), pa.string())


def _read(texts: pa.Array, ordinary: str, read: Callable[[str], object], type_: pa.DataType) -> pa.Array:
    is_ordinary = pc.match_substring_regex(texts, ordinary)
    found = pc.utf8_ltrim(pc.if_else(is_ordinary, texts, None), "+").cast(type_)
    is_odd = pc.invert(is_ordinary)
    odd = [read(text) for text in texts.filter(is_odd).to_pylist()]
    return pc.replace_with_mask(found, is_odd, pa.array(odd, type_)) if odd else found


def _integer(text: str) -> int | None:
    try:
        number = int(text)
    except ValueError:
        return None
    return number if -_LARGEST <= number < _LARGEST else None


def _float(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _booleans(texts: pa.Array) -> pa.Array:
    is_true = pc.is_in(texts, pa.array(["true", "1"], texts.type))
    is_false = pc.is_in(texts, pa.array(["false", "0"], texts.type))
    return pc.if_else(pc.or_(is_true, is_false), is_true, None)


def _instants(texts: pa.Array) -> pa.Array:
    found = pc.if_else(pc.match_substring(texts, "T"), times(joined('"', texts, '"')), None)
    is_odd = found.is_null()
    odd = [parse_instant(text) if "T" in text else None for text in texts.filter(is_odd).to_pylist()]
    found = pc.replace_with_mask(found, is_odd, pa.array(odd, pa.int64())) if odd else found
    return found.cast(_INSTANT)
