"""A query over streams that are all there, on an engine that answers all instants at once.

The engine has the streams already. It is asked when they begin and end and what came late; then every instant is
answered in one slice.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from typing import Protocol, runtime_checkable

from penstock.algebra import ContinuousQuery
from penstock.engines.protocol import Engine, Slice
from penstock.rdf.elements import Malformed
from penstock.rdf.results import Evaluation
from penstock.runtime.forms import Answering
from penstock.runtime.running import Run
from penstock.runtime.slices import ALL, Slicing
from penstock.sources.batches import Source


class Survey(Protocol):
    """What is known of a stream as a whole."""

    @property
    def elements(self) -> int: ...

    @property
    def least(self) -> int | None:
        """The first timestamp that was in time."""

    @property
    def greatest(self) -> int | None: ...

    @property
    def has_late(self) -> bool: ...

    @property
    def has_odd(self) -> bool:
        """Whether there may be something malformed, which is not part of the stream."""


@runtime_checkable
class HistoryEngine(Engine, Protocol):
    def survey(self, stream: str, source: Source, query: ContinuousQuery | None, lateness: int) -> Survey:
        """The stream is all that the source has: it is looked at, and then it is there."""

    def malformed(self, stream: str) -> Iterator[Malformed]:
        """What is not part of it."""


class HistoryRun(Run):
    """One query over its streams, from their beginning to their end. The engine is a `HistoryEngine`."""

    def evaluations(self) -> Iterator[Evaluation]:
        self.slicing = Slicing(ALL)
        self._survey()
        with closing(self):
            yield from self._finish()

    def slice(self) -> tuple[Answering, Slice] | None:
        """All instants in one slice, and what answers it; None where there are none."""
        self._survey()
        first, end = self.clock.first, self.clock.last
        if first is None or end is None:
            return None
        started = self._started or self._start(first - 1)
        self._drop_uncounted(started.query)
        until = (started.report.last_end(end) if self.how.flush else None) or end
        instants = started.report.instants(first, max(end, until), end)
        if not instants:
            return None
        part = Slice(instants)
        self._renew(part)
        return started.answering, part

    def _survey(self) -> None:
        engine = self.engine
        assert isinstance(engine, HistoryEngine)
        query = None if self._started is None else self._started.query
        for iri, clock in self.clock.streams.items():
            survey = engine.survey(iri, self.streams[iri], query, self.how.lateness)
            clock.least, clock.greatest = survey.least, survey.greatest
            self.counts.elements += survey.elements
            if survey.has_late:
                self._with_late.add(iri)
            if survey.has_odd:
                for malformed in engine.malformed(iri):
                    self.counts.malformed += 1
                    self.on_malformed(malformed)
