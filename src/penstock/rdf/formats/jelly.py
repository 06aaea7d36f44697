"""Jelly, a binary format of streams: each frame is an element. It needs the package pyjelly (`penstock[jelly]`)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO

from pyoxigraph import BlankNode

from penstock.rdf.blank_nodes import Rename, prefixed, rename_triple
from penstock.rdf.elements import Element, Malformed, Statement
from penstock.rdf.errors import ReadingError, SourceError
from penstock.rdf.formats.messages import elements_of_message
from penstock.rdf.formats.read_options import ReadOptions
from penstock.rdf.inputs import Input


def read_jelly(source: Input, options: ReadOptions) -> Iterator[Element]:
    """A damaged frame ends the input: there is no way to find the next one."""
    number = 1
    with source.open() as file:
        try:
            for number, frame in enumerate(frames_of(file, source.name), 1):
                rename = prefixed(options.scope, f"{options.document}-{number}")
                yield from elements_of_message(renamed(frame, rename), f"{source.name}, frame {number}", options)
        except ReadingError as error:
            options.on_malformed(Malformed(f"{source.name}, frame {number + 1}", "", error.reason))


def frames_of(file: BinaryIO, name: str) -> Iterator[list[Statement]]:
    """The statements of each frame, blank nodes with the labels that they have there.

    Raises ReadingError where the content is not Jelly, and SourceError where the package is missing.
    """
    try:
        from penstock.rdf.formats.jelly_terms import frames  # it imports pyjelly
    except ImportError:
        raise SourceError(f"{name}: Jelly needs a package: pip install penstock[jelly]") from None
    try:
        yield from frames(file)
    except (ReadingError, GeneratorExit):
        raise
    except Exception as error:  # pyjelly and protobuf raise errors of many kinds
        raise ReadingError(f"this is not Jelly, or it is damaged ({type(error).__name__}: {error})") from None


def renamed(statements: list[Statement], rename: Rename) -> Iterator[Statement]:
    for graph, triple in statements:
        name = rename(graph) if isinstance(graph, BlankNode) else graph
        yield Statement(name, rename_triple(triple, rename))
