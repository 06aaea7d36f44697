"""How far a run is: one line on standard error that is written over and over, for a terminal only."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable

from rich.console import Console
from rich.control import Control
from rich.segment import ControlType
from rich.text import Text

from penstock.rdf.instants import instant_text
from penstock.rdf.plurals import counted
from penstock.sinks.counts import Counts

_SECONDS_BETWEEN = 0.1
_SECONDS_OF_RATE = 3.0
_ERASE = Control(ControlType.CARRIAGE_RETURN, (ControlType.ERASE_IN_LINE, 2))


class Progress:
    """The line. If standard error is not a terminal, nothing is written.

    What goes to the same terminal by another way, results for example, must `hide` the line first.

    >>> progress = Progress()
    >>> progress.update(Counts(elements=1000, watermark=8000))
    >>> progress.close()
    """

    def __init__(self, console: Console | None = None, *, now: Callable[[], float] = time.monotonic) -> None:
        self._console = console or Console(stderr=True, highlight=False)
        self._now = now
        self._counts = Counts()
        self._shown_at: float | None = None
        self._is_visible = False
        self._began = now()
        self._seen: deque[tuple[float, int]] = deque([(self._began, 0)])

    def update(self, counts: Counts) -> None:
        """Show the counts, unless the line was shown a moment ago."""
        self._counts = counts
        if not self._console.is_terminal:
            return
        now = self._now()
        if self._shown_at is None or now - self._shown_at >= _SECONDS_BETWEEN:
            self._shown_at = now
            self._show(self._rate(now))

    def hide(self) -> None:
        """Take the line away, until the next update."""
        if self._is_visible:
            self._console.control(_ERASE)
            self._is_visible = False

    def close(self) -> None:
        """Leave the last counts behind, with the elements per second of the whole run."""
        if self._console.is_terminal and self._counts != Counts():
            self._show(self._counts.elements / max(self._now() - self._began, _SECONDS_BETWEEN))
            self._console.print()
            self._is_visible = False

    def _show(self, rate: float) -> None:
        self.hide()
        self._console.print(self._line(rate), end="", no_wrap=True, overflow="ellipsis", crop=True)
        self._is_visible = True

    def _rate(self, now: float) -> float:
        """Elements per second, over the last seconds."""
        self._seen.append((now, self._counts.elements))
        while len(self._seen) > 2 and now - self._seen[1][0] >= _SECONDS_OF_RATE:
            self._seen.popleft()
        since, before = self._seen[0]
        return (self._counts.elements - before) / max(now - since, _SECONDS_BETWEEN)

    def _line(self, rate: float) -> Text:
        counts = self._counts
        watermark = "none yet" if counts.watermark is None else instant_text(counts.watermark)
        parts = [
            (counted(counts.elements, "element"), "bold"),
            (f"{rate:,.0f}/s", "cyan"),
            (f"watermark {watermark}", ""),
            (counted(counts.evaluations, "evaluation"), ""),
            (counted(counts.rows, "row"), ""),
        ]
        if counts.late:
            parts.append((f"{counts.late:,} late", "yellow"))
        if counts.malformed:
            parts.append((f"{counts.malformed:,} malformed", "red"))
        first, *others = parts
        return Text.assemble(first, *(piece for part in others for piece in ((" · ", "dim"), part)))
