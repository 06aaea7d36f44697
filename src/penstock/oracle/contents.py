"""The content of a window at an instant (semantics.md §3), and its properties for report policies (§5)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from pyoxigraph import Triple

from penstock.algebra.inputs import Arrival, from_instant, in_arrival_order, known_elements
from penstock.algebra.model import StreamWindow
from penstock.algebra.windows import CountWindow, Interval
from penstock.rdf.elements import Element, GraphName


class Occurrence(NamedTuple):
    """A triple in a window: its element, and the instants at which it is part of the content."""

    triple: Triple
    time: int
    valid: Interval
    graph: GraphName | None = None
    """The name of the element."""


@dataclass(frozen=True)
class WindowContents:
    """A window over one stream, all its elements known."""

    window: StreamWindow
    stream: str
    elements: Sequence[Element]
    lateness: int = 0
    stream_end_at: int | None = None
    matches: Callable[[Triple], bool] | None = None
    """For a window that counts the matches of one triple pattern: which triples those are."""

    @cached_property
    def occurrences(self) -> list[Occurrence]:
        """All occurrences that were in time, or could still count on arrival."""
        return self._occurrences(self._ordered)

    def _occurrences(self, ordered: Sequence[Arrival]) -> list[Occurrence]:
        validity = self.window.window.validity([element.time for element, _ in ordered])
        found: list[Occurrence] = []
        for (element, known_from), interval in zip(ordered, validity, strict=True):
            valid = from_instant(interval, known_from)
            if valid is not None:
                found += (Occurrence(triple, element.time, valid, element.graph) for triple in element.triples)
        return found

    @cached_property
    def _ordered(self) -> list[Arrival]:
        """The elements in time order, without those that arrived too late to count at any instant."""
        return known_elements(self.window.window, self._counted())

    @cached_property
    def _has_late(self) -> bool:
        return any(known_from is not None for _, known_from in self._ordered)

    def _known_at(self, instant: int) -> list[Arrival]:
        """The elements that had arrived when the instant was evaluated."""
        return [entry for entry in self._ordered if entry[1] is None or entry[1] <= instant]

    def _counted(self) -> list[Arrival]:
        arrivals = in_arrival_order(self.elements, self.lateness)
        if self.matches is None:
            return arrivals
        matches = self.matches
        return [
            (Element(element.time, (triple,), element.graph), known_from)
            for element, known_from in arrivals
            for triple in element.triples
            if matches(triple)
        ]

    def content(self, instant: int) -> list[Occurrence]:
        """The occurrences valid at the instant. A set contains each triple once, with its greatest timestamp."""
        valid = self._valid(instant)
        if self.window.duplicates == "bag":
            return valid
        latest: dict[Triple, Occurrence] = {}
        for occurrence in valid:
            if occurrence.triple not in latest or latest[occurrence.triple].time <= occurrence.time:
                latest[occurrence.triple] = occurrence
        return list(latest.values())

    def named(self, instant: int) -> dict[GraphName, list[Occurrence]]:
        """The triples valid at the instant by the name of their element, without unnamed elements."""
        found: dict[GraphName, list[Occurrence]] = {}
        for occurrence in self._valid(instant):
            if occurrence.graph is not None:
                found.setdefault(occurrence.graph, []).append(occurrence)
        return found

    def _valid(self, instant: int) -> list[Occurrence]:
        known = self._occurrences(self._known_at(instant)) if self._has_late else self.occurrences
        return [occurrence for occurrence in known if occurrence.valid.holds(instant)]

    # Properties that report policies use (algebra.reports.ReportingWindow)

    def closing_instants(self, first: int, last: int) -> Iterable[int]:
        if not self._has_late:
            return self.window.window.closing_instants(self._times, first, last)
        moments = {*self._times, *(occurrence.valid.start for occurrence in self._all)}
        found = {instant for instant in moments if first <= instant <= last and self._closes_at(instant)}
        fixed = self.window.window.closing_instants([], first, last)
        return sorted(found | set(fixed))

    def _closes_at(self, instant: int) -> bool:
        """Whether the window closes at the instant, judged by the elements that had arrived in time."""
        times = [element.time for element, known_from in self._known_at(instant) if known_from is None]
        return instant in self.window.window.closing_instants(times, instant, instant)

    @cached_property
    def _times(self) -> list[int]:
        return [element.time for element, _ in self._ordered]

    def is_empty(self, instant: int) -> bool:
        return not self.content(instant)

    def has_changed(self, instant: int) -> bool:
        before = Counter(occurrence.triple for occurrence in self.content(instant - 1))
        return before != Counter(occurrence.triple for occurrence in self.content(instant))

    def changes(self) -> Iterable[int]:
        bounds = {bound for occurrence in self._all for bound in occurrence.valid if bound is not None}
        return sorted(bounds | {known_from for _, known_from in self._ordered if known_from is not None})

    @cached_property
    def _all(self) -> list[Occurrence]:
        """Intervals with the late elements and without them: where contents can change."""
        in_time = [(element, None) for element, known_from in self._ordered if known_from is None]
        return [*self.occurrences, *self._occurrences(in_time)] if self._has_late else self.occurrences

    def arrivals(self) -> set[int]:
        """The instants at which elements enter: the start of their intervals. Late elements never enter."""
        in_time = [(element, None) for element, known_from in self._ordered if known_from is None]
        return {occurrence.valid.start for occurrence in self._occurrences(in_time)}

    def occupied(self) -> list[tuple[int, int | None]]:
        merged: list[tuple[int, int | None]] = []
        for start, end in sorted((o.valid for o in self._all), key=lambda valid: valid.start):
            if merged and (merged[-1][1] is None or start <= merged[-1][1]):
                reached = merged[-1][1]
                merged[-1] = (merged[-1][0], None if reached is None or end is None else max(reached, end))
            else:
                merged.append((start, end))
        return merged

    def stream_end(self) -> int | None:
        return self.stream_end_at

    def origin(self) -> int:
        return self.window.origin


def counts_matches(window: StreamWindow) -> bool:
    return isinstance(window.window, CountWindow) and window.window.matching
