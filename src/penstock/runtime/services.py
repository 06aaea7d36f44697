"""SERVICE endpoints of queries: queried before the first evaluation, and again at an interval if one is set.

A new answer is valid from the first instant that no query of the endpoint has evaluated: evaluated instants never
change (semantics.md §2).
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
    """Keeps the answers in a store up to date, for all queries of a run; `on_failure` receives the reason if this
    fails.
    """

    def __init__(self, store: WindowStore[Any], settings: ServiceSettings, on_failure: Callable[[str], None]) -> None:
        self._store = store
        self._settings = settings
        self._on_failure = on_failure
        self._asked: dict[ServiceCall, _Asked] = {}

    def begin(self, query: Hashable, calls: Iterable[ServiceCall]) -> None:
        """A query with these calls starts: load the answers. Raises EndpointError."""
        for call in calls:
            asked = self._asked.get(call)
            if asked is None and call in self._store.services:
                continue  # the store has been created with the answers
            if asked is None or not asked.progress:
                asked = self._asked[call] = self._ask(call)
            asked.progress.begin(query)

    def follow(self, query: Hashable, part: Slice) -> None:
        """The query is about to be evaluated at the instants of a slice."""
        for call, asked in self._asked.items():
            if asked.again is None or query not in asked.progress:
                continue
            first = asked.progress.follow(query, part)
            for failure in asked.again.failures():
                self._on_failure(f"{failure}; its last answer is still used")
            for rows in asked.again.latest():
                if rows != asked.answers[-1].rows:
                    asked.answers = _renewed(asked.answers, rows, first, asked.progress.needed)
                    self._store.load_answers(call, asked.answers)

    def leave(self, query: Hashable) -> None:
        """The query has left the run; endpoints that no other query needs are no longer queried."""
        for asked in self._asked.values():
            asked.progress.leave(query)
            if not asked.progress:
                asked.close()

    def close(self) -> None:
        """No query needs answers any more."""
        for asked in self._asked.values():
            asked.close()

    def _ask(self, call: ServiceCall) -> _Asked:
        asked = _Asked([ServiceAnswer(ask(call, self._settings))])
        self._store.load_answers(call, asked.answers)
        if self._settings.refresh is not None:
            # Also for SERVICE SILENT: if it fails, the previous answer is better than none.
            fetch = partial(ask, replace(call, is_silent=False), self._settings)
            asked.again = Refresher(fetch, self._settings.refresh)
            asked.again.start()
        return asked


@dataclass(slots=True)
class _Asked:
    """The answers of an endpoint, and the progress of the queries that need them."""

    answers: list[ServiceAnswer]
    again: Refresher[tuple[Row, ...]] | None = None
    progress: Frontier = field(default_factory=Frontier)

    def close(self) -> None:
        if self.again is not None:
            self.again.close()


def _renewed(answers: list[ServiceAnswer], rows: tuple[Row, ...], first: int, needed: int) -> list[ServiceAnswer]:
    """The answers and a new one, valid from `first` on; answers that no query needs any more are dropped."""
    *before, last = answers
    ended = [*before, last._replace(valid=Interval(last.valid.start, first))]
    kept = [old for old in ended if old.valid.end is not None and old.valid.end > max(old.valid.start, needed)]
    return [*kept, ServiceAnswer(rows, Interval(first, ALWAYS.end))]
