"""The messages of a run on standard error: its progress, dropped input, and why there are no results."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from penstock.api.handle import RunHandle
from penstock.api.run_messages import RunMessages
from penstock.cli.messages import show
from penstock.rdf.elements import Malformed
from penstock.rdf.plurals import are, counted
from penstock.runtime.empty_answers import EmptyAnswer

if TYPE_CHECKING:
    from penstock.sinks.progress import Progress

_SECONDS_BETWEEN = 0.1


class RunReport(RunMessages):
    """The progress line, which a thread keeps up to date, and messages; those that sum up are shown at the end.

    `progress` None shows the line on a terminal, True anywhere, False nowhere. `has_several`: messages name the query.
    """

    def __init__(self, title: str, progress: bool | None = False, *, has_several: bool = False) -> None:
        self._title = title
        self._has_several = has_several
        self._explains_empty = progress is not False
        self._progress = _progress_line(progress)
        self._lock = threading.RLock()
        self._is_over = threading.Event()
        self._thread: threading.Thread | None = None
        self._run: RunHandle | None = None
        self._summaries: list[tuple[str, str]] = []
        self._notes: list[tuple[str, EmptyAnswer]] = []

    def begin(self, run: RunHandle) -> None:
        self._run = run
        if self._progress is not None:
            self._thread = threading.Thread(target=self._keep_up_to_date, name="progress", daemon=True)
            self._thread.start()

    def left_out(self, malformed: Malformed) -> None:
        with self.line_hidden():
            show(malformed.place, "warning", f"skipped: {malformed.reason}", ())

    def more_left_out(self, count: int) -> None:
        self._summaries.append(("penstock", f"{counted(count, 'more element')} {are(count)} skipped"))

    def late(self, query: str, count: int) -> None:
        sentence = f"dropped {counted(count, 'element')} that arrived too late; --lateness waits for late elements"
        self._summaries.append((self._about(query), sentence))

    def empty(self, query: str, reason: EmptyAnswer) -> None:
        if self._explains_empty:
            self._notes.append((self._about(query), reason))

    def warning(self, sentence: str) -> None:
        with self.line_hidden():
            show(self._title, "warning", sentence, ())

    def failed(self, queries: object, error: BaseException, writing: str | None) -> None:
        """The command shows the error."""

    def _about(self, query: str) -> str:
        return query if self._has_several else self._title

    @contextmanager
    def line_hidden(self) -> Iterator[None]:
        """Hides the progress line while something else is written to the terminal."""
        with self._lock:
            if self._progress is not None:
                self._progress.hide()
            yield

    def close(self) -> None:
        """Show the last counts, and sum up."""
        self._is_over.set()
        if self._thread is not None:
            self._thread.join()
        if self._progress is not None:
            self._update()
            self._progress.close()
        for about, sentence in self._summaries:
            show(about, "warning", sentence, ())
        for about, reason in self._notes:
            show(about, "note", reason.sentence, reason.hints)

    def _keep_up_to_date(self) -> None:
        while not self._is_over.wait(_SECONDS_BETWEEN):
            with self._lock:
                self._update()

    def _update(self) -> None:
        if self._progress is not None and self._run is not None:
            self._progress.update(self._run.last_progress.counts)


def _progress_line(progress: bool | None) -> Progress | None:
    if progress is False or not (progress or sys.stderr.isatty()):
        return None
    from rich.console import Console  # slow to load

    from penstock.sinks.progress import Progress

    return Progress(Console(stderr=True, highlight=False, force_terminal=progress))
