"""The pattern matcher: one pass over new rows finds the triple patterns of all queries that match a row.

As in Groppe et al. 2007 (§5.1), patterns are found by hashes of their constants, here column by column and for a batch
at a time: for each combination of positions with constants, it finds the constants that occur. Queries without a match
in a batch need not be evaluated (relational/demand.py).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from weakref import WeakValueDictionary

import pyarrow as pa
import pyarrow.compute as pc

from penstock.engines.protocol import Slice
from penstock.relational.demand import Demand
from penstock.relational.matching import TripleConditions

Places = tuple[str, ...]
"""The positions of a pattern that have constants: some of s, p and o, in this order."""

Values = tuple[str, ...]
"""The constants at these positions, encoded."""


@dataclass(slots=True, weakref_slot=True)
class Watched:
    """A pattern of some query; `latest` is the greatest timestamp of a batch that had a match."""

    latest: int | None = None

    def reach(self, greatest: int) -> None:
        self.latest = greatest if self.latest is None else max(self.latest, greatest)


@dataclass(slots=True)
class _Patterns:
    """The patterns over a stream, as long as a query has them."""

    everything: Watched = field(default_factory=Watched)
    by_places: dict[Places, WeakValueDictionary[Values, Watched]] = field(default_factory=dict)


class PatternMatcher:
    def __init__(self) -> None:
        self._streams: dict[str, _Patterns] = {}

    def _of(self, stream: str) -> _Patterns:
        return self._streams.setdefault(stream, _Patterns())

    def watch(self, stream: str, asked: TripleConditions) -> Watched:
        """Watch a pattern from now on; all earlier rows may match it."""
        known = self._of(stream)
        places: Places = tuple(place for place, _ in asked.constants)
        values: Values = tuple(value for _, value in asked.constants)
        watched = known.by_places.setdefault(places, WeakValueDictionary())
        return watched.setdefault(values, Watched(known.everything.latest))

    def note_anything(self, stream: str, greatest: int) -> None:
        """Rows with unknown constants have arrived, up to this time."""
        known = self._of(stream)
        known.everything.reach(greatest)
        for watched in known.by_places.values():
            for pattern in watched.values():
                pattern.reach(greatest)

    def note_predicates(self, stream: str, predicates: Collection[str], greatest: int) -> None:
        """Triples have arrived, up to this time, with these predicates of patterns."""
        known = self._of(stream)
        known.everything.reach(greatest)
        for places, watched in known.by_places.items():
            for values, pattern in watched.items():
                if "p" not in places or values[places.index("p")] in predicates:
                    pattern.reach(greatest)

    def note(self, stream: str, rows: pa.Table, predicates: Collection[str]) -> None:
        """Rows of a stream have arrived, with these predicates."""
        greatest = pc.max(rows["ts"]).as_py()
        if greatest is None:
            return
        known = self._of(stream)
        known.everything.reach(greatest)
        for places, watched in known.by_places.items():
            for values in _occurring(places, list(watched), rows, predicates):
                pattern = watched.get(values)
                if pattern is not None:
                    pattern.reach(greatest)


class Demanded:
    """The demand of a query, determined again when the layout of the tables changes.

    `compares`: its results also depend on the instant before.
    """

    def __init__(self, layout: Callable[[], Hashable], find: Callable[[], Demand], *, compares: bool) -> None:
        self._layout, self._find = layout, find
        self._known = layout(), find()
        self._compares = compares

    def may_hold_in(self, part: Slice) -> bool:
        """Whether there may be results at instants of a slice."""
        has_previous = self._compares and part.previous is not None
        return self._demand.may_hold(part.previous if has_previous else part.instants[0])

    def may_hold_ever(self) -> bool:
        return self._demand.may_hold(None)

    @property
    def _demand(self) -> Demand:
        layout = self._layout()
        if layout != self._known[0]:
            self._known = layout, self._find()
        return self._known[1]


def _occurring(
    places: Places, wanted: Sequence[Values], rows: pa.Table, predicates: Collection[str]
) -> Iterable[Values]:  # fmt: skip
    """The constants at these positions of the rows, including all that patterns have."""
    if places == ("p",):
        return [(predicate,) for predicate in predicates]
    if "p" in places:
        wanted = [values for values in wanted if values[places.index("p")] in predicates]
    if not wanted:
        return []
    for place, values in zip(places, zip(*wanted, strict=True), strict=True):
        rows = rows.filter(pc.is_in(rows[place], pa.array(set(values), pa.string())))
    if not places:
        return [()] if rows["s"].null_count < rows.num_rows else []
    found = rows.group_by(list(places)).aggregate([])
    return zip(*(found[place].to_pylist() for place in places), strict=True)
