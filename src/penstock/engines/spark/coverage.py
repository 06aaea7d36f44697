"""Which queries over complete streams are answered in tasks, and the reason if Spark SQL answers a query."""

from __future__ import annotations

from collections.abc import Collection

from penstock.algebra.model import ContinuousQuery
from penstock.relational.answers import Delivery
from penstock.relational.retention import oldest_needed
from penstock.relational.tables import Tables, reads
from penstock.relational.windows import FOREVER


def reason_for_sql(query: ContinuousQuery, delivery: Delivery, tables: Tables, complete: Collection[str]) -> str | None:
    """The reason why tasks cannot answer a query; they can have the rows of the streams that are `complete`."""
    if delivery == "once":
        return "each solution is emitted once, over all windows"
    for iri in tables.streams:
        if reads(query.dataset, iri, tables):
            if iri in tables.produced:
                return f"another query produces <{iri}>"
            if iri not in complete:
                return "the executors do not have this version of Penstock"
            oldest = oldest_needed(query, tables, iri, 0)
            if oldest is None:
                return f"a window over <{iri}> counts elements"
            if oldest <= -FOREVER:
                return f"a window over <{iri}> has no end"
    return None
