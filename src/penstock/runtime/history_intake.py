"""Complete streams: one batch, which contains them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from penstock.engines.protocol import IntakeBatch, WholeStream

if TYPE_CHECKING:
    from penstock.runtime.run import Run


class HistoryIntake:
    """The streams of a run from their beginning to their end."""

    reads_on_demand = True
    silent: frozenset[str] = frozenset()
    is_stopped = False

    def batches(self, run: Run[Mapping[str, WholeStream]]) -> Iterator[IntakeBatch[Mapping[str, WholeStream]]]:
        rows = {}
        for iri, source in run.streams.items():
            readers = run.readers(iri)
            is_known = all(isinstance(query.settings.origin, int) for query in readers)
            rows[iri] = WholeStream(source, [query.need.query for query in readers] if is_known else None)
        yield IntakeBatch(0, rows)

    def close(self) -> None:
        """Nothing is open."""
