"""Services that a query asks: before it is answered, and again where that is wanted.

An answer that comes while the query runs holds from the first instant that has not been evaluated yet: what has been
evaluated never changes (semantics.md §2).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from functools import partial

from penstock.algebra.inputs import ALWAYS
from penstock.algebra.model import ContinuousQuery
from penstock.algebra.services import ServiceAnswer, ServiceCall, service_calls
from penstock.algebra.windows import Interval
from penstock.engines.protocol import Engine
from penstock.rdf.elements import Row
from penstock.sources.repeating import Repeating
from penstock.sources.services import ServiceSettings, ask


class Services:
    """The answers that an engine has, kept up to date; `on_failure` is told why one is not."""

    def __init__(self, engine: Engine, settings: ServiceSettings, on_failure: Callable[[str], None]) -> None:
        self._engine = engine
        self._settings = settings
        self._on_failure = on_failure
        self._asked: Collection[ServiceCall] = ()
        self._answers: dict[ServiceCall, list[ServiceAnswer]] = {}
        self._asking: dict[ServiceCall, Repeating[tuple[Row, ...]]] = {}

    def begin(self, query: ContinuousQuery) -> None:
        """Ask all that the engine does not know yet. Raises EndpointError."""
        self._asked = service_calls(query.text)
        for call in self._asked:
            if call in self._engine.services:
                continue
            self._answers[call] = [ServiceAnswer(ask(call, self._settings.timeout))]
            self._engine.load_answers(call, self._answers[call])
            if self._settings.refresh is not None:
                # Even a silent one: where it fails, what it answered before is better than nothing.
                fetch = partial(ask, replace(call, is_silent=False), self._settings.timeout)
                self._asking[call] = Repeating(fetch, self._settings.refresh)
                self._asking[call].start()

    def renew(self, first: int, previous: int | None) -> None:
        """Instants from the first on are to be answered; the one that was answered before may be compared with."""
        for call, asking in self._asking.items():
            for failure in asking.failures():
                self._on_failure(f"{failure}; what it answered before goes on to hold")
            for rows in asking.latest():
                before = self._answers[call]
                if rows == before[-1].rows:
                    continue
                ended = before[-1]._replace(valid=Interval(before[-1].valid.start, first))
                needed = first - 1 if previous is None else previous
                kept = [old for old in (*before[:-1], ended) if old.valid.end is None or old.valid.end > needed]
                self._answers[call] = [*kept, ServiceAnswer(rows, Interval(first, ALWAYS.end))]
                self._engine.load_answers(call, self._answers[call])

    def leave(self, others: Sequence[Services]) -> None:
        """The query asks no more: what others ask, too, one of them keeps up to date from now on."""
        for call, asking in self._asking.items():
            heir = next((other for other in others if call in other._asked), None)
            if heir is None:
                asking.close()
            else:
                heir._asking[call], heir._answers[call] = asking, self._answers[call]
        self._asking = {}

    def close(self) -> None:
        """Nobody asks any more."""
        for asking in self._asking.values():
            asking.close()
