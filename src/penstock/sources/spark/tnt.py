"""Timestamped N-Triples on Spark: the ordinary lines in SQL expressions, and every other one by the line reader."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial

import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf

from penstock.rdf.blank_nodes import prefixed
from penstock.rdf.conversion import encode_oxigraph
from penstock.rdf.elements import Malformed
from penstock.rdf.encoding import INTEGER_TYPES, TAGS_OF_DATATYPES
from penstock.rdf.vocabulary import XSD
from penstock.sources.spark.patterns import IRI, LITERAL, MILLISECONDS
from penstock.sources.spark.rows import ARROW_MALFORMED, ARROW_ROWS, MALFORMED, ROWS, batch_of
from penstock.sources.tnt import read_line

_LINE = rf"^{IRI} {IRI} (?:{IRI}|{LITERAL}) {MILLISECONDS} \.\r?+\z"

_SPACE = "[\\s\\x1c-\\x1f\\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000]"
_NOTHING = rf"^{_SPACE}*+(?:#|\z)"
"""Empty lines and comments, as Python strips them."""


def tnt_rows(lines: DataFrame, scope: str) -> DataFrame:
    """The elements of numbered lines."""
    words = lines.where(_is_ordinary()).select("value", "number", sf.split("value", " ").alias("words"))
    rows = words.select(
        _iri(sf.col("words")[0]).alias("s"),
        _iri(sf.col("words")[1]).alias("p"),
        _object(sf.col("words")[2], sf.col("value")).alias("o"),
        sf.substring_index(sf.substring_index("value", '"', -2), '"', 1).cast("bigint").alias("ts"),
        sf.col("number").alias("element"),
        sf.col("number").alias("arrival"),
    )
    return rows.unionAll(_odd(lines).mapInArrow(partial(_read, scope=scope), ROWS))


def malformed_tnt(lines: DataFrame, scope: str) -> DataFrame:
    """The lines that are no elements, and why; `place` is where the line is."""
    return _odd(lines).mapInArrow(partial(_judge, scope=scope), MALFORMED)


def _is_ordinary() -> Column:
    return sf.col("value").rlike(_LINE)


def _odd(lines: DataFrame) -> DataFrame:
    odd = lines.where(~_is_ordinary() & ~sf.col("value").rlike(_NOTHING))
    return odd.withColumn("value", sf.col("value").cast("binary"))


def _iri(word: Column) -> Column:
    return sf.concat(sf.lit("I"), sf.substring(word, sf.lit(2), sf.length(word) - 2))


def _object(word: Column, line: Column) -> Column:
    """The third word, if it is an IRI; a literal may be of several words, and is between the line's first quotes."""
    lexical = sf.substring_index(sf.substring_index(line, '"', 2), '"', -1)
    annotation = sf.substring_index(sf.substring_index(line, '"', 3), '"', -1)
    return sf.when(word.startswith("<"), _iri(word)).otherwise(sf.concat(_tag(annotation), lexical))


def _tag(annotation: Column) -> Column:
    """The tag of a literal by what follows its quotes, up to the next: `^^<IRI> `, or a space."""
    tag = sf.when(annotation == " ", "S")
    for datatype, letter in TAGS_OF_DATATYPES.items():
        tag = tag.when(annotation == f"^^<{datatype}> ", letter)
    for name in INTEGER_TYPES:
        tag = tag.when(annotation == f"^^<{XSD}{name}> ", f"n{name} ")
    datatype_iri = sf.substring(annotation, sf.lit(4), sf.length(annotation) - 5)
    return tag.otherwise(sf.concat(sf.lit("O"), datatype_iri, sf.lit(" ")))


def _read(batches: Iterable[pa.RecordBatch], scope: str) -> Iterator[pa.RecordBatch]:
    rename = prefixed(scope)
    for batch in batches:
        rows = []
        for line in batch.to_pylist():
            found = read_line(line["value"], "", 0, rename, _ignore)
            if found is not None:
                time, triple = found
                terms = map(encode_oxigraph, (triple.subject, triple.predicate, triple.object))
                rows.append((*terms, time, line["number"], line["number"]))
        yield batch_of(rows, ARROW_ROWS)


def _judge(batches: Iterable[pa.RecordBatch], scope: str) -> Iterator[pa.RecordBatch]:
    rename = prefixed(scope)
    for batch in batches:
        judged = []
        for line in batch.to_pylist():
            found: list[Malformed] = []
            read_line(line["value"], "", 0, rename, found.append)
            judged += [malformed._replace(place=line["place"]) for malformed in found]
        yield batch_of(judged, ARROW_MALFORMED)


def _ignore(malformed: Malformed) -> None:
    """What is malformed is told when somebody asks."""
