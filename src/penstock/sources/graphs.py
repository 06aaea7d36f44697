"""Graphs by columns: what an engine loads are tables of encoded terms (rdf/encoding.py), some thousand triples each."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Protocol

import pyarrow as pa
import pyarrow.compute as pc
from pyoxigraph import Triple

from penstock.algebra.inputs import ALWAYS, GraphTriple
from penstock.algebra.windows import Interval
from penstock.rdf.conversion import decode_oxigraph
from penstock.relational.windows import FOREVER
from penstock.sources.tables import all_valid, encoded_triples

TRIPLES = pa.schema([(name, pa.string()) for name in ("s", "p", "o")])
CHANGING = pa.schema([*TRIPLES, ("starts", pa.int64()), ("ends", pa.int64())])
"""For a graph that changes: also when the validity of each triple starts and ends; `FOREVER` if it never ends."""

MOST_TRIPLES = 100_000
"""The number of triples in a table, if they are read one by one."""


class Graph(Protocol):
    """A graph to be loaded. A file is not read before its tables are requested.

    The tables have the schema `TRIPLES`, or `CHANGING` if it changes. Their order does not matter, and a triple may
    occur several times.
    """

    @property
    def name(self) -> str:
        """Its name in messages."""

    @property
    def changes(self) -> bool: ...

    def tables(self) -> Iterator[pa.Table]:
        """Raises `SourceError` for anything that is not a triple: a part of a graph would lead to wrong answers."""


@dataclass(frozen=True, slots=True)
class TableGraph:
    """A graph in memory."""

    name: str
    table: pa.Table

    @property
    def changes(self) -> bool:
        return bool(self.table.schema.names == CHANGING.names)

    def tables(self) -> Iterator[pa.Table]:
        yield self.table


@dataclass(frozen=True, slots=True)
class MergedGraph:
    """Several graphs as one."""

    parts: Sequence[Graph]

    @property
    def name(self) -> str:
        return " + ".join(part.name for part in self.parts)

    @property
    def changes(self) -> bool:
        return any(part.changes for part in self.parts)

    def tables(self) -> Iterator[pa.Table]:
        for part in self.parts:
            for table in part.tables():
                yield table if part.changes or not self.changes else _lasting(table)


def merged(parts: Sequence[Graph]) -> Graph:
    """Of no parts an empty graph."""
    if not parts:
        return TableGraph("nothing", TRIPLES.empty_table())
    return parts[0] if len(parts) == 1 else MergedGraph(tuple(parts))


def graph_of_triples(triples: Sequence[GraphTriple], name: str = "graph", *, changes: bool = False) -> TableGraph:
    """Triples in memory; the graph also `changes` if one of them is not always valid."""
    if not changes and all(valid == ALWAYS for _, valid in triples):
        return TableGraph(name, encoded_triples([triple for triple, _ in triples]))
    return TableGraph(name, changing_triples(triples))


def changing_triples(triples: Sequence[GraphTriple]) -> pa.Table:
    """A table with the schema `CHANGING`."""
    return with_validity(encoded_triples([triple for triple, _ in triples]), [valid for _, valid in triples])


def with_validity(table: pa.Table, valid: Sequence[Interval]) -> pa.Table:
    """A table with the interval in which each row is valid, as `starts` and `ends`."""
    starts = pa.array([each.start for each in valid], pa.int64())
    ends = pa.array([FOREVER if each.end is None else each.end for each in valid], pa.int64())
    columns = dict(zip(table.column_names, table.columns, strict=True))
    return pa.table({**columns, "starts": starts, "ends": ends})  # also of a table without columns


def graph_triple(subject: str, predicate: str, object_: str, starts: int, ends: int) -> GraphTriple:
    """A row of a table with the schema `CHANGING`."""
    triple = Triple(*map(decode_oxigraph, (subject, predicate, object_)))  # type: ignore[arg-type]
    return GraphTriple(triple, Interval(starts, None if ends == FOREVER else ends))


def triples_of(graph: Graph) -> Iterator[GraphTriple]:
    """The triples one by one, each as often as it occurs."""
    for table in graph.tables():
        changing = table if graph.changes else _lasting(table)
        for row in changing.select(CHANGING.names).to_pylist():
            yield graph_triple(*row.values())


def tables_of(triples: Iterable[Triple]) -> Iterator[pa.Table]:
    """Tables of triples that are read one by one."""
    triples = iter(triples)
    while some := list(islice(triples, MOST_TRIPLES)):
        yield encoded_triples(some)


def with_odd(columns: Sequence[pa.Array], read: Callable[[list[int]], Sequence[Triple]]) -> pa.Table:
    """The triples of three columns. A term that is not ordinary is NULL: `read` reads these rows, by their places."""
    table = pa.table(list(columns), names=TRIPLES.names).cast(TRIPLES)
    is_ordinary = all_valid(columns)
    if is_ordinary.true_count == len(is_ordinary):
        return table
    odd = pc.indices_nonzero(pc.invert(is_ordinary)).to_pylist()
    return pa.concat_tables([table.filter(is_ordinary), encoded_triples(read(odd))])


def _lasting(table: pa.Table) -> pa.Table:
    """The triples of a static graph as those of one that changes."""
    starts, ends = (pa.repeat(pa.scalar(time, pa.int64()), table.num_rows) for time in (ALWAYS.start, FOREVER))
    columns = dict(zip(table.column_names, table.columns, strict=True))
    return pa.table({**columns, "starts": starts, "ends": ends})  # also of a table without columns
