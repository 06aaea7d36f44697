"""Graphs on Spark: large files are read by Spark, small files and graphs in memory by the driver.

A DataFrame stays where it is, however small.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import reduce
from typing import NamedTuple, TypeGuard, cast

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sf

from penstock.optimizer.sizes import Spread
from penstock.rdf.errors import SourceError
from penstock.rdf.parquet import COLUMNS
from penstock.sources.graph_files import ChangesFile, GraphFile, NTriplesFile
from penstock.sources.graphs import CHANGING, TRIPLES, Graph, MergedGraph, merged
from penstock.sources.spark.frames import FrameGraph
from penstock.sources.spark.ranges import bytes_per_range, cut_lines, is_plain, read_in_executors

_TRIPLES = "s string, p string, o string"

_SMALL = 16 << 20
"""Below this many bytes, the driver reads a file faster."""


class GraphFrame(NamedTuple):
    """Each triple of a graph once, as a table if it is small; whether Spark has persisted it, so that it has to be
    unpersisted; and the distribution of each predicate.
    """

    rows: DataFrame | pa.Table
    is_kept: bool
    spread: Mapping[str, Spread]


def graph_frame(spark: SparkSession, graph: Graph, *, small: int = _SMALL) -> GraphFrame:
    """Raises `SourceError` if a row is not a triple, as the graph itself does."""
    parts = graph.parts if isinstance(graph, MergedGraph) else [graph]
    large = [] if graph.changes else [part for part in parts if _is_large(part, small)]
    if not large:
        table = _in_memory(graph)
        counted = [("s", "count"), ("s", "count_distinct"), ("o", "count_distinct")]
        columns = table.group_by("p").aggregate(counted).select(["p", *("_".join(count) for count in counted)])
        spread = {row[0]: Spread(*row[1:]) for row in zip(*columns.to_pydict().values(), strict=True)}
        return GraphFrame(table, False, spread)
    frames = [_read(spark, part) for part in large]
    rest = [part for part in parts if part not in large]
    if rest:
        frames.append(spark.createDataFrame(_in_memory(merged(rest))))
    kept = reduce(DataFrame.unionAll, frames).distinct().persist()
    is_wrong = " OR ".join(f"{name} IS NULL" for name in COLUMNS)
    figures = ["count(*)", "approx_count_distinct(s)", "approx_count_distinct(o)", f"count_if({is_wrong})"]
    found = kept.groupBy("p").agg(*map(sf.expr, figures)).collect()
    if any(wrong for *_, wrong in found):
        kept.unpersist()
        raise _mistake(large)
    return GraphFrame(kept, True, {predicate: Spread(*spread) for predicate, *spread, _ in found})


def _in_memory(graph: Graph) -> pa.Table:
    schema = CHANGING if graph.changes else TRIPLES
    return pa.concat_tables([schema.empty_table(), *graph.tables()]).group_by(schema.names).aggregate([])


def _is_large(graph: Graph, small: int) -> TypeGuard[GraphFile | FrameGraph]:
    if isinstance(graph, FrameGraph):
        return True
    if not isinstance(graph, GraphFile) or isinstance(graph, ChangesFile):
        return False
    return graph.path.is_file() and graph.path.stat().st_size > small


def _read(spark: SparkSession, file: GraphFile | FrameGraph) -> DataFrame:
    """The triples of a file or a frame; for an invalid one, a row in which a term is NULL."""
    if isinstance(file, FrameGraph):
        return file.frame.select(*COLUMNS)
    parts: list[_Part] = [(file, 0, None)]
    if isinstance(file, NTriplesFile) and is_plain(file.path):
        parts = [(file, *ends) for ends in cut_lines(file.path, bytes_per_range(spark, [file.path]))]
    return read_in_executors(spark, parts, _tables, _TRIPLES)


_Part = tuple[GraphFile, int, int | None]
"""For a file of lines, the bounds of its ranges in bytes."""


def _tables(part: _Part) -> Iterator[pa.RecordBatch]:
    file, start, end = part
    try:
        for table in file.tables() if end is None else cast(NTriplesFile, file).tables_between(start, end):
            yield from table.to_batches()
    except SourceError:
        yield pa.record_batch([pa.nulls(1, kind) for kind in TRIPLES.types], schema=TRIPLES)


def _mistake(files: Sequence[GraphFile | FrameGraph]) -> SourceError:
    """The first error, and its place: found by reading the graph again from the beginning."""
    try:
        for file in files:
            if isinstance(file, FrameGraph):
                file.check()
                continue
            for _ in file.tables():
                pass
    except SourceError as error:
        return error
    return SourceError(f"{merged(files).name}: it contains something that is not a triple")
