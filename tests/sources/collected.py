"""A source read to its end: the rows of its batches, and what was malformed in it."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from pyoxigraph import Triple

from penstock.rdf.addresses import parse_address
from penstock.rdf.conversion import encode_oxigraph
from penstock.rdf.elements import Element, Malformed
from penstock.rdf.stream_reader import read_stream
from penstock.sources import Batch, Position, open_source

Triples = tuple[tuple[str, str, str], ...]


class Read(NamedTuple):
    """Elements, each as its timestamp and its encoded triples; what was malformed; and the names of the elements."""

    elements: list[tuple[int, Triples]]
    malformed: list[Malformed]
    names: list[str | None]

    @property
    def times(self) -> list[int]:
        return [time for time, _ in self.elements]


def read(
    text: str | Path, *, scope: str = "s", batch_elements: int | None = None, position: Position | None = None
) -> Read:
    return joined(open_source(text, scope=scope, batch_elements=batch_elements).batches(position))


def joined(batches: Iterable[Batch]) -> Read:
    found = Read([], [], [])
    for batch in batches:
        found.elements.extend(elements_of(batch))
        found.names.extend(names_of(batch))
        found.malformed.extend(batch.malformed)
    return found


def elements_of(batch: Batch) -> list[tuple[int, Triples]]:
    """The elements of a batch, which are numbered from 0 on."""
    elements: list[tuple[int, Triples]] = []
    for row in batch.table.to_pylist():
        triple = () if row["s"] is None else ((row["s"], row["p"], row["o"]),)
        if row["element"] == len(elements):
            elements.append((row["ts"], triple))
        else:
            assert row["element"] == len(elements) - 1
            time, triples = elements[-1]
            assert row["ts"] == time
            elements[-1] = (time, triples + triple)
    assert batch.elements == len(elements)
    return elements


def names_of(batch: Batch) -> list[str | None]:
    """The names of a batch's elements, of which all rows have the same."""
    names = {row["element"]: row.get("g") for row in batch.table.to_pylist()}
    assert all(row.get("g") == names[row["element"]] for row in batch.table.to_pylist())
    return [names[number] for number in range(batch.elements)]


def read_one_by_one(text: str | Path, *, scope: str = "s") -> Read:
    """The same by `read_stream`."""
    malformed: list[Malformed] = []
    address = parse_address(text)
    elements = list(read_stream(address.path, scope=scope, on_malformed=malformed.append, **address.read_options))
    names = [None if element.graph is None else encode_oxigraph(element.graph) for element in elements]
    return Read([encoded(element) for element in elements], malformed, names)


def encoded(element: Element) -> tuple[int, Triples]:
    return element.time, tuple(map(encoded_triple, element.triples))


def encoded_triple(triple: Triple) -> tuple[str, str, str]:
    return encode_oxigraph(triple.subject), encode_oxigraph(triple.predicate), encode_oxigraph(triple.object)
