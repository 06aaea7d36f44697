"""A stream read to its end: its elements, and what was malformed in it."""

from __future__ import annotations

from pathlib import Path
from typing import IO, NamedTuple, Unpack

from pyoxigraph import BlankNode, RdfFormat, Triple, parse

from penstock.rdf.addresses import ReadingOptions
from penstock.rdf.elements import Element, Malformed
from penstock.rdf.stream_reader import read_stream


class Collected(NamedTuple):
    elements: list[Element]
    malformed: list[Malformed]

    @property
    def times(self) -> list[int]:
        return [element.time for element in self.elements]

    @property
    def triples(self) -> list[list[str]]:
        return [[str(triple) for triple in element.triples] for element in self.elements]

    @property
    def graphs(self) -> list[str | None]:
        return [None if element.graph is None else str(element.graph) for element in self.elements]

    @property
    def reasons(self) -> list[str]:
        return [malformed.reason for malformed in self.malformed]

    @property
    def blank_nodes(self) -> list[set[str]]:
        """The blank nodes of each element, its name included."""
        return [
            {node.value for node in (element.graph, *_ends(element.triples)) if isinstance(node, BlankNode)}
            for element in self.elements
        ]


def collect(
    source: str | Path | IO[bytes] | IO[str], *, scope: str = "s", **options: Unpack[ReadingOptions]
) -> Collected:
    malformed: list[Malformed] = []
    return Collected(list(read_stream(source, scope=scope, on_malformed=malformed.append, **options)), malformed)


def never(malformed: Malformed) -> None:
    raise AssertionError(malformed)


def write(path: Path, text: str | bytes) -> Path:
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def triples(turtle: str) -> list[Triple]:
    """The triples of Turtle with the prefix `:`."""
    return [quad.triple for quad in parse(f"@prefix : <http://ex.org/> . {turtle}", RdfFormat.TURTLE)]


def _ends(triples: tuple[Triple, ...]) -> list[object]:
    return [end for triple in triples for end in (triple.subject, triple.object)]
