"""The time of an element, from a literal (semantics.md §1)."""

from __future__ import annotations

import re

from pyoxigraph import Literal, Triple

from penstock.rdf.elements import Node
from penstock.rdf.errors import ReadingError
from penstock.rdf.instants import parse_instant
from penstock.rdf.vocabulary import XSD, XSD_STRING

_DATES = {XSD + name for name in "dateTime dateTimeStamp date".split()}
_INTEGERS = {
    XSD + name
    for name in (
        "integer long int short byte nonNegativeInteger positiveInteger nonPositiveInteger negativeInteger "
        "unsignedLong unsignedInt unsignedShort unsignedByte"
    ).split()
}
_TOO_FAR = 10**18
_IS_INTEGER = re.compile(r"[+-]?[0-9]+")


def parse_timestamp(lexical: str, datatype: str = XSD_STRING) -> int:
    """Milliseconds from an integer or a date and time; a datatype, if present, determines which."""
    is_integer = _IS_INTEGER.fullmatch(lexical) is not None
    fits = datatype == XSD_STRING or datatype in (_INTEGERS if is_integer else _DATES)
    instant = parse_instant(lexical) if fits else None
    if instant is None:
        shown = f'"{lexical}"' if datatype == XSD_STRING else f'"{lexical}"^^<{datatype}>'
        raise ReadingError(
            f'{shown} is not a timestamp: write whole milliseconds, as in "1000", or a date and time, '
            'as in "2024-05-01T12:00:00Z"'
        )
    return in_range(instant)


def in_range(instant: int) -> int:
    """Returns the instant if window arithmetic with it fits into 64 bits."""
    if abs(instant) >= _TOO_FAR:
        raise ReadingError(f'"{instant}" is too far from 1970 for a timestamp: at most 18 digits are allowed')
    return instant


def timestamp_of(node: Node | Triple) -> int:
    if not isinstance(node, Literal) or node.language is not None:
        raise ReadingError(f"{node} is not a timestamp: write a literal of xsd:dateTime or xsd:integer")
    return parse_timestamp(node.value, node.datatype.value)


def greatest(nodes: list[Node]) -> int:
    """The latest timestamp; nodes that are not timestamps are ignored unless there are no others."""
    instants = []
    problem = None
    for node in nodes:
        try:
            instants.append(timestamp_of(node))
        except ReadingError as error:
            problem = problem or error
    if instants:
        return max(instants)
    raise problem or ValueError("there is no timestamp to choose from")
