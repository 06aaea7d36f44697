"""N-Triples and N-Quads line by line, so that an invalid line does not affect the others."""

from __future__ import annotations

from collections.abc import Iterator

from pyoxigraph import RdfFormat

from penstock.rdf.blank_nodes import Rename
from penstock.rdf.elements import Malformed, OnMalformed, Statement
from penstock.rdf.errors import ReadingError
from penstock.rdf.inputs import Input
from penstock.rdf.limits import shown
from penstock.rdf.parser import parse_statements


def parse_lines(source: Input, format: RdfFormat, rename: Rename, on_malformed: OnMalformed) -> Iterator[Statement]:
    for number, line in source.lines(on_malformed):
        try:
            yield from parse_statements(line.removesuffix(b"\n") + b"\n", format, rename)
        except ReadingError as error:
            on_malformed(Malformed(f"{source.name}:{number}", shown(line), error.reason))
