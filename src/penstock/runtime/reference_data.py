"""The data that is not streamed: graphs, and the answers of SERVICE endpoints."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import Any

from penstock.algebra.services import ServiceCall
from penstock.engines.protocol import Slice, WindowStore
from penstock.runtime.changing_graphs import ChangingGraphs, Updates
from penstock.runtime.log import LOG
from penstock.runtime.services import Services
from penstock.sources.services import ServiceSettings


class ReferenceData:
    """Keeps the reference data of all queries of a run up to date; `on_failure` receives the reason if this fails."""

    def __init__(
        self,
        store: WindowStore[Any],
        settings: ServiceSettings,
        updates: Updates | None = None,
        on_failure: Callable[[str], None] = LOG.warning,
    ) -> None:
        self._services = Services(store, settings, on_failure)
        self._graphs = ChangingGraphs(store, updates, on_failure)

    def begin(self, query: Hashable, calls: Iterable[ServiceCall]) -> None:
        """A query with these calls starts. Raises SourceError if data cannot be fetched."""
        self._services.begin(query, calls)
        self._graphs.begin(query)

    def follow(self, query: Hashable, part: Slice) -> None:
        """The query is about to be evaluated at the instants of a slice."""
        self._services.follow(query, part)
        self._graphs.follow(query, part)

    def leave(self, query: Hashable) -> None:
        """The query has left the run."""
        self._services.leave(query)
        self._graphs.leave(query)

    def close(self) -> None:
        """All queries have ended."""
        self._services.close()
        self._graphs.close()
