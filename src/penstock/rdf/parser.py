"""The RDF parsers of pyoxigraph, with unique blank nodes and helpful errors."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import BinaryIO

from pyoxigraph import BlankNode, DefaultGraph, Literal, Quad, QuadParser, RdfFormat, Triple, parse

from penstock.rdf.blank_nodes import Rename, rename_triple
from penstock.rdf.elements import Statement
from penstock.rdf.errors import ReadingError
from penstock.rdf.guards import guarded

TRIPLE_IN_TRIPLE = (
    "a triple is nested inside a triple (RDF-star): subject and object may be IRIs, blank nodes or literals (RDF 1.1), "
    "so use a resource instead"
)

_POSITION = re.compile(r"Parser error (?:at|between) [^:]*: ")

_BETTER = (
    (
        "No LoadDocumentCallback has been set",
        "the JSON-LD context is remote and is not fetched: put the context into the document",
    ),
    (
        "No scheme found in an absolute IRI",
        "an IRI is relative, but there is no base to resolve it: write the full IRI",
    ),
    ("Unexpected end", "the text ends in the middle of a statement: is it cut off?"),
    ("Invalid UTF-8", "a byte is not UTF-8: save the file as UTF-8"),
)


def parse_statements(
    text: str | bytes, format: RdfFormat, rename: Rename, base_iri: str | None = None
) -> list[Statement]:
    """All statements of a text. Raises `ReadingError`: a document with an error has no statements."""
    return list(checked(parsed(text, format, base_iri), rename))


def parsed(source: str | bytes | BinaryIO, format: RdfFormat, base_iri: str | None = None) -> QuadParser:
    """The statements, one by one. Raises ReadingError for input that would break the parser (guards.py)."""
    return parse(guarded(source, format), format, base_iri=base_iri)


def checked(quads: Iterable[Quad], rename: Rename) -> Iterator[Statement]:
    """The statements of a pyoxigraph parser. Raises `ReadingError` for errors and for features beyond RDF 1.1."""
    try:
        for quad in quads:
            triple, graph = quad.triple, quad.graph_name
            _reject_rdf_12(triple)
            if isinstance(graph, DefaultGraph):
                yield Statement(None, rename_triple(triple, rename))
            else:
                name = rename(graph) if isinstance(graph, BlankNode) else graph
                yield Statement(name, rename_triple(triple, rename))
    except SyntaxError as error:
        raise ReadingError(_reason(error), error.lineno) from None
    except MemoryError:
        raise ReadingError("a term is longer than the limit of 16 MiB") from None


def _reject_rdf_12(triple: Triple) -> None:
    object_ = triple.object
    if isinstance(object_, Triple):
        raise ReadingError(TRIPLE_IN_TRIPLE)
    if isinstance(object_, Literal) and object_.direction is not None:
        raise ReadingError(f"{object_} has a base direction, which is not RDF 1.1: remove --{object_.direction.value}")


def _reason(error: SyntaxError) -> str:
    message = _POSITION.sub("", error.msg, count=1)
    return next((sentence for beginning, sentence in _BETTER if message.startswith(beginning)), message)
