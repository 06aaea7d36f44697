"""JSON-LD with timestamped graphs: one document per `.jsonld` file, one per line of `.ndjson`.

An invalid document is skipped as a whole.
"""

from __future__ import annotations

from collections.abc import Iterator

from pyoxigraph import RdfFormat

from penstock.rdf.blank_nodes import numbered
from penstock.rdf.elements import Element, Malformed
from penstock.rdf.errors import ReadingError
from penstock.rdf.formats.read_options import ReadOptions
from penstock.rdf.formats.timed_graphs import graphs_of_document
from penstock.rdf.inputs import Input
from penstock.rdf.limits import shown
from penstock.rdf.parser import parse_statements


def read_jsonld(source: Input, options: ReadOptions) -> Iterator[Element]:
    content = source.content(options.on_malformed)
    if content is not None and content.strip():
        yield from _document(content, None, options.document, source, options)


def read_ndjson(source: Input, options: ReadOptions) -> Iterator[Element]:
    for number, line in source.lines(options.on_malformed):
        if line.strip():
            yield from _document(line, number, f"{options.document}-{number}", source, options)


def _document(
    content: bytes, line: int | None, document: str, source: Input, options: ReadOptions
) -> Iterator[Element]:
    try:
        statements = parse_statements(content, RdfFormat.JSON_LD, numbered(options.scope, document), source.base)
    except ReadingError as error:
        options.on_malformed(Malformed(error.place(source.name, line), shown(content), error.reason))
        return
    place = source.name if line is None else f"{source.name}:{line}"
    yield from graphs_of_document(lambda _: statements, place, options)
