"""What is not streamed: graphs, and what services answer."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable

from penstock.algebra.services import ServiceCall
from penstock.engines.protocol import Engine, Slice
from penstock.runtime.changing_graphs import ChangingGraphs, Updates
from penstock.runtime.log import LOG
from penstock.runtime.services import Services
from penstock.sources.services import ServiceSettings


class Knowledge:
    """What all queries of a run know beside their streams, kept up to date; `on_failure` is told where it is not."""

    def __init__(
        self,
        engine: Engine,
        settings: ServiceSettings,
        updates: Updates | None = None,
        on_failure: Callable[[str], None] = LOG.warning,
    ) -> None:
        self._services = Services(engine, settings, on_failure)
        self._graphs = ChangingGraphs(engine, updates, on_failure)

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
