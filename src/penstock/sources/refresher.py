"""What is fetched again every so often, by a thread of its own: nobody waits for it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Generic, TypeVar

from penstock.rdf.errors import SourceError

Fetched = TypeVar("Fetched")


class Refresher(Generic[Fetched]):
    """Calls `fetch` every `interval` milliseconds, from so long after the start on.

    `latest` gives what has come since it was last asked. Where fetching fails, there is nothing new, and why it failed
    is told by `failure`, once for the same reason.
    """

    def __init__(self, fetch: Callable[[], Fetched], interval: int) -> None:
        self._fetch = fetch
        self._seconds = interval / 1000
        self._lock = threading.Lock()
        self._is_over = threading.Event()
        self._latest: list[Fetched] = []
        self._failures: list[str] = []
        self._told: str | None = None
        self._thread = threading.Thread(target=self._repeat, name="fetching again", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def close(self) -> None:
        """Nothing is fetched any more; what is on its way is not waited for."""
        self._is_over.set()

    def latest(self) -> list[Fetched]:
        """One thing, or none."""
        with self._lock:
            found, self._latest = self._latest, []
        return found

    def failures(self) -> list[str]:
        """Why there is nothing new."""
        with self._lock:
            found, self._failures = self._failures, []
        return found

    def _repeat(self) -> None:
        while not self._is_over.wait(self._seconds):
            try:
                fetched = self._fetch()
            except SourceError as error:
                with self._lock:
                    if str(error) != self._told:
                        self._failures.append(str(error))
                    self._told = str(error)
            else:
                with self._lock:
                    self._latest, self._told = [fetched], None
