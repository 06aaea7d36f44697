"""Waiting for brokers that are away: with growing pauses, a message when it begins, and one when it is over."""

from __future__ import annotations

import logging
import threading
import time
from dataclasses import dataclass, field

from penstock.rdf.errors import SourceError
from penstock.rdf.plurals import counted

LOG = logging.getLogger("penstock")

_FIRST_PAUSE, _LONGEST_PAUSE = 0.2, 30.0


@dataclass(slots=True)
class Waiting:
    """Waits for a broker, for at most `timeout` seconds, None for ever; `stopped` ends a pause."""

    name: str
    timeout: float | None
    stopped: threading.Event
    _since: float | None = field(default=None, init=False)
    _pause: float = field(default=_FIRST_PAUSE, init=False)

    def pause(self, reason: str, least: float = 0.0) -> None:
        """The next pause, of at least so many seconds. Raises SourceError if the broker has been away for too long."""
        now = time.monotonic()
        if self._since is None:
            self._since = now
            LOG.warning(f"{self.name} does not answer ({reason}); waiting for it")
        left = _LONGEST_PAUSE if self.timeout is None else self.timeout - (now - self._since)
        if left <= 0:
            raise SourceError(
                f"{self.name} does not answer ({reason}); tried for {self.timeout:g} s (--retry-timeout sets how long)"
            )
        self.stopped.wait(min(max(self._pause, least), left))
        self._pause = min(2 * self._pause, _LONGEST_PAUSE)

    def end(self) -> None:
        """The broker answers."""
        self._pause = _FIRST_PAUSE
        if self._since is not None:
            LOG.warning(f"{self.name} answers again, after {counted(round(time.monotonic() - self._since), 'second')}")
            self._since = None
