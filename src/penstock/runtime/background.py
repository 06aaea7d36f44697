"""Runs in the background: in a thread of this process, or in threads of Spark (micro_batches.py)."""

from __future__ import annotations

import atexit
import threading
from collections.abc import Callable
from typing import Any, Protocol
from weakref import WeakSet

from penstock.runtime.run import Run

OnEnd = Callable[[BaseException, str | None], None]
"""Receives the error that ends a run, and the query whose outlet raised it, if one did."""


class BackgroundRun(Protocol):
    """A run that continues while the program does something else."""

    @property
    def run(self) -> Run[Any]: ...

    @property
    def is_active(self) -> bool:
        """Whether it is running: it has started, and has neither ended nor been stopped."""

    @property
    def failure(self) -> BaseException | None:
        """The error that has ended the run, if one has."""

    def start(self) -> None: ...

    def wait(self, seconds: float | None = None) -> bool:
        """Wait until the run has ended, or until the timeout; returns whether it has ended. Raises the error that ended
        it.
        """

    def stop(self) -> None:
        """End now; with a checkpoint, another run can continue."""


class ThreadedRun:
    """A run that this process drives: in a thread (`start`), or by iterating over its answers.

    `stopped` ends its intake, also while it waits for input. `release` is called once, when the run is over.
    """

    def __init__(
        self, run: Run[Any], stopped: threading.Event, release: Callable[[], None], on_end: OnEnd | None = None
    ) -> None:
        self.run = run
        self.failure: BaseException | None = None
        self._stopped = stopped
        self._release = release
        self._on_end = on_end
        self._thread: threading.Thread | None = None

    @property
    def is_active(self) -> bool:
        return self._thread is not None and self._thread.is_alive() and not self._stopped.is_set()

    def start(self) -> None:
        self._thread = threading.Thread(target=self._drive, name="penstock run", daemon=True)
        _started.add(self)
        self._thread.start()

    def _drive(self) -> None:
        try:
            for _ in self.run.answers():
                if self._stopped.is_set():
                    return
        except BaseException as error:
            if not self._stopped.is_set():  # otherwise the error is how a stopped run ends
                self.failure = error
                if self._on_end is not None:
                    self._on_end(error, self.run.writing)

    def wait(self, seconds: float | None = None) -> bool:
        if self._thread is not None:
            self._thread.join(seconds)
            if self._thread.is_alive():
                return False
        if self.failure is not None:
            raise self.failure
        return True

    def stop(self, seconds: float | None = None) -> None:
        """Wait for the thread until the timeout; without a limit if `seconds` is None."""
        self._stopped.set()
        if self._thread is not None and self._thread is not threading.current_thread():
            self.run.interrupt()
            self._thread.join(seconds)
            if self._thread.is_alive():
                return
        release, self._release = self._release, _nothing
        release()


_SECONDS_AT_EXIT = 2.0

_started: WeakSet[ThreadedRun] = WeakSet()


@atexit.register
def _stop_all() -> None:
    """Stop the threads of runs when the program ends: a thread inside DuckDB would abort it."""
    for run in list(_started):
        run.stop(_SECONDS_AT_EXIT)


def _nothing() -> None:
    """It has been released."""
