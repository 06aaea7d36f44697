"""N-Quads with timestamped graphs on Spark, in SQL expressions (rdf/formats/timed_graphs.py says what elements are).

The quads of a graph, and what the default graph says of it, come together wherever they stand in the file.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import partial

import pyarrow as pa
from pyoxigraph import NamedNode
from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as sf

from penstock.rdf.blank_nodes import label_prefix
from penstock.rdf.elements import Malformed
from penstock.rdf.formats.timed_graphs import ALL_IN_DEFAULT_GRAPH
from penstock.sources.quads import parsed_line
from penstock.sources.spark import ordinary
from penstock.sources.spark.grammar import NAME, TERM_WITH_SPACES
from penstock.sources.spark.lines import place_of_number
from penstock.sources.spark.patterns import IRI, LITERAL
from penstock.sources.spark.rows import ARROW_MALFORMED, MALFORMED, batch_of
from penstock.sources.spark.terms import bound, object_of, predicate_of, subject_of
from penstock.sources.spark.times import time_of_term
from penstock.sources.timed_graphs import graph_without_time

_LINE = rf"^{IRI} {IRI} (?:{IRI}|{LITERAL}) (?:{IRI} )?+\.\r?+\z"
_ODD_LINE = (
    rf"^[ \t]*+({NAME})[ \t]*+({NAME})[ \t]*+({TERM_WITH_SPACES})[ \t]*+({NAME})?[ \t]*+\.[ \t]*+(?:#.*+|\r*+)\z"
)
_NOTHING = r"^[ \t\r]*+(?:#|\z)"
"""Empty lines and comments."""

_PARTS = "gspo"
_GRAPH = ("hash", "place", "key")
"""What tells a graph; numbers are sorted sooner than names that begin alike."""


def nquads_rows(
    lines: DataFrame, scope: str, time_predicate: NamedNode, *, is_named: bool = False
) -> DataFrame:  # fmt: skip
    """The graphs of numbered lines, none of which has a `\\r` but at its end."""
    timed = _timed(lines, scope, time_predicate).where("g IS NOT NULL AND ts IS NOT NULL")
    once = timed.groupBy(*_GRAPH, "s", "p", "o").agg(
        sf.min("ts").alias("ts"), sf.min("element").alias("element"), sf.min("number").alias("arrival")
    )
    names = [sf.col("key").alias("g")] if is_named else []
    return once.select("s", "p", "o", "ts", "element", "arrival", *names)


def malformed_lines(lines: DataFrame, scope: str) -> DataFrame:
    """The lines that are no quads, and why; `place` is where the line is."""
    is_nothing = sf.is_valid_utf8("value") & sf.col("value").rlike(_NOTHING)
    odd = lines.where(~sf.col("value").rlike(_LINE) & ~is_nothing)
    odd = odd.withColumn("value", sf.col("value").cast("binary"))
    return odd.mapInArrow(partial(_judge_lines, scope=scope), MALFORMED)


def malformed_graphs(
    lines: DataFrame, scope: str, time_predicate: NamedNode, names: Mapping[int, str]
) -> DataFrame:  # fmt: skip
    """The graphs that have no time, and files that have no graph; `names` are those of the files, by their places."""
    without = _timed(lines, scope, time_predicate).where("element IS NOT NULL AND ts IS NULL")
    gathered = without.groupBy(*_GRAPH).agg(sf.collect_list(sf.struct("number", *_PARTS)).alias("quads"))
    graphs = gathered.mapInArrow(partial(_judge_graphs, time_predicate=time_predicate, names=dict(names)), MALFORMED)
    files = _quads(lines, scope).groupBy(place_of_number().alias("place")).agg(sf.count("g").alias("graphs"))
    name_of = sf.create_map(*(sf.lit(part) for item in names.items() for part in item))
    reason = sf.lit(ALL_IN_DEFAULT_GRAPH)
    return graphs.unionAll(files.where("graphs = 0").select(name_of[sf.col("place").cast("int")], sf.lit(""), reason))


def _timed(lines: DataFrame, scope: str, time_predicate: NamedNode) -> DataFrame:
    """The quads of graphs and those that date them: `key` is the graph, `ts` its time, `element` its first number."""
    is_date = sf.col("p") == sf.lit("I" + time_predicate.value)
    quads = _quads(lines, scope).select(
        "number",
        *_PARTS,
        place_of_number().alias("place"),
        sf.coalesce("g", sf.when(is_date, sf.col("s"))).alias("key"),
        sf.when(is_date, time_of_term(sf.col("o"))).alias("time"),
    ).withColumn("hash", sf.xxhash64("place", "key"))  # fmt: skip
    graph = Window.partitionBy(*_GRAPH)
    is_outside = sf.col("g").isNull()
    outside, inside = (sf.max(sf.when(where, sf.col("time"))).over(graph) for where in (is_outside, ~is_outside))
    return quads.where("key IS NOT NULL").select(
        *("number", *_GRAPH, *_PARTS),
        sf.when(sf.bool_or(is_outside).over(graph), outside).otherwise(inside).alias("ts"),
        sf.min(sf.when(~is_outside, sf.col("number"))).over(graph).alias("element"),
    )


def triples_of_lines(lines: DataFrame, scope: str) -> DataFrame:
    """The triples of lines of N-Triples, which are quads without a graph; NULL where a line is malformed."""
    found = _found(lines, scope).where(~(sf.is_valid_utf8("value") & sf.col("value").rlike(_NOTHING)))
    quads = found.select(sf.inline_outer("found").alias(*_PARTS))
    return quads.select(*(sf.when(sf.col("g").isNull(), sf.col(part)).alias(part) for part in "spo"))


def _quads(lines: DataFrame, scope: str) -> DataFrame:
    return _found(lines, scope).select(sf.inline("found").alias(*_PARTS), "number")


def _found(lines: DataFrame, scope: str) -> DataFrame:
    """Numbered lines, and the quad that is in each, in an array, which is empty where the line is malformed."""
    pieces = lines.selectExpr("value", "number", f"{ordinary.PIECES} AS pieces")
    line, prefix = sf.col("value"), label_prefix(scope)
    odd = bound(line, lambda text: sf.filter(sf.array(_odd(text, prefix)), _is_right))
    found = sf.when(line.rlike(_LINE), sf.array(sf.expr(_ORDINARY))).otherwise(odd)
    return pieces.select(found.alias("found"), "number", "value")


_BEHIND = """substring_index(value, '"', -1)"""
"""What follows the quotes of a literal: its datatype and the graph, each if there is one."""

_GRAPH_OF_LITERAL = f"""
    CASE WHEN contains({_BEHIND}, ' <')
    THEN concat('I', substring_index(substring_index({_BEHIND}, ' <', -1), '>', 1)) END
