"""Data that a thread fetches again at an interval; no reader waits for it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Generic, TypeVar

from penstock.rdf.errors import SourceError

Fetched = TypeVar("Fetched")


class Refresher(Generic[Fetched]):
    """Calls `fetch` every `interval` milliseconds, for the first time after one interval.

    `latest` returns the data that has been fetched since its last call. If fetching fails, `failures` returns the
    reason, once.
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
        """Stop fetching, without waiting for a request that is under way."""
        self._is_over.set()

    def latest(self) -> list[Fetched]:
        """A list of one, or an empty one."""
        with self._lock:
            found, self._latest = self._latest, []
        return found

    def failures(self) -> list[str]:
        """The reasons why fetching failed."""
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
