"""Input that does not count: logged by every run, and written to the file of dead letters if there is one."""

from __future__ import annotations

from contextlib import ExitStack, closing
from pathlib import Path

from penstock.api.dead_letters import DeadLetters, MalformedError
from penstock.rdf.elements import Malformed
from penstock.rdf.mistaken_formats import FormatAdvice
from penstock.rdf.plurals import are, counted
from penstock.runtime.log import LOG
from penstock.runtime.running import Late
from penstock.sinks.counts import Counts

_MOST_WARNINGS = 3


class Outsiders:
    """What does not count for a query in one run; a strict one does not bear what is malformed."""

    def __init__(self, is_strict: bool) -> None:
        self.letters: DeadLetters | None = None
        self._is_strict = is_strict
        self._advised = FormatAdvice()
        self._warned = 0
        self._is_summed_up = False

    def open(self, file: str | Path | None, opened: ExitStack) -> None:
        """Have dead letters written to a file, if there is to be one, as long as the stack is open."""
        if file is not None and self.letters is None:
            self.letters = opened.enter_context(closing(DeadLetters(file)))

    def late(self, late: Late) -> None:
        if self.letters is not None:
            self.letters.late(late)

    def malformed(self, malformed: Malformed) -> None:
        malformed = self._advised(malformed)
        if self.letters is not None:
            self.letters.malformed(malformed)
        if self._is_strict:
            raise MalformedError(malformed)
        if self._warned < _MOST_WARNINGS:
            self._warned += 1
            LOG.warning(f"{malformed.place}: left out: {malformed.reason}")

    def sum_up(self, counts: Counts) -> None:
        """At the end of the run, once."""
        if self._is_summed_up:
            return
        self._is_summed_up = True
        more = counts.malformed - self._warned
        if more > 0 and not self._is_strict:
            LOG.warning(f"{counted(more, 'more element')} {are(more)} left out")
        if counts.late:
            elements = counted(counts.late, "element")
            LOG.warning(f"{elements} came too late to count anywhere; lateness= allows for disorder")