"""
_ORDINARY = f"""
    struct(
      CASE WHEN {ordinary.is_iri(2)} THEN CASE WHEN {ordinary.is_iri(3)} THEN {ordinary.iri(3)} END
      ELSE {_GRAPH_OF_LITERAL} END AS g,
      {ordinary.iri(0)} AS s,
      {ordinary.iri(1)} AS p,
      {ordinary.object_or_literal(f"concat(substring_index({_BEHIND}, ' ', 1), ' ')")} AS o
    )
"""


def _odd(line: Column, prefix: str) -> Column:
    """A quad whose graph is empty, and not NULL, where it is wrong."""
    parts = sf.array(*(sf.regexp_extract(line, _ODD_LINE, group) for group in range(1, 5)))

    def quad(part: Column) -> Column:
        graph = sf.when(part[3] != "", sf.coalesce(subject_of(part[3], prefix), sf.lit("")))
        subject = sf.when(sf.is_valid_utf8(line), subject_of(part[0], prefix))
        return _struct(graph, subject, predicate_of(part[1]), object_of(part[2], prefix))

    return bound(parts, quad)


def _is_right(quad: Column) -> Column:
    is_graph = quad["g"].isNull() | (quad["g"] != "")
    return is_graph & quad["s"].isNotNull() & quad["p"].isNotNull() & quad["o"].isNotNull()


def _struct(graph: Column, subject: Column, predicate: Column, object_: Column) -> Column:
    return sf.struct(graph.alias("g"), subject.alias("s"), predicate.alias("p"), object_.alias("o"))


def _judge_lines(batches: Iterable[pa.RecordBatch], scope: str) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        judged: list[Malformed] = []
        for line in batch.to_pylist():
            found: list[Malformed] = []
            parsed_line(line["value"], "", 0, scope, found.append)
            judged += [malformed._replace(place=line["place"]) for malformed in found]
        yield batch_of(judged, ARROW_MALFORMED)


def _judge_graphs(
    batches: Iterable[pa.RecordBatch], time_predicate: NamedNode, names: Mapping[int, str]
) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        judged = []
        for graph in batch.to_pylist():
            quads = sorted(graph["quads"], key=lambda quad: quad["number"])
            triples = dict.fromkeys((quad["s"], quad["p"], quad["o"]) for quad in quads if quad["g"] is not None)
            dates = [quad["o"] for quad in quads if quad["g"] is None]
            judged.append(graph_without_time(names[graph["place"]], graph["key"], triples, dates, time_predicate))
        yield batch_of(judged, ARROW_MALFORMED)
