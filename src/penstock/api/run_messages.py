"""The messages of a run, besides its results."""

from __future__ import annotations

from collections.abc import Sequence

from penstock.rdf.elements import Malformed
from penstock.rdf.plurals import are, counted
from penstock.runtime.empty_answers import EmptyAnswer
from penstock.runtime.log import LOG


class RunMessages:
    """Receives the messages of a run and logs them (the logger is `penstock`); the command line shows them instead."""

    def left_out(self, malformed: Malformed) -> None:
        """An element is malformed; only the first few are reported one by one."""
        LOG.warning(f"{malformed.place}: skipped: {malformed.reason}")

    def more_left_out(self, count: int) -> None:
        """This many more elements were malformed."""
        LOG.warning(f"{counted(count, 'more element')} {are(count)} skipped")

    def late(self, query: str, count: int) -> None:
        """This many elements arrived too late for a query."""
        LOG.warning(f"dropped {counted(count, 'element')} that arrived too late; lateness= waits for late elements")

    def empty(self, query: str, reason: EmptyAnswer) -> None:
        """A query returned no results."""
        LOG.warning(f"{query}: {reason}")

    def warning(self, sentence: str) -> None:
        """A query is not answered, or its reference data is not up to date."""
        LOG.warning(sentence)

    def failed(self, queries: Sequence[str], error: BaseException, writing: str | None) -> None:
        """An error has ended a run in the background: that of a function that receives results, or another."""
        raised = f"{type(error).__name__}: {error}"
        if writing is None:
            LOG.error(f"{', '.join(queries)}: the run failed with {raised}")
        else:
            LOG.error(f"{writing}: the run failed because the function that receives its results raised {raised}")
