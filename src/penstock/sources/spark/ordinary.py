"""Ordinary lines (`patterns.py`), cut at every `>`: what is ordinary is not checked again."""

from __future__ import annotations

from itertools import chain

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf

from penstock.rdf.encoding import INTEGER_TYPES, TAGS_OF_DATATYPES
from penstock.rdf.vocabulary import XSD
from penstock.sources.spark.patterns import IRI, LITERAL, MILLISECONDS

_TNT = rf"^{IRI} {IRI} (?:{IRI}|{LITERAL}) {MILLISECONDS} \.\r?+\z"
_TAGS = {
    " ": "S",
    **{f"^^<{datatype}> ": tag for datatype, tag in TAGS_OF_DATATYPES.items()},
    **{f"^^<{XSD}{name}> ": f"n{name} " for name in INTEGER_TYPES},
}


def rows_if_ordinary(lines: DataFrame) -> DataFrame:
    """A row for each of some numbered lines of `.tnt`; one that is not ordinary has no `ts`."""
    line, pieces = sf.col("value"), sf.col("pieces")
    annotation = sf.substring_index(sf.substring_index(line, '"', 3), '"', -1)
    time = sf.substring_index(sf.substring_index(line, '"', -2), '"', 1).cast("bigint")
    triple = sf.struct(
        iri_of(pieces[0], 2).alias("s"),
        iri_of(pieces[1]).alias("p"),
        object_of(pieces[2], line, annotation).alias("o"),
        time.alias("ts"),
    )
    cut = lines.select("value", "number", sf.split("value", ">").alias("pieces"))
    found, number = cut.select(sf.when(line.rlike(_TNT), triple).alias("found"), "number"), sf.col("number")
    return found.select("found.*", number.alias("element"), number.alias("arrival"))


def iri_of(piece: Column, start: int = 3) -> Column:
    """What is behind the `<` of a piece, before which there is a space, unless it is the first of its line."""
    return sf.concat(sf.lit("I"), sf.substr(piece, sf.lit(start)))


def object_of(piece: Column, line: Column, annotation: Column) -> Column:
    """The third piece, if that is an IRI; a literal is between the line's first quotes.

    `annotation` is what follows those, with a space at its end: `^^<IRI> `, or the space alone.
    """
    lexical = sf.substring_index(sf.substring_index(line, '"', 2), '"', -1)
    return sf.when(piece.startswith(" <"), iri_of(piece)).otherwise(sf.concat(_tag(annotation), lexical))


def _tag(annotation: Column) -> Column:
    known = sf.create_map(*map(sf.lit, chain.from_iterable(_TAGS.items())))
    datatype = sf.substring(annotation, sf.lit(4), sf.length(annotation) - 5)
    return sf.coalesce(known[annotation], sf.concat(sf.lit("O"), datatype, sf.lit(" ")))
