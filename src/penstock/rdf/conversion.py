"""Converts between Penstock's terms, encoded terms and pyoxigraph's terms."""

from __future__ import annotations

import re
from functools import lru_cache

import pyoxigraph as ox

from penstock.rdf.elements import Node
from penstock.rdf.encoding import decode, encode
from penstock.rdf.terms import IRI, BlankNode, Literal, Term


def oxigraph_term(term: Term) -> Node:
    match term:
        case IRI(value):
            return named_node(value)
        case BlankNode(label):
            return ox.BlankNode(label)
        case Literal(lexical, _, str(language)):
            return ox.Literal(lexical, language=language)
        case Literal(lexical, datatype):
            return ox.Literal(lexical, datatype=named_node(datatype))


def named_node(iri: str) -> ox.NamedNode:
    """An IRI; a relative IRI of a query without a base stays as written."""
    try:
        return ox.NamedNode(iri)
    except ValueError:
        return _relative(iri)


@lru_cache(maxsize=1 << 10)
def _relative(iri: str) -> ox.NamedNode:
    """A relative IRI; pyoxigraph creates one only when it parses leniently."""
    if re.search(r'[<>"{}|^`\\\x00-\x20]', iri):
        raise ValueError(f"Invalid IRI: <{iri}>")
    (quad,) = ox.parse(f"<urn:s> <urn:p> <{iri}> .", format=ox.RdfFormat.N_TRIPLES, lenient=True)
    assert isinstance(quad.object, ox.NamedNode)
    return quad.object


def encode_oxigraph(term: ox.NamedNode | ox.BlankNode | ox.Literal | ox.Triple) -> str:
    if isinstance(term, ox.NamedNode):
        return "I" + term.value
    if isinstance(term, ox.BlankNode):
        return "B" + term.value
    if isinstance(term, ox.Literal):
        return encode(Literal(term.value, term.datatype.value, term.language))
    raise ValueError(f"a triple is not a term of RDF 1.1: {term}")


def decode_oxigraph(text: str) -> Node:
    return oxigraph_term(decode(text))
