"""Which queries over complete streams are answered by ranges, and the reason if Spark SQL answers a query."""

from __future__ import annotations

from collections.abc import Collection

from penstock.algebra.model import ContinuousQuery
from penstock.relational.answers import Delivery
from penstock.relational.retention import oldest_needed
from penstock.relational.tables import Tables, reads
from penstock.relational.windows import FOREVER


def reason_for_sql(query: ContinuousQuery, delivery: Delivery, tables: Tables, ranges: Collection[str]) -> str | None:
    """The reason why a query over streams read in `ranges`, and perhaps others, cannot be answered by ranges."""
    if delivery == "once":
        return "each solution counts once, over all windows"
    for iri in tables.streams:
        if reads(query.dataset, iri, tables):
            if iri not in ranges:
                return f"<{iri}> is not read from files"
            oldest = oldest_needed(query, tables, iri, 0)
            if oldest is None:
                return f"a window over <{iri}> counts elements"
            if oldest <= -FOREVER:
                return f"a window over <{iri}> has no end"
    return None
