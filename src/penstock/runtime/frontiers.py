"""The progress of the queries of a run: evaluated instants never change (semantics.md §2)."""

from __future__ import annotations

from collections.abc import Hashable

from penstock.algebra.inputs import ALWAYS
from penstock.engines.protocol import Slice


class Frontier:
    """The progress of the queries that read the same data: a change is valid from an instant none has evaluated."""

    def __init__(self) -> None:
        self.evaluated = ALWAYS.start
        """The last instant that any query has evaluated."""
        self._needed: dict[Hashable, int] = {}
        """The instant from which each query still reads."""

    def __contains__(self, query: Hashable) -> bool:
        return query in self._needed

    def __bool__(self) -> bool:
        """Whether there is any query."""
        return bool(self._needed)

    @property
    def needed(self) -> int:
        """No query reads data that is only valid before this instant."""
        return min(self._needed.values())

    def begin(self, query: Hashable) -> None:
        """The query starts."""
        self._needed[query] = ALWAYS.start

    def follow(self, query: Hashable, part: Slice) -> int:
        """The query is about to be evaluated at a slice; returns the instant from which a change can be valid."""
        first, last = part.instants[0], part.instants[-1]
        self._needed[query] = first - 1 if part.previous is None else part.previous
        next_instant = max(first, self.evaluated + 1)
        self.evaluated = max(self.evaluated, last)
        return next_instant

    def leave(self, query: Hashable) -> None:
        """The query has left the run."""
        self._needed.pop(query, None)
