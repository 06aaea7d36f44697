"""The triples of a graph on Spark that change: the driver's record of them, beside the loaded graph."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pyoxigraph import Triple
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sf

from penstock.algebra.inputs import GraphTriple
from penstock.relational.matching import TRIPLE
from penstock.relational.windows import FOREVER
from penstock.sources.graphs import changing_triples, graph_triple
from penstock.sources.tables import encoded_triples

_KEY = list(TRIPLE)


@dataclass(slots=True)
class ChangedTriples:
    """`loaded` are the initial triples of the graph; `view` is the view of those that have changed since."""

    view: str
    loaded: DataFrame
    held: pa.Table = field(default_factory=lambda: changing_triples([]))
    """The validity of the triples that have changed."""
    revised: pa.Table = field(default_factory=lambda: encoded_triples([]))
    """The triples that have changed: their rows in the loaded graph no longer count."""
    predicates: frozenset[str] = frozenset()
    """The predicates of these triples: for other predicates the graph is static. Every statement reads them."""

    def when_held(self, session: SparkSession, triples: Sequence[Triple]) -> list[GraphTriple]:
        asked = encoded_triples(triples)
        known = self.held.join(asked, _KEY, join_type="left semi")
        unknown = session.createDataFrame(asked.join(self.revised, _KEY, join_type="left anti"))
        loaded = self.loaded.join(sf.broadcast(unknown), _KEY, "left_semi").toArrow()
        return [graph_triple(*row) for row in (*_rows(known), *_rows(loaded))]

    def revise(self, triples: Sequence[Triple], held: Sequence[GraphTriple], needed: int) -> None:
        revised = encoded_triples(triples)
        kept = self.held.filter(pc.greater(self.held["ends"], needed)).join(revised, _KEY, join_type="left anti")
        self.held = pa.concat_tables([kept, changing_triples(held)])
        self.revised = pa.concat_tables([self.revised, revised]).group_by(_KEY).aggregate([])
        self.predicates |= set(pc.unique(revised["p"]).to_pylist())

    def frames(self, session: SparkSession) -> tuple[DataFrame, DataFrame]:
        """The unchanged part of the loaded graph, and the triples that have changed."""
        gone = sf.broadcast(session.createDataFrame(self.revised))
        return self.loaded.join(gone, _KEY, "left_anti"), session.createDataFrame(self.held)


def _rows(table: pa.Table) -> Iterator[tuple[Any, ...]]:
    """`(s, p, o, starts, ends)` of triples that are always valid, or in their intervals."""
    for name, time in {"starts": -FOREVER, "ends": FOREVER}.items():
        if name not in table.column_names:
            table = table.append_column(name, pa.repeat(pa.scalar(time, pa.int64()), table.num_rows))
    yield from zip(*(table[name].to_pylist() for name in (*TRIPLE, "starts", "ends")), strict=True)
