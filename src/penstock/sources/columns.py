"""Terms and timestamps of line formats by columns, each distinct one converted once, without a Python object for each.

A regular expression recognises ordinary terms, which are cut and encoded (rdf/encoding.py) for the whole column at a
time. All others (with an escape, a rare character, a mistake) are NULL here and left to the parser. The parser reads
every ordinary term as the same term.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache

import pyarrow as pa
import pyarrow.compute as pc

from penstock.rdf.conversion import decode_oxigraph
from penstock.rdf.encoding import INTEGER_TYPES, TAGS_OF_DATATYPES
from penstock.rdf.errors import ReadingError
from penstock.rdf.timestamps import timestamp_of
from penstock.rdf.vocabulary import XSD

_XSD = XSD.replace(".", r"\.")
_CHARACTERS = r"(?:[A-Za-z0-9._~:/?@!$&'()*+,;=\x{A0}-\x{D7FF}-]|%[0-9A-Fa-f]{2})*"
_HOST = r"[A-Za-z0-9._~-]*(?::[0-9]*)?"
_AFTER_HOST = rf"(?:[/?]{_CHARACTERS})?(?:#{_CHARACTERS})?"
_WITHOUT_HOST = rf"/?(?:[A-Za-z0-9._~-]{_CHARACTERS})?(?:#{_CHARACTERS})?"
_IRI = rf"^<[A-Za-z][A-Za-z0-9+.-]*:(?://{_HOST}{_AFTER_HOST}|{_WITHOUT_HOST})>$"
_BLANK_NODE = r"^_:[A-Za-z0-9_](?:[A-Za-z0-9_.-]*[A-Za-z0-9_-])?$"
_LANGUAGE = r"[A-Za-z]{2,3}(?:-[A-Za-z]{4})?(?:-[A-Za-z]{2})?"
_DATATYPE = rf"<(?:{_XSD}[A-Za-z]+|https?://(?:www\.)?[a-vx-z]{_HOST}{_AFTER_HOST})>"
"""None of RDF's own, at www.w3.org: a literal must not be written with rdf:langString."""
_LITERAL = rf'^"[^"\\\x00-\x1f\x7f]*"(?:@{_LANGUAGE}|\^\^{_DATATYPE})?$'

_MILLISECONDS = r'^"-?[0-9]{1,18}"$'
_TYPED_MILLISECONDS = rf'^"-?[0-9]{{1,18}}"\^\^<{_XSD}(?:integer|{"|".join(INTEGER_TYPES)})>$'
_LEAP_YEAR = "[12][0-9](?:0[48]|[2468][048]|[13579][26])"
_DATE = (
    r"(?:[12][0-9]{3}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12][0-9]|3[01])|(?:0[469]|11)-(?:0[1-9]|[12][0-9]|30)"
    rf"|02-(?:0[1-9]|1[0-9]|2[0-8]))|{_LEAP_YEAR}-02-29)"
)
_DATE_TIME = (
    rf'^"{_DATE}T(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](?:\.[0-9]+)?'
    rf'(?:Z|[+-](?:0[0-9]|1[0-4]):[0-5][0-9])?"(?:\^\^<{_XSD}dateTime(?:Stamp)?>)?$'
)
_UP_TO_SECONDS = len('"2024-05-01T12:00:00')

_TEXT = pa.large_string()


def subjects(texts: pa.Array, prefix: str) -> pa.Array:
    """Encoded subjects or names of graphs; the labels of blank nodes get the prefix."""
    return _each_once(texts, lambda terms: _encoded(terms, {_IRI: _iris, _BLANK_NODE: _blank_nodes(prefix)}))


def predicates(texts: pa.Array) -> pa.Array:
    return _each_once(texts, lambda terms: _encoded(terms, {_IRI: _iris}))


def objects(texts: pa.Array, prefix: str) -> pa.Array:
    kinds = {_IRI: _iris, _BLANK_NODE: _blank_nodes(prefix), _LITERAL: _literals}
    return _each_once(texts, lambda terms: _encoded(terms, kinds))


def times(texts: pa.Array) -> pa.Array:
    """Timestamps in milliseconds; the texts have their quotes."""
    kinds = {_MILLISECONDS: _whole_numbers, _DATE_TIME: _dates, _TYPED_MILLISECONDS: _typed_numbers}
    return _chosen(texts, kinds, pa.int64())


def time_of_term(term: str) -> int | None:
    """The timestamp that an encoded term is, read by the parser; None if it is none."""
    try:
        return timestamp_of(decode_oxigraph(term))
    except ReadingError:
        return None


