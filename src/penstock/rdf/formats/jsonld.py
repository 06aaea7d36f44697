"""JSON-LD with timestamped graphs: one document in a `.jsonld` file, one a line in `.ndjson`.

A document that is wrong is left out as a whole.
"""

from __future__ import annotations

from collections.abc import Iterator

from pyoxigraph import RdfFormat

from penstock.rdf.blank_nodes import numbered
from penstock.rdf.elements import Element, Malformed
from penstock.rdf.errors import ReadingError
from penstock.rdf.formats.manner import Manner
from penstock.rdf.formats.timed_graphs import graphs_of_document
from penstock.rdf.inputs import Input
from penstock.rdf.limits import shown
from penstock.rdf.parsing import parse_statements


def read_jsonld(source: Input, manner: Manner) -> Iterator[Element]:
    content = source.content(manner.on_malformed)
    if content is not None and content.strip():
        yield from _document(content, None, manner.document, source, manner)


def read_ndjson(source: Input, manner: Manner) -> Iterator[Element]:
    for number, line in source.lines(manner.on_malformed):
        if line.strip():
            yield from _document(line, number, f"{manner.document}-{number}", source, manner)


def _document(content: bytes, line: int | None, document: str, source: Input, manner: Manner) -> Iterator[Element]:
    try:
        statements = parse_statements(content, RdfFormat.JSON_LD, numbered(manner.scope, document), source.base)
    except ReadingError as error:
        manner.on_malformed(Malformed(error.place(source.name, line), shown(content), error.reason))
        return
    place = source.name if line is None else f"{source.name}:{line}"
    yield from graphs_of_document(lambda _: statements, place, manner)
