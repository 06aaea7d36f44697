"""What is not streamed: graphs, and what services answer."""

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
    """What all queries of a run know beside their streams, kept up to date; `on_failure` is told where it is not."""

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
        """A query that asks these services has evaluated nothing. Raises SourceError where something cannot be had."""
        self._services.begin(query, calls)
        self._graphs.begin(query)

    def follow(self, query: Hashable, part: Slice) -> None:
        """The query is going to be answered at the instants of a slice."""
        self._services.follow(query, part)
        self._graphs.follow(query, part)

    def leave(self, query: Hashable) -> None:
        """The query asks no more."""
        self._services.leave(query)
        self._graphs.leave(query)

    def close(self) -> None:
        """Nobody asks any more."""
        self._services.close()
        self._graphs.close()
