"""The results of a query as a DataFrame of Spark: nothing of them comes to the driver."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from penstock.rdf.encoding import TAGS_OF_DATATYPES
from penstock.rdf.vocabulary import XSD
from penstock.runtime.history import HistoryRun

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

_ANNOTATED = "nLO"
"""The tags of literals that say more of themselves before a space: a language, a datatype."""


def frame_of(
    run: HistoryRun, spark: SparkSession, variables: tuple[str, ...], *, terms: bool, types: Mapping[str, str]
) -> DataFrame:
    """The instants (`time`, in milliseconds) and the values of the variables.

    A value is a text: an IRI, a label, a lexical form; or, with `terms`, a term as N-Triples. A variable for which
    `types` has a type of Spark's is a column of that type, NULL where a value is none of it.
    """
    from pyspark.sql import functions as sf

    from penstock.engines.spark import SparkQuery

    found = run.slice()
    if found is None:
        columns = ["time bigint", *(f"`{name}` {types.get(name, 'string')}" for name in variables)]
        return spark.createDataFrame([], ", ".join(columns))
    answering, part = found
    compiled = answering.solutions
    assert isinstance(compiled, SparkQuery)
    rows = compiled.frame(part)
    places = dict(zip(compiled.variables, rows.columns, strict=False))
    selected = [sf.col("t").cast("bigint").alias("time")]
    for name in variables:
        value = sf.col(places[name]) if name in places else sf.lit(None).cast("string")
        if name in types:
            selected.append(_text(value).try_cast(types[name]).alias(name))
        else:
            selected.append((_term(value) if terms else _text(value)).alias(name))
    return rows.select(*selected)


def _text(term: Column) -> Column:
    """Without tag, datatype and language."""
    from pyspark.sql import functions as sf

    rest = sf.substr(term, sf.lit(2))
    behind_space = sf.substr(rest, sf.locate(" ", rest) + 1)
    return sf.when(term.substr(1, 1).isin(*_ANNOTATED), behind_space).otherwise(rest)


def _term(term: Column) -> Column:
    """In the syntax of N-Triples."""
    from pyspark.sql import functions as sf

    from penstock.sources.spark.terms import escaped

    rest, quote = sf.substr(term, sf.lit(2)), sf.lit('"')
    return (
        sf.when(term.startswith("I"), sf.concat(sf.lit("<"), rest, sf.lit(">")))
        .when(term.startswith("B"), sf.concat(sf.lit("_:"), rest))
        .otherwise(sf.concat(quote, escaped(_text(term)), quote, _annotation(term)))
    )


def _annotation(literal: Column) -> Column:
    """What follows the quotes."""
    from pyspark.sql import functions as sf

    tag, word = literal.substr(1, 1), sf.substring_index(sf.substr(literal, sf.lit(2)), " ", 1)
    found = sf.when(tag == "S", sf.lit("")).when(tag == "L", sf.concat(sf.lit("@"), word))
    found = found.when(tag == "n", sf.concat(sf.lit(f"^^<{XSD}"), word, sf.lit(">")))
    for datatype, letter in TAGS_OF_DATATYPES.items():
        found = found.when(tag == letter, sf.lit(f"^^<{datatype}>"))
    return found.when(tag == "O", sf.concat(sf.lit("^^<"), word, sf.lit(">")))
