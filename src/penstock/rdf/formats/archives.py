"""Archives (`.tar`, also compressed) of RDF files, in their order: each file is an element.

Its time is stated in it, or it is the number in its name times the unit.
"""

from __future__ import annotations

import tarfile
from collections.abc import Iterator
from pathlib import Path

from pyoxigraph import RdfFormat

from penstock.rdf.blank_nodes import numbered
from penstock.rdf.elements import Element, Malformed
from penstock.rdf.errors import ReadingError
from penstock.rdf.formats.messages import elements_of_message
from penstock.rdf.formats.read_options import ReadOptions
from penstock.rdf.formats.snapshots import time_in_name
from penstock.rdf.inputs import Input
from penstock.rdf.limits import LARGEST_DOCUMENT, shown, too_large
from penstock.rdf.parser import parse_statements

_FORMATS = {
    ".ttl": RdfFormat.TURTLE,
    ".nt": RdfFormat.N_TRIPLES,
    ".trig": RdfFormat.TRIG,
    ".nq": RdfFormat.N_QUADS,
    ".jsonld": RdfFormat.JSON_LD,
}


def read_archive(source: Input, options: ReadOptions) -> Iterator[Element]:
    """Files of other kinds are reported."""
    number = 0
    with source.open() as file:
        try:
            with tarfile.open(fileobj=file, mode="r|") as archive:
                for member in archive:
                    if member.isfile():
                        number += 1
                        yield from _elements(archive, member, number, source.name, options)
        except tarfile.TarError as error:
            options.on_malformed(Malformed(source.name, "", f"this is no archive, or it is damaged ({error})"))


def _elements(
    archive: tarfile.TarFile, member: tarfile.TarInfo, number: int, name: str, options: ReadOptions
) -> Iterator[Element]:
    place, format = f"{name}/{member.name}", _FORMATS.get(Path(member.name).suffix.lower())
    content = b""
    try:
        if format is None:
            raise ReadingError(f"a file of a stream ends with {', '.join(_FORMATS)}")
        if member.size > LARGEST_DOCUMENT:
            raise ReadingError(too_large("the file"))
        opened = archive.extractfile(member)
        content = b"" if opened is None else opened.read()
        rename = numbered(options.scope, f"{options.document}-{number}")
        statements = parse_statements(content, format, rename, f"file:///{member.name}")
        time, is_fixed = time_in_name(Path(member.name), options.unit_ms), options.unit_ms is not None
        yield from elements_of_message(statements, place, options, time, is_fixed=is_fixed and time is not None)
    except ReadingError as error:
        options.on_malformed(Malformed(error.place(place), shown(content), error.reason))
