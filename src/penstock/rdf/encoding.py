"""Terms in a column: one string per term (architecture.md §4).

The first character is a tag for the kind of term; the rest is the lexical form. Equal terms are equal strings, so joins
are plain equi-joins, and one character shows whether a term is numeric. NULL is unbound, and also a SPARQL expression
error.

| tag | term | the rest |
|---|---|---|
| `I` | IRI | the IRI |
| `B` | blank node | its label |
| `S` | xsd:string | the lexical form |
| `L` | rdf:langString | language tag (lower case), a space, the lexical form |
| `i` `d` `e` `f` | xsd:integer, decimal, double, float | the lexical form |
| `n` | another integer type (xsd:int, xsd:byte, …) | its local name, a space, the lexical form |
| `b` | xsd:boolean | the lexical form |
| `t` | xsd:dateTime | the lexical form |
| `O` | any other datatype | the datatype's IRI, a space, the lexical form |
"""

from __future__ import annotations

from math import inf

from penstock.rdf.terms import IRI, BlankNode, Literal, Term
from penstock.rdf.vocabulary import RDF_LANG_STRING, XSD

TAGS_OF_DATATYPES = {
    XSD + "string": "S",
    XSD + "integer": "i",
    XSD + "decimal": "d",
    XSD + "double": "e",
    XSD + "float": "f",
    XSD + "boolean": "b",
    XSD + "dateTime": "t",
}
INTEGER_TYPES: dict[str, tuple[float, float]] = {
    "int": (-(2**31), 2**31 - 1),
    "long": (-(2**63), 2**63 - 1),
    "short": (-(2**15), 2**15 - 1),
    "byte": (-(2**7), 2**7 - 1),
    "nonNegativeInteger": (0, inf),
    "positiveInteger": (1, inf),
    "nonPositiveInteger": (-inf, 0),
    "negativeInteger": (-inf, -1),
    "unsignedInt": (0, 2**32 - 1),
    "unsignedLong": (0, 2**64 - 1),
    "unsignedShort": (0, 2**16 - 1),
    "unsignedByte": (0, 2**8 - 1),
}
"""The integer types of xsd other than xsd:integer, with their bounds. Values out of bounds are ill-typed."""

_DATATYPES_OF_TAGS = {tag: datatype for datatype, tag in TAGS_OF_DATATYPES.items()}
_INTEGER_IRIS = {XSD + name: name for name in INTEGER_TYPES}


def encode(term: Term) -> str:
    match term:
        case IRI(value):
            return "I" + value
        case BlankNode(label):
            return "B" + label
        case Literal(lexical, _, str(language)):
            return f"L{language.lower()} {lexical}"
        case Literal(lexical, datatype):
            tag = TAGS_OF_DATATYPES.get(datatype)
            if tag is not None:
                return tag + lexical
            if datatype in _INTEGER_IRIS:
                return f"n{_INTEGER_IRIS[datatype]} {lexical}"
            return f"O{datatype} {lexical}"


def decode(text: str) -> Term:
    tag, rest = text[0], text[1:]
    if tag == "I":
        return IRI(rest)
    if tag == "B":
        return BlankNode(rest)
    if tag in _DATATYPES_OF_TAGS:
        return Literal(rest, _DATATYPES_OF_TAGS[tag])
    kind, _, lexical = rest.partition(" ")
    if tag == "L":
        return Literal(lexical, RDF_LANG_STRING, kind)
    return Literal(lexical, XSD + kind if tag == "n" else kind)