def ended(column: pa.Array, end: pa.Array) -> pa.Array:
    """The column, NULL where the last word of a line does not end a statement."""
    is_end = _each_once(end, lambda words: pc.or_(pc.equal(words, "."), pc.equal(words, ".\r")))
    return pc.if_else(is_end, column, None) if is_end.false_count else column


def _each_once(texts: pa.Array, convert: Callable[[pa.Array], pa.Array]) -> pa.Array:
    """Terms repeat: gates, predicates, timestamps. Only the distinct ones are converted."""
    different = texts if pa.types.is_dictionary(texts.type) else texts.dictionary_encode()
    return convert(different.dictionary.cast(_TEXT)).take(different.indices)


_Convert = Callable[[pa.Array], pa.Array]


def _encoded(texts: pa.Array, kinds: Mapping[str, _Convert]) -> pa.Array:
    return _chosen(texts, kinds, _TEXT)


def _chosen(texts: pa.Array, kinds: Mapping[str, _Convert], kind_of_result: pa.DataType) -> pa.Array:
    """Each text converted by the function whose pattern it matches; NULL where it matches none."""
    converted = pa.nulls(len(texts), kind_of_result)
    for pattern, convert in kinds.items():
        matches = pc.match_substring_regex(texts, pattern)
        count = matches.true_count
        if count == len(texts):
            return convert(texts)
        if count:
            converted = pc.replace_with_mask(converted, matches, convert(texts.filter(matches)))
    return converted


def _iris(texts: pa.Array) -> pa.Array:
    return _joined("I", pc.utf8_slice_codeunits(texts, 1, -1))


def _blank_nodes(prefix: str) -> _Convert:
    return lambda texts: _joined("B" + prefix, pc.utf8_slice_codeunits(texts, 2))


def _literals(texts: pa.Array) -> pa.Array:
    """The text between the quotation marks, after the tag for its language or datatype."""
    parts = pc.split_pattern(texts, pattern='"')
    annotations = pc.list_element(parts, 2).dictionary_encode()
    tags = pa.array([_tag(annotation) for annotation in annotations.dictionary.to_pylist()], _TEXT)
    return _joined(tags.take(annotations.indices), pc.list_element(parts, 1))


def _joined(left: str | pa.Array, right: pa.Array) -> pa.Array:
    first = pa.scalar(left, _TEXT) if isinstance(left, str) else left
    return pc.binary_join_element_wise(first, right, pa.scalar("", _TEXT))


_TAGS_OF_ANNOTATIONS = {
    "": "S",
    **{f"^^<{datatype}>": tag for datatype, tag in TAGS_OF_DATATYPES.items()},
    **{f"^^<{XSD}{name}>": f"n{name} " for name in INTEGER_TYPES},
}


def _tag(annotation: str) -> str:
    """The tag of a literal by its language or datatype: `@en`, `^^<IRI>` or nothing."""
    tag = _TAGS_OF_ANNOTATIONS.get(annotation)
    if tag is not None:
        return tag
    return f"L{annotation[1:].lower()} " if annotation.startswith("@") else f"O{annotation[3:-1]} "


def _whole_numbers(texts: pa.Array) -> pa.Array:
    return pc.utf8_slice_codeunits(texts, 1, -1).cast(pa.int64())


def _typed_numbers(texts: pa.Array) -> pa.Array:
    return _lexical(texts).cast(pa.int64())


def _dates(texts: pa.Array) -> pa.Array:
    """Dates and times in milliseconds: the seconds, plus the fraction and the time zone."""
    seconds = pc.utf8_slice_codeunits(texts, 1, _UP_TO_SECONDS).cast(pa.timestamp("s")).cast(pa.int64())
    rests = pc.utf8_slice_codeunits(texts, _UP_TO_SECONDS).dictionary_encode()
    added = pa.array([_milliseconds(rest) for rest in rests.dictionary.to_pylist()], pa.int64())
    return pc.add(pc.multiply(seconds, 1000), added.take(rests.indices))


def _lexical(texts: pa.Array) -> pa.Array:
    return pc.list_element(pc.split_pattern(texts, pattern='"'), 1)


@lru_cache(maxsize=1 << 12)
def _milliseconds(rest: str) -> int:
    """Milliseconds of the text after the seconds, such as `.5+02:00"`; without a zone it is UTC."""
    time, sign, zone = rest.partition('"')[0].removesuffix("Z"), 0, "00:00"
    if time[-6:-5] in ("+", "-"):
        time, sign, zone = time[:-6], -1 if time[-6] == "+" else 1, time[-5:]
    fraction = int(time[1:4].ljust(3, "0")) if time else 0
    return fraction + sign * 60_000 * (60 * int(zone[:2]) + int(zone[3:]))
