"""How far the queries of a run are: what has been evaluated never changes (semantics.md §2)."""

from __future__ import annotations

from collections.abc import Hashable

from penstock.algebra.inputs import ALWAYS
from penstock.engines.protocol import Slice


class Frontier:
    """How far those queries are that see the same thing change: what is new begins to hold where none has been yet."""

    def __init__(self) -> None:
        self.evaluated = ALWAYS.start
        """No query has got further."""
        self._needed: dict[Hashable, int] = {}
        """The instant from which on each query still asks."""

    def __contains__(self, query: Hashable) -> bool:
        return query in self._needed

    def __bool__(self) -> bool:
        """Whether any query asks."""
        return bool(self._needed)

    @property
    def needed(self) -> int:
        """Before this instant no query asks any more."""
        return min(self._needed.values())

    def begin(self, query: Hashable) -> None:
        """The query has evaluated nothing."""
        self._needed[query] = ALWAYS.start

    def follow(self, query: Hashable, part: Slice) -> int:
        """The query is going to be answered at the instants of a slice; from when on something new may hold."""
        first, last = part.instants[0], part.instants[-1]
        self._needed[query] = first - 1 if part.previous is None else part.previous
        next_instant = max(first, self.evaluated + 1)
        self.evaluated = max(self.evaluated, last)
        return next_instant

    def leave(self, query: Hashable) -> None:
        """The query asks no more."""
        self._needed.pop(query, None)
