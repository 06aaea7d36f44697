"""What pyjelly makes of the frames of Jelly: statements of pyoxigraph. Imported only where Jelly is read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, BinaryIO

from pyjelly import jelly
from pyjelly.integrations.generic.parse import GenericGraphsAdapter, GenericQuadsAdapter, GenericTriplesAdapter
from pyjelly.parse.decode import Decoder
from pyjelly.parse.ioutils import get_options_and_frames
from pyoxigraph import BlankNode, Literal, NamedNode, Triple

from penstock.rdf.elements import Statement
from penstock.rdf.errors import ReadingError
from penstock.rdf.parser import TRIPLE_IN_TRIPLE


class _Terms:
    """The terms of pyoxigraph; blank nodes keep their labels."""

    def iri(self, iri: str) -> NamedNode:
        return NamedNode(iri)

    def bnode(self, bnode: str) -> BlankNode:
        return BlankNode(bnode)

    def default_graph(self) -> None:
        return None

    def literal(self, lex: str, language: str | None = None, datatype: str | None = None) -> Literal:
        if language:
            return Literal(lex, language=language)
        return Literal(lex, datatype=NamedNode(datatype)) if datatype else Literal(lex)

    def namespace_declaration(self, name: str, iri: str) -> None:
        return None

    def quoted_triple(self, terms: Iterable[Any]) -> None:
        raise ReadingError(TRIPLE_IN_TRIPLE)


class _Triples(_Terms, GenericTriplesAdapter):  # type: ignore[misc]
    def triple(self, terms: Iterable[Any]) -> Statement:
        return Statement(None, Triple(*terms))


class _Quads(_Terms, GenericQuadsAdapter):  # type: ignore[misc]
    def quad(self, terms: Iterable[Any]) -> Statement:
        subject, predicate, object_, graph = terms
        return Statement(graph, Triple(subject, predicate, object_))


class _Graphs(_Terms, GenericGraphsAdapter):  # type: ignore[misc]
    def triple(self, terms: Iterable[Any]) -> Statement:
        return Statement(self._graph_id, Triple(*terms))


_ADAPTERS = {
    jelly.PHYSICAL_STREAM_TYPE_TRIPLES: _Triples,
    jelly.PHYSICAL_STREAM_TYPE_QUADS: _Quads,
    jelly.PHYSICAL_STREAM_TYPE_GRAPHS: _Graphs,
}


def frames(file: BinaryIO) -> Iterator[list[Statement]]:
    """The statements of each frame. Raises whatever pyjelly raises where the content is not Jelly."""
    options, found = get_options_and_frames(file)
    decoder = Decoder(adapter=_ADAPTERS[options.stream_types.physical_type](options))
    for frame in found:
        yield [statement for statement in decoder.iter_rows(frame) if statement is not None]
