"""Remote graphs that are fetched again at an interval, as long as a run reads them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection
from functools import partial

from pyoxigraph import Triple

from penstock.rdf.credentials import ServiceAuth
from penstock.rdf.remote_graphs import is_remote, parse_remote
from penstock.sources.refresher import Refresher

_Triples = Collection[Triple]


def mirror_of(source: str, scope: str, auth: ServiceAuth | None = None) -> Mirror | None:
    """The mirror of a graph at an endpoint; None for another source, and for a graph that is fetched once."""
    if not is_remote(source):
        return None
    remote = parse_remote(source, auth)
    return None if remote.refresh is None else Mirror(partial(remote.triples, scope), remote.refresh)


class Mirror:
    """A copy of a remote graph. `fetch` returns its triples; it is called every `interval` milliseconds."""

    def __init__(self, fetch: Callable[[], _Triples], interval: int) -> None:
        self._fetch = fetch
        self._interval = interval
        self._lock = threading.Lock()
        self._readers = 0
        self._repeating: Refresher[_Triples] | None = None
        self._triples: frozenset[Triple] = frozenset()

    def begin(self) -> None:
        """A reader starts; the first one waits for the triples. Raises what `fetch` raises."""
        with self._lock:
            if self._repeating is None:
                self._triples = frozenset(self._fetch())
                self._repeating = Refresher(self._fetch, self._interval)
                self._repeating.start()
            self._readers += 1

    def end(self) -> None:
        with self._lock:
            self._readers -= 1
            if not self._readers and self._repeating is not None:
                self._repeating.close()
                self._repeating = None

    def triples(self) -> frozenset[Triple]:
        """The triples that were fetched last."""
        with self._lock:
            for fetched in [] if self._repeating is None else self._repeating.latest():
                self._triples = frozenset(fetched)
            return self._triples

    def failures(self) -> list[str]:
        """The reasons why fetching failed."""
        with self._lock:
            return [] if self._repeating is None else self._repeating.failures()
