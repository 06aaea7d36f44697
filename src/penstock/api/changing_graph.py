"""A graph of an engine, to be changed by programs while queries run over it."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from penstock.algebra.inputs import InputError
from penstock.api.settings import instant
from penstock.api.terms import triple_of
from penstock.rdf.blank_nodes import prefixed
from penstock.rdf.errors import ReadingError
from penstock.sources.graph_updates import GraphUpdates, Update


class ChangingGraph:
    """A graph of an engine; `Engine.graph` gives it. Any thread may change it.

    A change holds from the instant `at` (milliseconds, a date, or a text of either) on. Without one it holds from the
    next instant on that has not been evaluated yet, or from the beginning for runs that have not begun. Changes stay
    for runs that begin later.

    >>> import penstock as ps
    >>> graph = ps.Engine().graph([("<http://ex.org/north>", "<http://ex.org/in>", "<http://ex.org/milano>")])
    >>> graph.remove([("<http://ex.org/north>", "<http://ex.org/in>", "<http://ex.org/milano>")], at=5000)
    >>> graph.add([("<http://ex.org/north>", "<http://ex.org/in>", "<http://ex.org/monza>")], at=5000)
    """

    def __init__(self, iri: str | None, updates: GraphUpdates, scope: str) -> None:
        self.iri = iri
        self._updates = updates
        self._rename = prefixed(scope)

    def add(self, triples: Iterable[Any], *, at: int | str | datetime | None = None) -> None:
        """Triples as `Engine.graph` takes them; what is there already stays.

        Raises ValueError where one is none, and where the instant has been evaluated by a run that is going on: what
        has been evaluated never changes.
        """
        self._say(triples, at, added=True)

    def remove(self, triples: Iterable[Any], *, at: int | str | datetime | None = None) -> None:
        """The same for triples that are no longer there; what is not there anyway does no harm.

        They go from what was loaded and added. What an endpoint has that is fetched again (`?refresh=30s`) is there as
        long as the endpoint has it.
        """
        self._say(triples, at, added=False)

    def _say(self, triples: Iterable[Any], at: int | str | datetime | None, *, added: bool) -> None:
        time = None if at is None else instant(at)
        try:
            said = [Update(time, added, triple_of(triple, self._rename)) for triple in triples]
        except ReadingError as error:
            raise InputError(f"a graph cannot have what is no triple: {error.reason}") from None
        self._updates.say(said)

    def __repr__(self) -> str:
        return f"<penstock graph {'(default)' if self.iri is None else self.iri}>"
