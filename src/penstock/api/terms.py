"""RDF terms, triples and elements from Python values."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from decimal import Decimal
from typing import Any

from pyoxigraph import BlankNode, Literal, NamedNode, RdfFormat, Triple

from penstock.api.settings import milliseconds
from penstock.rdf.blank_nodes import Rename, rename_triple
from penstock.rdf.elements import Element, Malformed, Node, OnMalformed
from penstock.rdf.errors import ReadingError
from penstock.rdf.parser import parse_statements
from penstock.rdf.timestamps import in_range, parse_timestamp
from penstock.rdf.vocabulary import XSD

_ELEMENT = "an element is (subject, predicate, object, timestamp), or (triples, timestamp)"


def element_of(item: object, rename: Rename) -> Element:
    """An element from `(s, p, o, ts)`, from `(triple, ts)` or `(triples, ts)`, or from an element.

    Raises `ReadingError`.
    """
    match item:
        case Element(time, triples, graph):
            name = rename(graph) if isinstance(graph, BlankNode) else graph
            return Element(in_range(time), tuple(rename_triple(triple, rename) for triple in triples), name)
        case (Triple() as triple, time):
            return Element(instant_of(time), (rename_triple(triple, rename),))
        case (triples, time) if isinstance(triples, Iterable) and not isinstance(triples, str):
            each_once = dict.fromkeys(triple_of(triple, rename) for triple in triples)
            return Element(instant_of(time), tuple(each_once))
        case (subject, predicate, object_, time):
            return Element(instant_of(time), (triple_of((subject, predicate, object_), rename),))
    raise ReadingError(f"this is not an element: {_ELEMENT}")


def triple_of(item: object, rename: Rename) -> Triple:
    """A triple from `(s, p, o)`, or from a triple.

    Raises `ReadingError`.
    """
    if isinstance(item, Triple):
        return rename_triple(item, rename)
    if not isinstance(item, tuple | list) or len(item) != 3:
        raise ReadingError("this is not a triple: write (subject, predicate, object)")
    subject, predicate, object_ = map(term_of, item)
    if isinstance(subject, Literal):
        raise ReadingError(f"{subject} is a literal, but a subject must be an IRI or a blank node")
    if not isinstance(predicate, NamedNode):
        raise ReadingError(f"{predicate} is not an IRI, but a predicate must be one")
    return rename_triple(Triple(subject, predicate, object_), rename)


def term_of(value: Any) -> Node:
    """A term from N-Triples (`<http://ex.org/a>`, `"text"@en`), from a Python number, boolean or date, or from a term.

    Raises `ReadingError`.
    """
    if isinstance(value, NamedNode | BlankNode | Literal):
        return value
    if isinstance(value, str):
        return _parsed(value)
    if hasattr(value, "item"):  # a scalar of NumPy
        value = value.item()
    if isinstance(value, bool | int | float):
        return Literal(value)
    if isinstance(value, Decimal):
        return Literal(f"{value:f}", datatype=NamedNode(XSD + "decimal"))
    if isinstance(value, datetime):
        return Literal(value.isoformat(), datatype=NamedNode(XSD + "dateTime"))
    raise ReadingError(f"{value!r} is not a term: write N-Triples, as in '<http://ex.org/a>', or a number")


def instant_of(value: Any) -> int:
    """Milliseconds from whole milliseconds, from a date and time, or from a text that is either.

    Raises `ReadingError`.
    """
    if isinstance(value, str):
        return parse_timestamp(value)
    if isinstance(value, datetime):
        return milliseconds(value)
    if hasattr(value, "item"):
        value = value.item()
    if isinstance(value, int) and not isinstance(value, bool):
        return in_range(value)
    raise ReadingError(f"{value!r} is not a timestamp: write whole milliseconds, or a date and time")


def elements_of(
    items: Callable[[], Iterable[object]], name: str, rename: Rename
) -> Callable[[OnMalformed], Iterator[Element]]:
    """A reader of elements; malformed ones are reported with their places, counted from 1."""

    def read(on_malformed: OnMalformed) -> Iterator[Element]:
        for number, item in enumerate(items(), start=1):
            try:
                yield element_of(item, rename)
            except ReadingError as error:
                on_malformed(Malformed(f"{name}:{number}", repr(item), error.reason))

    return read


def _parsed(text: str) -> Node:
    try:
        statements = parse_statements(f"<urn:s> <urn:p> {text} .", RdfFormat.N_TRIPLES, lambda node: node)
        if len(statements) == 1:
            return statements[0].triple.object  # type: ignore[return-value]
    except (ReadingError, UnicodeEncodeError):
        pass
    raise ReadingError(f'{text!r} is not a term: write N-Triples, as in <http://ex.org/a> or "text"')
