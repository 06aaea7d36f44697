"""Terms of ordinary lines (`patterns.py`), which are cut at every `>`; nothing is checked again."""

from __future__ import annotations

from itertools import chain

from pyspark.sql import Column
from pyspark.sql import functions as sf

from penstock.rdf.encoding import INTEGER_TYPES, TAGS_OF_DATATYPES
from penstock.rdf.vocabulary import XSD

_TAGS = {
    " ": "S",
    **{f"^^<{datatype}> ": tag for datatype, tag in TAGS_OF_DATATYPES.items()},
    **{f"^^<{XSD}{name}> ": f"n{name} " for name in INTEGER_TYPES},
}


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
