"""Columns of encoded terms as columns of texts: each distinct term is formatted once, all terms of a kind at a time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from penstock.rdf.encoding import TAGS_OF_DATATYPES
from penstock.rdf.vocabulary import XSD

TEXT = pa.large_string()
"""Texts of many rows can have more bytes together than offsets of 32 bits reach."""

_QUALIFIED = "LnO"
_DATATYPES = {tag: datatype for datatype, tag in TAGS_OF_DATATYPES.items()}


class Terms(NamedTuple):
    """Distinct terms of one kind: the tag of their encoding, lexical forms, and the languages or datatypes before."""

    tag: str
    lexical: pa.Array
    qualifier: pa.Array | None

    @property
    def datatype(self) -> pa.Array | str | None:
        """The datatypes of literals, one text where all have the same; None of other terms and where it is implied."""
        if self.tag == "O":
            return self.qualifier
        if self.tag == "n":
            return joined(XSD, self.qualifier)
        return None if self.tag in "IBSL" else _DATATYPES[self.tag]


Format = Callable[[Terms], pa.Array]


def formatted(column: pa.Array | pa.ChunkedArray, format: Format) -> pa.Array:
    """The text of each term of a column; NULL where there is no term."""
    terms = text_array(column).dictionary_encode()
    kinds = by_kind(terms.dictionary)
    texts = in_places([format(of_kind) for of_kind, _ in kinds], [places for _, places in kinds])
    return texts.take(terms.indices)


def text_array(column: pa.Array | pa.ChunkedArray) -> pa.Array:
    """A column in one piece."""
    column = column.cast(TEXT)
    return column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column


def by_kind(terms: pa.Array) -> list[tuple[Terms, pa.Array]]:
    """Distinct terms, those of each kind, with their places."""
    tags = pc.utf8_slice_codeunits(terms, 0, 1)
    kinds = tags.unique().to_pylist()
    if len(kinds) == 1:
        return [(_parsed(kinds[0], terms), pa.arange(0, len(terms)))]
    places = [pc.indices_nonzero(pc.equal(tags, pa.scalar(kind, TEXT))) for kind in kinds]
    return [(_parsed(kind, terms.take(where)), where) for kind, where in zip(kinds, places, strict=True)]


def in_places(parts: list[pa.Array], places: list[pa.Array]) -> pa.Array:
    """One array of the parts, whose values belong to these places."""
    if len(parts) <= 1:
        return parts[0] if parts else pa.array([], TEXT)
    order = np.empty(sum(map(len, places)), np.int64)
    order[np.concatenate([where.to_numpy() for where in places])] = np.arange(len(order))
    return pa.concat_arrays(parts).take(pa.array(order))


def _parsed(tag: str, terms: pa.Array) -> Terms:
    rest = pc.utf8_slice_codeunits(terms, 1)
    if tag not in _QUALIFIED:
        return Terms(tag, rest, None)
    parts = pc.split_pattern(rest, " ", max_splits=1)
    return Terms(tag, pc.list_element(parts, 1), pc.list_element(parts, 0))


def joined(*parts: pa.Array | str | None, separator: str = "") -> pa.Array:
    """Texts put together row by row; NULL where one of them is."""
    texts: list[Any] = [pa.scalar(part, TEXT) if isinstance(part, str) else part for part in parts]
    return pc.binary_join_element_wise(*texts, pa.scalar(separator, TEXT))


def statements(rows: pa.Table, format: Format) -> pa.Array:
    """The terms of triples, or of quads where there is a graph, with blanks between them."""
    subject, predicate, object_, *graph = (formatted(column, format) for column in rows.columns)
    return joined(subject, " ", predicate, " ", object_, *(joined(" ", name).fill_null("") for name in graph))


# Syntaxes


def plain(terms: Terms) -> pa.Array:
    """IRIs without brackets, labels of blank nodes, lexical forms."""
    return joined("_:", terms.lexical) if terms.tag == "B" else terms.lexical


def n_triples(terms: Terms) -> pa.Array:
    """The syntax of N-Triples."""
    if terms.tag == "I":
        return joined("<", terms.lexical, ">")
    if terms.tag == "B":
        return joined("_:", terms.lexical)
    quoted = escaped(terms.lexical, _N_TRIPLES_ESCAPES, _N_TRIPLES_ESCAPED)
    if terms.tag == "L":
        return joined('"', quoted, '"@', terms.qualifier)
    datatype = terms.datatype
    return joined('"', quoted, '"') if datatype is None else joined('"', quoted, '"^^<', datatype, ">")


def json_object(terms: Terms) -> pa.Array:
    """The objects of SPARQL 1.1 JSON results."""
    value = json_escaped(terms.lexical)
    if terms.tag in "IB":
        return joined(f'{{"type": "{"uri" if terms.tag == "I" else "bnode"}", "value": "', value, '"}')
    if terms.tag == "L":
        return joined('{"type": "literal", "value": "', value, '", "xml:lang": "', terms.qualifier, '"}')
    datatype = terms.datatype
    if datatype is None:
        return joined('{"type": "literal", "value": "', value, '"}')
    name = datatype if isinstance(datatype, str) else json_escaped(datatype)
    return joined('{"type": "literal", "value": "', value, '", "datatype": "', name, '"}')


def json_escaped(texts: pa.Array) -> pa.Array:
    """The text between the quotes of a JSON string."""
    return escaped(texts, _JSON_ESCAPES, _JSON_ESCAPED)


SHORT_ESCAPES = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t", "\b": "\\b", "\f": "\\f"}
"""The backslash is first, so that none of another escape is escaped again."""
_CONTROLS = [code for code in range(0x20) if chr(code) not in SHORT_ESCAPES]

_JSON_ESCAPES = SHORT_ESCAPES | {chr(code): f"\\u{code:04x}" for code in _CONTROLS}
_JSON_ESCAPED = r'[\x00-\x1f"\\]'

_N_TRIPLES_ESCAPES = SHORT_ESCAPES | {chr(code): f"\\u{code:04X}" for code in [*_CONTROLS, 0x7F, 0xFFFE, 0xFFFF]}
_N_TRIPLES_ESCAPED = r'[\x00-\x1f"\\\x7f\x{FFFE}\x{FFFF}]'


def escaped(texts: pa.Array, escapes: dict[str, str], pattern: str) -> pa.Array:
    """The texts with characters replaced; `pattern` matches the characters, which most texts do not have."""
    has_any = pc.match_substring_regex(texts, pattern)
    if not has_any.true_count:
        return texts
    odd = texts.filter(has_any)
    for character, escape in escapes.items():
        odd = pc.replace_substring(odd, character, escape)
    return pc.replace_with_mask(texts, has_any, odd)
