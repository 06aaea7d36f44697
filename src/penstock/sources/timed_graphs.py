"""N-Quads with timestamped graphs by columns: the elements of `graphs_of_document`, without a Python object for each.

A graph may be split into pieces, and its time may follow it. So the file is read twice, block by block: once to find
the graphs that continue beyond the block in which they begin, then to take the complete graphs, in the order of their
first appearance (rdf/formats/timed_graphs.py defines the elements).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
from pyoxigraph import NamedNode

from penstock.rdf.compression import open_bytes
from penstock.rdf.conversion import decode_oxigraph, encode_oxigraph
from penstock.rdf.elements import Malformed, OnMalformed
from penstock.rdf.errors import ReadingError
from penstock.rdf.formats.timed_graphs import ALL_IN_DEFAULT_GRAPH, without_time
from penstock.rdf.timestamps import greatest
from penstock.sources.batches import SCHEMA, Batch, Position
from penstock.sources.blocks import blocks, pieces_of_file
from penstock.sources.counted_positions import CountedPositions
from penstock.sources.quads import QUADS, decode_quads
from penstock.sources.tables import each_triple_once


@dataclass(frozen=True, slots=True)
class NQuadsFile:
    """An `.nq` file. Its position is the number of elements read so far."""

    path: Path
    scope: str
    time_predicate: NamedNode
    most_elements: int
    is_live: bool = field(default=False, init=False)
    can_resume: bool = field(default=True, init=False)

    @property
    def name(self) -> str:
        return str(self.path)

    def batches(self, position: Position | None = None) -> Iterator[Batch]:
        malformed: list[Malformed] = []
        outline = self._outline()
        if outline.has_quads and not outline.has_graphs:
            malformed.append(Malformed(self.name, "", ALL_IN_DEFAULT_GRAPH))
        graphs = _Graphs(self.name, self.time_predicate)
        came = CountedPositions(position)
        for number, quads in enumerate(self._quads(malformed.append)):
            graphs.add(quads)
            if number < outline.last_block:  # graphs that are open after the last block end with the file
                table = graphs.take(outline.open_after(number), malformed.append)
                yield from came.batches(table, malformed, self.most_elements)
        yield from came.batches(graphs.take(None, malformed.append), malformed, self.most_elements)

    def _quads(self, on_malformed: OnMalformed) -> Iterator[pa.Table]:
        line = 1
        for block in blocks(pieces_of_file(lambda: open_bytes(self.path))):
            yield decode_quads(
                block.lines,
                self.time_predicate,
                name=self.name,
                first_line=line,
                scope=self.scope,
                on_malformed=on_malformed,
            )
            line += len(block.lines)
            problem = block.problem(self.name, line)
            if problem is not None:
                on_malformed(problem)
                line += 1

    def _outline(self) -> _Outline:
        mentions = []
        has_quads = False
        has_graphs = False
        number = -1
        for number, quads in enumerate(self._quads(lambda malformed: None)):
            has_quads = has_quads or quads.num_rows > 0
            has_graphs = has_graphs or quads["g"].null_count < quads.num_rows
            is_dated = pc.equal(quads["p"], encode_oxigraph(self.time_predicate))
            mentioned = pc.coalesce(quads["g"], pc.if_else(is_dated, quads["s"], None)).unique().drop_null()
            mentions.append(pa.table({"name": mentioned, "block": pa.repeat(number, len(mentioned))}))
        spans = (
            pa.concat_tables(mentions or [_MENTIONS.empty_table()]).group_by("name").aggregate([("block", "min_max")])
        )
        first, last = (pc.struct_field(spans["block_min_max"], place) for place in (0, 1))
        spans = pa.table({"name": spans["name"], "last": last}).filter(pc.less(first, last))
        return _Outline(has_quads, has_graphs, number, spans)


_MENTIONS = pa.schema([("name", pa.string()), ("block", pa.int64())])


@dataclass(frozen=True, slots=True)
class _Outline:
    """The result of a first pass: the number of blocks, and where graphs end that span several blocks."""

    has_quads: bool
    has_graphs: bool
    last_block: int
    spans: pa.Table

    def open_after(self, block: int) -> pa.ChunkedArray:
        """The graphs that are mentioned in this block or before, or later, and also after it."""
        return self.spans["name"].filter(pc.greater(self.spans["last"], block))


class _Graphs:
    """The quads of graphs that have begun, and the times in the default graph."""

    def __init__(self, name: str, time_predicate: NamedNode) -> None:
        self._name = name
        self._time_predicate = time_predicate
        self._quads = QUADS.empty_table()
        self._dates = QUADS.empty_table()

    def add(self, quads: pa.Table) -> None:
        is_default = quads["g"].is_null()
        is_date = pc.and_(is_default, pc.equal(quads["p"], encode_oxigraph(self._time_predicate)))
        self._dates = pa.concat_tables([self._dates, quads.filter(is_date)])
        self._quads = pa.concat_tables([self._quads, quads.filter(pc.invert(is_default))])

    def take(self, still_open: pa.ChunkedArray | None, on_malformed: OnMalformed) -> pa.Table:
        """The graphs up to the first that is still open, as elements; those without a time are reported."""
        named = self._quads["g"].combine_chunks().dictionary_encode()
        order, names = named.indices.cast(pa.int64()), named.dictionary
        count = len(names)
        if still_open is not None:
            is_open = pc.is_in(names, value_set=still_open)
            count = pc.index(is_open, True).as_py() if is_open.true_count else count
        is_over = pc.less(order, count)
        over = each_triple_once(self._quads.append_column("graph", order).filter(is_over), "graph")
        self._quads = self._quads.filter(pc.invert(is_over))
        return self._dated(over, names.slice(0, count), on_malformed)

    def _dated(self, quads: pa.Table, names: pa.Array, on_malformed: OnMalformed) -> pa.Table:
        of_dates = pc.index_in(self._dates["s"], value_set=names).cast(pa.int64())
        dates = self._dates.append_column("graph", of_dates).filter(of_dates.is_valid())
        self._dates = self._dates.filter(of_dates.is_null())
        has_date = pc.is_in(quads["graph"], value_set=dates["graph"])
        is_time = pc.equal(quads["p"], encode_oxigraph(self._time_predicate))
        own = quads.filter(pc.and_(is_time, pc.invert(has_date)))
        stated = pa.concat_tables([dates.select(["graph", "o", "time"]), own.select(["graph", "o", "time"])])
        latest = stated.group_by("graph").aggregate([("time", "max")])
        time = latest["time_max"].take(pc.index_in(pa.arange(0, len(names)), value_set=latest["graph"]))
        for graph in pc.indices_nonzero(time.is_null()).to_pylist():
            self._report(names[graph].as_py(), graph, quads, stated, on_malformed)
        return _elements(quads, time)

    def _report(self, name: str, graph: int, quads: pa.Table, stated: pa.Table, on_malformed: OnMalformed) -> None:
        dates = stated.filter(pc.equal(stated["graph"], graph))["o"].to_pylist()
        rows = quads.filter(pc.equal(quads["graph"], graph)).select(["s", "p", "o"]).to_pylist()
        triples = [tuple(row.values()) for row in rows]
        on_malformed(graph_without_time(self._name, name, triples, dates, self._time_predicate))


def graph_without_time(
    place: str, graph: str, triples: Iterable[Sequence[str]], dates: Sequence[str], time_predicate: NamedNode
) -> Malformed:
    """The report for a graph without a time, as in `graphs_of_document`; terms are encoded, `dates` are invalid."""
    node = decode_oxigraph(graph)
    terms = [[decode_oxigraph(term) for term in triple] for triple in triples]
    stated = [decode_oxigraph(date) for date in dates]
    stated = stated or [object_ for _, predicate, object_ in terms if predicate == time_predicate]
    try:
        if stated:
            greatest(stated)
        reason = without_time(node, time_predicate)
    except ReadingError as error:
        reason = error.reason
    text = "\n".join(f"{subject} {predicate} {object_} {node} ." for subject, predicate, object_ in terms)
    return Malformed(place, text, reason)


def _elements(quads: pa.Table, time: pa.ChunkedArray) -> pa.Table:
    """The quads of graphs that have a time, renumbered without the others."""
    has_time = time.is_valid()
    number = pc.subtract(pc.cumulative_sum(has_time.cast(pa.int64())), 1)
    rows = quads.filter(has_time.take(quads["graph"]))
    columns = [rows["s"], rows["p"], rows["o"], time.take(rows["graph"]), number.take(rows["graph"])]
    return pa.table(columns, schema=SCHEMA).append_column("g", rows["g"])
