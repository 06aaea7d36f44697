"""What a run tells on standard error: how far it is, what it leaves out, what came too late."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Protocol

from rich.console import Console

from penstock.algebra import ContinuousQuery
from penstock.cli.messages import show
from penstock.cli.mistakes import MOST_MALFORMED, show_late, show_left_out, show_more_left_out
from penstock.engines.protocol import Engine
from penstock.rdf.elements import Malformed
from penstock.runtime.empty_answers import EmptyAnswer, empty_answer
from penstock.runtime.running import TimedQuery
from penstock.sinks.counts import Counts
from penstock.sinks.progress import Progress

_SECONDS_BETWEEN = 0.1


class Run(Protocol):
    """Queries at work."""

    @property
    def counts(self) -> Counts: ...
    @property
    def queries(self) -> Sequence[TimedQuery]: ...


class Watch:
    """The line that says how far a run is, kept up to date by a thread of its own, and the warnings between.

    `progress` None shows the line on a terminal, True anywhere, False nowhere.
    """

    def __init__(self, name: str, progress: bool | None) -> None:
        self._name = name
        self._progress = None if progress is False else Progress(_console(is_forced=progress is True))
        self._lock = threading.RLock()
        self._is_over = threading.Event()
        self._ticking: threading.Thread | None = None
        self._run: Run | None = None
        self._left_out = 0
        self._empty: list[tuple[str, EmptyAnswer]] = []

    def begin(self, run: Run) -> None:
        self._run = run
        if self._progress is not None:
            self._ticking = threading.Thread(target=self._tick, name="progress", daemon=True)
            self._ticking.start()

    def left_out(self, malformed: Malformed) -> None:
        self._left_out += 1
        if self._left_out <= MOST_MALFORMED:
            with self.line_hidden():
                show_left_out(malformed)

    def warn(self, sentence: str) -> None:
        with self.line_hidden():
            show(self._name, "warning", sentence, ())

    @contextmanager
    def line_hidden(self) -> Iterator[None]:
        """The time to write something else to the terminal."""
        with self._lock:
            if self._progress is not None:
                self._progress.hide()
            yield

    @contextmanager
    def explaining_empty(self, meanings: Mapping[str, ContinuousQuery], engine: Engine) -> Iterator[None]:
        """Runs what is inside to its end, or to Ctrl-C: why queries have answered nothing is told by `close`."""
        try:
            yield
        except KeyboardInterrupt:
            self._explain_empty(meanings, None)
            raise
        self._explain_empty(meanings, engine)

    def _explain_empty(self, meanings: Mapping[str, ContinuousQuery], engine: Engine | None) -> None:
        if self._progress is None or self._run is None:
            return
        for name, meaning in meanings.items():
            found = empty_answer(self._run.queries, name, meaning, engine)
            if found is not None:
                self._empty.append((self._name if len(meanings) == 1 else name, found))

    def close(self) -> None:
        """Leaves the last counts behind, and sums up what does not count."""
        self._is_over.set()
        if self._ticking is not None:
            self._ticking.join()
        if self._progress is not None:
            self._update()
            self._progress.close()
        show_more_left_out(self._left_out)
        queries = () if self._run is None else self._run.queries
        for query in queries:
            show_late(self._name if len(queries) == 1 else query.name, query.counts.late)
        for name, found in self._empty:
            show(name, "note", found.sentence, found.hints)

    def _tick(self) -> None:
        while not self._is_over.wait(_SECONDS_BETWEEN):
            with self._lock:
                self._update()

    def _update(self) -> None:
        if self._progress is not None and self._run is not None:
            self._progress.update(self._run.counts)


def _console(*, is_forced: bool) -> Console:
    return Console(stderr=True, highlight=False, force_terminal=True if is_forced else None)
