"""What a query is evaluated over: streams, static graphs, graphs that change; and which elements came too late."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from pyoxigraph import Triple

from penstock.algebra.windows import Interval
from penstock.rdf.elements import Element

ALWAYS = Interval(-(2**62), None)


class InputError(ValueError):
    """The query reads something that is not bound to it."""


class GraphTriple(NamedTuple):
    """A triple of a graph and when it holds; a static graph's triples hold always."""

    triple: Triple
    valid: Interval = ALWAYS


@dataclass(frozen=True, slots=True)
class Inputs:
    """Streams and graphs by IRI; the graph under None is the unnamed one, part of every default graph.

    `lateness` is the bound L within which elements may be out of order (semantics.md §2).
    """

    streams: Mapping[str, Sequence[Element]]
    graphs: Mapping[str | None, Sequence[GraphTriple]] = field(default_factory=dict)
    lateness: int = 0


def in_time_order(elements: Sequence[Element], lateness: int) -> list[tuple[Element, int | None]]:
    """`in_arrival_order`, sorted by timestamp; arrival order is kept among equals."""
    return sorted(in_arrival_order(elements, lateness), key=lambda entry: entry[0].time)


def in_arrival_order(elements: Sequence[Element], lateness: int) -> list[tuple[Element, int | None]]:
    """The elements, each with the watermark that it was behind when it came (None: it was in time).

    An element that is more than `lateness` behind came when the instants below the watermark had been evaluated: it
    counts only from the watermark on (semantics.md §2).
    """
    greatest: int | None = None
    noted: list[tuple[Element, int | None]] = []
    for element in elements:
        watermark = None if greatest is None else greatest - lateness
        is_late = watermark is not None and element.time < watermark
        noted.append((element, watermark if is_late else None))
        greatest = element.time if greatest is None else max(greatest, element.time)
    return noted
