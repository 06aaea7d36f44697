"""A query answered in the executors' Python: each task answers a slice of the instants, with DuckDB.

A task reads the ranges of the input that its slice needs. Graphs are shipped once to an executor. A Python worker keeps
its store, with the graphs and the compiled query, for the next task of the same query.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark import Broadcast

from penstock.algebra.model import ContinuousQuery
from penstock.algebra.operators import Operator
from penstock.engines.arrivals import stamped
from penstock.engines.duckdb.statements import DuckDBQuery
from penstock.engines.duckdb.store import DuckDBStore
from penstock.engines.protocol import Reached, Slice
from penstock.relational.answers import Delivery
from penstock.sources.graphs import CHANGING, TRIPLES, Graph, TableGraph
from penstock.sources.spark.ranges import Range

ShippedGraphs = Mapping[str | None, bytes]
"""Tables of triples in the IPC format of Arrow, by the names of the graphs."""


@dataclass(frozen=True, slots=True)
class StreamReader:
    """The description of a stream for a store."""

    iri: str
    is_produced: bool
    is_named: bool


@dataclass(frozen=True, slots=True)
class RangeTask:
    """The shared input of all tasks of a query. `key` is unique to the query."""

    key: str
    query: ContinuousQuery
    expression: Operator
    delivery: Delivery
    is_optimized: bool
    variables: tuple[str, ...]
    streams: Sequence[StreamReader]
    graphs: Broadcast[ShippedGraphs]
    lateness: int
    limits: Mapping[str, int | str]
    """Settings of DuckDB."""


@dataclass(frozen=True, slots=True)
class TaskSlice:
    """Instants, the number of the first of them, and the ranges of each stream that they need.

    With each range is the greatest timestamp before it. The instants need no element of a stream before `oldest`.
    """

    first_number: int
    part: Slice
    ranges: Mapping[str, Sequence[tuple[Range, int | None]]]
    oldest: Mapping[str, int]


NOTHING: Mapping[str, pa.Table] = MappingProxyType({})

Given = Mapping[str, pa.Table]
"""The rows that a slice needs of streams that are not in ranges, in order, with `element`, `arrival` and `since`."""

Answer = Callable[[TaskSlice, RangeTask, Given], Iterator[pa.RecordBatch]]


def answer_intervals(slice_: TaskSlice, task: RangeTask, given: Given = NOTHING) -> Iterator[pa.RecordBatch]:
    """The solutions in order: the variables, then i and j (they hold at instants number i to j − 1)."""
    found = _answer(slice_, task, given)
    if found is not None:
        rows, starts, ends = found
        first = slice_.first_number
        rows = rows.append_column("i", pa.array(starts + first)).append_column("j", pa.array(ends + first))
        yield from rows.to_batches()


def answer_instants(slice_: TaskSlice, task: RangeTask, given: Given = NOTHING) -> Iterator[pa.RecordBatch]:
    """The solutions: the variables, and the instant `t`. A solution that holds at several instants is repeated for
    each.
    """
    found = _answer(slice_, task, given)
    if found is not None:
        rows, starts, ends = found
        lengths = ends - starts
        places = np.repeat(np.arange(len(lengths)), lengths)
        numbers = np.arange(len(places)) + np.repeat(starts - np.cumsum(lengths) + lengths, lengths)
        instants = np.asarray(slice_.part.instants, np.int64)[numbers]
        yield from rows.take(pa.array(places)).append_column("t", pa.array(instants)).to_batches()


def _answer(slice_: TaskSlice, task: RangeTask, given: Given) -> tuple[pa.Table, Any, Any] | None:
    """The rows of the solutions, and the first and last instant of the slice at which each holds."""
    store, compiled = _STORES.of(task)
    try:
        for stream in slice_.ranges:
            _load(store, stream, slice_, task.lateness)
        for stream, rows in given.items():
            store.keep(stream, rows, 0)
        found = compiled.table(slice_.part)
        known = () if found is None else compiled.variables
    finally:
        store.empty_streams()
    if found is None:
        return None
    table, before = found
    columns = dict(zip(known, table.columns, strict=False))
    missing = pa.nulls(table.num_rows, pa.string())
    rows = pa.table([columns.get(name, missing) for name in task.variables], names=_names(task.variables))
    if not task.variables:
        rows = pa.table({"none": missing})
    starts, ends = (_within(column, before, len(slice_.part.instants)) for column in table.columns[-2:])
    return rows, starts, ends


def _load(store: DuckDBStore, stream: str, slice_: TaskSlice, lateness: int) -> None:
    """Rows that no instant of the slice can see are dropped, once the late ones among the others are known."""
    oldest, last = slice_.oldest[stream], slice_.part.instants[-1]
    for part, before in slice_.ranges[stream]:
        reached = Reached(before)
        for table in part.tables():
            if table.num_rows:
                rows, seen = stamped(table, reached, lateness)
                reached = Reached(max(time for time in (reached.greatest, seen.greatest) if time is not None))
                rows = rows.filter(pc.and_(pc.greater_equal(rows["ts"], oldest), pc.less_equal(rows["ts"], last)))
                if rows.num_rows:
                    store.append_stamped(stream, rows, seen)


def _within(numbers: pa.ChunkedArray, before: int, count: int) -> Any:
    return np.clip(numbers.to_numpy().astype(np.int64) - before, 0, count)


class _Stores:
    """The store of a worker process, with its graphs, and the query that it answers."""

    def __init__(self) -> None:
        self._key = ""
        self._known: tuple[DuckDBStore, DuckDBQuery] | None = None

    def of(self, task: RangeTask) -> tuple[DuckDBStore, DuckDBQuery]:
        if self._known is None or self._key != task.key:
            if self._known is not None:
                self._known[0].close()
            self._known, self._key = _opened(task), task.key
        return self._known


_STORES = _Stores()


def _opened(task: RangeTask) -> tuple[DuckDBStore, DuckDBQuery]:
    store = DuckDBStore(limits=task.limits)
    for name, shipped in task.graphs.value.items():
        store.load_graph(name, TableGraph(str(name), pa.ipc.open_stream(shipped).read_all()))
    for stream in task.streams:
        store.add_stream(stream.iri, is_produced=stream.is_produced, is_named=stream.is_named)
    compiled = store.compile(task.query, task.expression, task.delivery, is_optimized=task.is_optimized)
    return store, compiled


def shipped_graph(graph: Graph) -> bytes:
    schema = CHANGING if graph.changes else TRIPLES
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, schema) as writer:
        for table in graph.tables():
            writer.write_table(table)
    return bytes(sink.getvalue())


def _names(variables: Sequence[str]) -> list[str]:
    """Names of columns: variables may differ only in upper and lower case."""
    return [f"v{place}" for place in range(len(variables))]


def schema_of(variables: Sequence[str]) -> str:
    """The columns of the variables, as Spark writes a schema."""
    return ", ".join(f"{name} string" for name in (_names(variables) or ["none"]))
