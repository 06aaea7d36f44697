"""Patterns that match both in a stream and in a static graph: only graph triples that join with other streams are read.

The matching triples of the graph are kept, with an index (kept_tables.py). In a join with a stream, only those that
share a value with it matter, and these are looked up, so that the time does not grow with the graph. A triple that is
both in a window and in the graph is dropped from the window; the join looks it up in the graph.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from penstock.algebra.expressions import Variable
from penstock.algebra.operators import BasicGraphPattern, TriplePattern
from penstock.relational.active_graphs import ActiveGraph
from penstock.relational.instants import always
from penstock.relational.matching import asked_by, terms_of
from penstock.relational.relations import Relation, aliased, col, select_from
from penstock.relational.static_parts import Keep, StaticPart


def scan_by_lookup(
    graph: ActiveGraph, pattern: TriplePattern, columns: Mapping[str, str], streams: Sequence[Relation], keep: Keep
) -> str | None:
    """`scan` for a join with the streams; None if the graph has no matches, or no index."""
    asked = asked_by(pattern)
    places = {term: part for part, term in terms_of(pattern) if isinstance(term, Variable) and part in columns}
    found = [(stream, variable) for stream in streams for variable in places if variable in stream.certain]
    matching = graph.select_static({part: part for part in columns}, asked)
    if not found or matching is None:
        return None
    keys = {variable: places[variable] for _, variable in found}
    table = keep(StaticPart(BasicGraphPattern((pattern,)), matching, keys))
    if table is None or not table.has_index:
        return None
    stream, variable = found[0]
    statement = graph.statement
    values = statement.add(select_from(stream.name, [aliased(stream.column(variable), "value")]).distinct())
    rows = select_from(table.name, [aliased(col(table.name, part), name) for part, name in columns.items()])
    near = rows.join(values, on=col(table.name, places[variable]).eq(col(values, "value")))
    name = statement.add(near.select(*always()), materialized=True)
    return graph.scan_with(columns, asked, select_from(name, [col(name, c) for c in (*columns.values(), "i", "j")]))
