"""A query over streams that are all there, on an engine that answers all instants at once.

The engine has the streams already. It is asked when they begin and end and what came late; then every instant is
answered in one slice.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from typing import Protocol, runtime_checkable

from penstock.algebra import ContinuousQuery
from penstock.engines.protocol import Engine, Slice
from penstock.rdf.elements import Malformed
from penstock.rdf.results import Evaluation
from penstock.runtime.forms import Answering
from penstock.runtime.registry import Registry
from penstock.runtime.running import TimedQuery
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
    def survey(self, stream: str, source: Source, queries: Sequence[ContinuousQuery] | None, lateness: int) -> Survey:
        """The stream is all that the source has: it is looked at, and then it is there.

        `queries` are those that read it, None where they do not know their windows before they know the stream.
        """

    def malformed(self, stream: str) -> Iterator[Malformed]:
        """What is not part of it."""


class HistoryRun(Registry):
    """Queries over their streams, from their beginning to their end. The engine is a `HistoryEngine`."""

    def evaluations(self) -> Iterator[Evaluation]:
        for query in self.queries:
            query.slicing = Slicing(ALL)
        self._survey()
        with closing(self):
            yield from self._answered(TimedQuery.finish)

    def slice(self, name: str) -> tuple[Answering, Slice] | None:
        """All instants of a query in one slice, and what answers it; None where there are none.

        The queries that give it something, in the run with it, are answered for that.
        """
        self._survey()
        asked = self.query(name)
        for _ in self._answered(lambda query: iter(()) if query is asked else query.finish()):
            pass
        return asked.history()

    def _survey(self) -> None:
        engine = self.engine
        assert isinstance(engine, HistoryEngine)
        for iri, source in self.streams.items():
            readers = self._readers(iri)
            queries = [query.need.query for query in readers]
            is_known = all(isinstance(query.settings.origin, int) for query in readers)
            survey = engine.survey(iri, source, queries if is_known else None, self.how.lateness)
            self._elements[iri] = survey.elements
            for query in readers:
                if survey.greatest is not None:
                    query.note(iri, survey.elements, survey.least, survey.greatest, has_late=survey.has_late)
            if survey.has_odd:
                for malformed in engine.malformed(iri):
                    self._malformed += 1
                    for query in readers:
                        query.counts.malformed += 1
                    self.on_malformed(malformed)
