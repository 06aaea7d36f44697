"""The input of a query: streams, static graphs, graphs that change; and which elements were too late."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from pyoxigraph import Triple

from penstock.algebra.model import Dataset
from penstock.algebra.windows import CountWindow, Interval, Window
from penstock.rdf.elements import Element

if TYPE_CHECKING:
    from penstock.algebra.services import ServiceAnswer, ServiceCall

ALWAYS = Interval(-(2**62), None)


class InputError(ValueError):
    """The query reads a stream or graph that is not bound to it."""


class GraphTriple(NamedTuple):
    """A triple of a graph and its validity; a triple of a static graph is always valid."""

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
    services: Mapping[ServiceCall, Sequence[ServiceAnswer]] = field(default_factory=dict)
    """The answers of endpoints, if the query has SERVICE."""


def in_time_order(elements: Sequence[Element], lateness: int) -> list[tuple[Element, int | None]]:
    """`in_arrival_order` sorted by timestamp; equal timestamps keep the order of arrival."""
    return sorted(in_arrival_order(elements, lateness), key=lambda entry: entry[0].time)


def in_arrival_order(elements: Sequence[Element], lateness: int) -> list[tuple[Element, int | None]]:
    """The elements, each with the watermark that it was behind on arrival (None: it was in time).

    When an element arrives more than `lateness` behind, the instants below the watermark have been evaluated. It counts
    only from the watermark on (semantics.md §2).
    """
    greatest: int | None = None
    noted: list[tuple[Element, int | None]] = []
    for element in elements:
        watermark = None if greatest is None else greatest - lateness
        is_late = watermark is not None and element.time < watermark
        noted.append((element, watermark if is_late else None))
        greatest = element.time if greatest is None else max(greatest, element.time)
    return noted


Arrival = tuple[Element, int | None]
"""An element, with the watermark that it was behind on arrival, if it was late."""


def known_elements(window: Window, arrivals: Sequence[Arrival]) -> list[Arrival]:
    """The elements in time order, without those that arrived too late to count anywhere.

    A count window that moves every n elements has been moved by the elements in time: a late one has no place in it.
    """
    if all(known_from is None for _, known_from in arrivals):
        return sorted(arrivals, key=_time)
    if isinstance(window, CountWindow) and window.step > 1:
        return sorted((arrival for arrival in arrivals if arrival[1] is None), key=_time)
    known: list[Arrival] = []
    for arrival in arrivals:
        after = sorted([*known, arrival], key=_time)
        if arrival[1] is None or _can_count(window, arrival, after):
            known = after
    return known


def _time(arrival: Arrival) -> int:
    return arrival[0].time


def _can_count(window: Window, entry: Arrival, ordered: list[Arrival]) -> bool:
    """Whether the element is in the content at an instant that had not been evaluated when it arrived."""
    validity = window.validity([element.time for element, _ in ordered])
    position = next(place for place, other in enumerate(ordered) if other is entry)
    return from_instant(validity[position], entry[1]) is not None


def from_instant(interval: Interval | None, instant: int | None) -> Interval | None:
    """The part of the interval from the instant on."""
    if interval is None or instant is None:
        return interval
    start = max(interval.start, instant)
    return Interval(start, interval.end) if interval.end is None or start < interval.end else None


def late_elements(dataset: Dataset, inputs: Inputs) -> list[tuple[str, Element]]:
    """The elements, with their streams, that arrived too late to count in any window over their stream."""
    late: list[tuple[str, Element]] = []
    for stream, elements in inputs.streams.items():
        arrivals = in_arrival_order(elements, inputs.lateness)
        suspects = [element for element, known_from in arrivals if known_from is not None]
        if not suspects:
            continue
        windows = [window for window in dataset.windows if window.stream in (None, stream)]
        known = {id(element) for window in windows for element, _ in known_elements(window.window, arrivals)}
        late += ((stream, element) for element in suspects if id(element) not in known)
    return late
