"""Services that queries ask: before they are answered, and again where that is wanted.

An answer that comes while queries run holds from the first instant that none of those that ask has evaluated yet: what
has been evaluated never changes (semantics.md §2).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from penstock.algebra.inputs import ALWAYS
from penstock.algebra.services import ServiceAnswer, ServiceCall
from penstock.algebra.windows import Interval
from penstock.engines.protocol import Slice, WindowStore
from penstock.rdf.elements import Row
from penstock.runtime.frontiers import Frontier
from penstock.sources.refresher import Refresher
from penstock.sources.services import ServiceSettings, ask


class Services:
    """The answers that a store has, kept up to date for all queries of a run; `on_failure` is told why one is not."""

    def __init__(self, store: WindowStore[Any], settings: ServiceSettings, on_failure: Callable[[str], None]) -> None:
        self._store = store
        self._settings = settings
        self._on_failure = on_failure
        self._asked: dict[ServiceCall, _Asked] = {}

    def begin(self, query: Hashable, calls: Iterable[ServiceCall]) -> None:
        """The query asks these, of which the answers are there then. Raises EndpointError."""
        for call in calls:
            asked = self._asked.get(call)
            if asked is None and call in self._store.services:
                continue  # who made the store knew the answers
            if asked is None or not asked.progress:
                asked = self._asked[call] = self._ask(call)
            asked.progress.begin(query)

    def follow(self, query: Hashable, part: Slice) -> None:
        """The query is going to be answered at the instants of a slice."""
        for call, asked in self._asked.items():
            if asked.again is None or query not in asked.progress:
                continue
            first = asked.progress.follow(query, part)
            for failure in asked.again.failures():
                self._on_failure(f"{failure}; what it answered before goes on to hold")
            for rows in asked.again.latest():
                if rows != asked.answers[-1].rows:
                    asked.answers = _renewed(asked.answers, rows, first, asked.progress.needed)
                    self._store.load_answers(call, asked.answers)

    def leave(self, query: Hashable) -> None:
        """The query asks no more; what nobody else asks is not asked again."""
        for asked in self._asked.values():
            asked.progress.leave(query)
            if not asked.progress:
                asked.close()

    def close(self) -> None:
        """Nobody asks any more."""
        for asked in self._asked.values():
            asked.close()

    def _ask(self, call: ServiceCall) -> _Asked:
        asked = _Asked([ServiceAnswer(ask(call, self._settings))])
        self._store.load_answers(call, asked.answers)
        if self._settings.refresh is not None:
            # Even a silent one: where it fails, what it answered before is better than nothing.
            fetch = partial(ask, replace(call, is_silent=False), self._settings)
            asked.again = Refresher(fetch, self._settings.refresh)
            asked.again.start()
        return asked


@dataclass(slots=True)
class _Asked:
    """What a service has answered, and how far the queries are that ask it."""

    answers: list[ServiceAnswer]
    again: Refresher[tuple[Row, ...]] | None = None
    progress: Frontier = field(default_factory=Frontier)

    def close(self) -> None:
        if self.again is not None:
            self.again.close()


def _renewed(answers: list[ServiceAnswer], rows: tuple[Row, ...], first: int, needed: int) -> list[ServiceAnswer]:
    """The answers with one that holds from the first instant on, without those that ended before anybody asks."""
    *before, last = answers
    ended = [*before, last._replace(valid=Interval(last.valid.start, first))]
    kept = [old for old in ended if old.valid.end is not None and old.valid.end > max(old.valid.start, needed)]
    return [*kept, ServiceAnswer(rows, Interval(first, ALWAYS.end))]
