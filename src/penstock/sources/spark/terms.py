"""Terms in the syntax of N-Triples as encoded terms (rdf/encoding.py), in SQL expressions; NULL for invalid ones.

These functions accept any term, and are slow. Common terms are read without them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from pyspark.sql import Column
from pyspark.sql import functions as sf

from penstock.rdf.encoding import INTEGER_TYPES, TAGS_OF_DATATYPES
from penstock.rdf.vocabulary import RDF, XSD
from penstock.sources.spark.grammar import CODE_POINT, IRI, IRI_WITH_ESCAPES, LABEL, LANGUAGE, LEXICAL

_PIECE = rf"[^\\]++|{CODE_POINT}|\\."
_TAGS = {**TAGS_OF_DATATYPES, **{XSD + name: f"n{name} " for name in INTEGER_TYPES}}
_WRITTEN = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r"}
_ESCAPED = {"t": "\t", "b": "\b", "n": "\n", "r": "\r", "f": "\f"}


def subject_of(text: Column, prefix: str) -> Column:
    """A subject, or the name of a graph; `prefix` is the prefix of blank node labels."""
    return sf.coalesce(predicate_of(text), _blank_node(text, prefix))


def predicate_of(text: Column) -> Column:
    return sf.when(text.startswith("<"), sf.concat(sf.lit("I"), _iri(_between(text, 1, 1))))


def object_of(text: Column, prefix: str) -> Column:
    return sf.coalesce(subject_of(text, prefix), _literal(text))


def escaped(text: Column) -> Column:
    """A lexical form between the quotes of N-Triples."""
    for character, written in _WRITTEN.items():
        text = sf.replace(text, sf.lit(character), sf.lit(written))
    return text


def bound(value: Column, body: Callable[[Column], Column]) -> Column:
    """`body(value)`, with the value computed once, however often the body uses it.

    Spark has no other way to name a part of an expression. It does not compile the body of a `zip_with`, which keeps
    the code for common terms short: Java does not compile long methods to machine code.
    """
    return sf.zip_with(sf.array(value), sf.array(sf.lit(0)), lambda value, _: body(value))[0]


def _iri(text: Column) -> Column:
    plain = bound(text, lambda text: sf.when(text.rlike(IRI_WITH_ESCAPES), unescaped(text)))
    return bound(plain, lambda plain: sf.when(plain.rlike(IRI), plain))


def _blank_node(text: Column, prefix: str) -> Column:
    label = _between(text, 2, 0)
    return sf.when(text.startswith("_:") & label.rlike(LABEL), sf.concat(sf.lit("B" + prefix), label))


def _literal(text: Column) -> Column:
    lexical = sf.regexp_extract(text, r'(?s)^"(.*)"', 1)
    annotation = sf.translate(sf.regexp_extract(text, r'(?s)^".*"([^"]*)\z', 1), " \t", "")
    content = bound(lexical, lambda lexical: sf.when(lexical.rlike(LEXICAL), unescaped(lexical)))
    return sf.when(text.startswith('"'), sf.concat(bound(annotation, _tag), content))


def _tag(annotation: Column) -> Column:
    """The tag of a literal by its language or datatype: `@en` and `^^<IRI>` as well as nothing."""
    language = sf.when(_between(annotation, 1, 0).rlike(LANGUAGE), sf.lower(_between(annotation, 1, 0)))
    return (
        sf.when(annotation == "", "S")
        .when(annotation.startswith("@"), sf.concat(sf.lit("L"), language, sf.lit(" ")))
        .otherwise(bound(_iri(_between(annotation, 3, 1)), tag_of_datatype))
    )


def tag_of_datatype(datatype: Column) -> Column:
    """The tag by the datatype's IRI; a literal must not be written with those of language strings."""
    known = map_of(_TAGS)
    is_other = ~datatype.isin(RDF + "langString", RDF + "dirLangString")
    return sf.coalesce(known[datatype], sf.when(is_other, sf.concat(sf.lit("O"), datatype, sf.lit(" "))))


def map_of(texts: Mapping[str, str]) -> Column:
    """A constant map of texts without line ends and tabs; a single Java call makes it, not one for each text."""
    pairs = "\n".join(f"{key}\t{value}" for key, value in texts.items())
    return sf.str_to_map(sf.lit(pairs), sf.lit("\n"), sf.lit("\t"))


def unescaped(text: Column) -> Column:
    """The text with its escapes, all of which are valid, replaced."""
    pieces = sf.transform(sf.regexp_extract_all(text, sf.lit(f"(?s){_PIECE}"), sf.lit(0)), _plain)
    return sf.when(text.contains("\\"), sf.array_join(pieces, "")).otherwise(text)


def _plain(piece: Column) -> Column:
    kind, rest = sf.substring(piece, 2, 1), sf.substring(piece, 3, 8)
    plain = sf.when(~piece.startswith("\\"), piece)
    plain = plain.when(kind.isin("u", "U"), sf.decode(sf.unhex(sf.lpad(rest, 8, "0")), "UTF-32"))
    for letter, character in _ESCAPED.items():
        plain = plain.when(kind == letter, character)
    return plain.otherwise(kind)


def _between(text: Column, left: int, right: int) -> Column:
    """The text without some characters at its ends."""
    return sf.substring(text, sf.lit(left + 1), sf.length(text) - (left + right))
