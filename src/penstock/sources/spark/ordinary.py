"""Terms of ordinary lines (`patterns.py`), which are cut at every `>`; nothing is checked again.

They are texts of Spark SQL about the line, `value`, and what it was cut into, `pieces`: an expression is one call of
Java's that way, and not one for each function in it.
"""

from __future__ import annotations

from penstock.rdf.encoding import INTEGER_TYPES, TAGS_OF_DATATYPES
from penstock.rdf.vocabulary import XSD

_TAGS = {
    " ": "S",
    **{f"^^<{datatype}> ": tag for datatype, tag in TAGS_OF_DATATYPES.items()},
    **{f"^^<{XSD}{name}> ": f"n{name} " for name in INTEGER_TYPES},
}
_MAP_OF_TAGS = f"str_to_map('{';'.join(f'{annotation}={tag}' for annotation, tag in _TAGS.items())}', ';', '=')"

PIECES = "split(value, '>')"


def iri(place: int) -> str:
    """What is behind the `<` of a piece, before which there is a space, unless it is the first of its line."""
    return f"concat('I', substr(pieces[{place}], {3 if place else 2}))"


def is_iri(place: int) -> str:
    return f"startswith(pieces[{place}], ' <')"


def object_or_literal(annotation: str) -> str:
    """The third piece, if that is an IRI; a literal is between the line's first quotes.

    `annotation` is what follows those, with a space at its end: `^^<IRI> `, or the space alone.
    """
    lexical = """substring_index(substring_index(value, '"', 2), '"', -1)"""
    datatype = f"substring({annotation}, 4, length({annotation}) - 5)"
    tag = f"coalesce({_MAP_OF_TAGS}[{annotation}], concat('O', {datatype}, ' '))"
    return f"CASE WHEN {is_iri(2)} THEN {iri(2)} ELSE concat({tag}, {lexical}) END"
