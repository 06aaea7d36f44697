"""Which way queries run: over its whole history at once, or batch by batch."""

from __future__ import annotations

from collections.abc import Mapping

from penstock.engines.protocol import Engine
from penstock.runtime.history import HistoryEngine, HistoryRun
from penstock.runtime.registry import Registry
from penstock.runtime.running import RunSettings
from penstock.sources.batches import Source


def way_of(engine: Engine, sources: Mapping[str, Source], how: RunSettings) -> type[Registry]:
    """Where the engine answers histories, and all streams are, the run is over these."""
    are_histories = all(source.can_resume and not source.is_live for source in sources.values())
    return HistoryRun if are_histories and not how.by_arrival and isinstance(engine, HistoryEngine) else Registry
