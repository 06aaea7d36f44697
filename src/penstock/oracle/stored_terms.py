"""Terms in the oracle's store.

The store keeps the values of numbers and dates, not their lexical forms: it returns `"095"^^xsd:int` as 95. A literal
that it would return in another form is stored under a datatype of the oracle's own, which the store does not change, so
that patterns, joins, DISTINCT and GROUP BY compare terms:

    "095"^^xsd:int   is stored as   "http://www.w3.org/2001/XMLSchema#int 095"^^<urn:oracle:literal>

Functions that need the value, the lexical form or the datatype get it from `penstock.oracle.functions`.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import TypeVar

import pyoxigraph as ox

from penstock.rdf import terms
from penstock.rdf.conversion import oxigraph_term
from penstock.rdf.elements import Node
from penstock.rdf.results import Evaluation
from penstock.rdf.vocabulary import XSD, XSD_INTEGER, XSD_STRING
from penstock.syntax import ast

KEPT = ox.NamedNode("urn:oracle:literal")
ILL_TYPED = "urn:oracle:ill-typed:"
_ANY = ox.NamedNode("urn:oracle:any")
RANGES: dict[str, tuple[int | None, int | None]] = {
    "byte": (-(2**7), 2**7 - 1),
    "short": (-(2**15), 2**15 - 1),
    "int": (-(2**31), 2**31 - 1),
    "long": (-(2**63), 2**63 - 1),
    "unsignedByte": (0, 2**8 - 1),
    "unsignedShort": (0, 2**16 - 1),
    "unsignedInt": (0, 2**32 - 1),
    "unsignedLong": (0, 2**64 - 1),
    "nonNegativeInteger": (0, None),
    "positiveInteger": (1, None),
    "nonPositiveInteger": (None, 0),
    "negativeInteger": (None, -1),
}

AnyTerm = TypeVar("AnyTerm", bound=object)


# Storing terms, and restoring the originals


def stored(term: Node) -> Node:
    """The term under which the store keeps this one."""
    if not isinstance(term, ox.Literal) or not _may_change(term) or as_read_back(term) == term:
        return term
    return ox.Literal(f"{term.datatype.value} {term.value}", datatype=KEPT)


def stored_constant(constant: ast.Constant) -> ast.Constant:
    """A constant of the query, as it is stored."""
    if not isinstance(constant.term, terms.Literal):
        return constant
    kept = stored(oxigraph_term(constant.term))
    assert isinstance(kept, ox.Literal)
    if kept.datatype != KEPT:
        return constant
    return replace(constant, term=terms.Literal(kept.value, KEPT.value))


def original(term: AnyTerm) -> AnyTerm | ox.Literal:
    """The original of a term in the store."""
    if not isinstance(term, ox.Literal) or term.datatype != KEPT:
        return term
    datatype, _, lexical = term.value.partition(" ")
    return ox.Literal(lexical, datatype=ox.NamedNode(datatype))


@lru_cache(maxsize=1 << 16)
def value(term: Node) -> Node:
    """The term with the same value that the store's functions can compute with."""
    literal = original(term)
    if not isinstance(literal, ox.Literal):
        return term
    name = literal.datatype.value.removeprefix(XSD)
    if name in RANGES and not _is_in_range(literal, *RANGES[name]):
        return ox.Literal(literal.value, datatype=ox.NamedNode(ILL_TYPED + name))
    if name == "dateTimeStamp" and not literal.value.endswith("Z") and literal.value[-6:-5] not in ("+", "-"):
        return ox.Literal(literal.value, datatype=ox.NamedNode(ILL_TYPED + name))
    return as_read_back(literal)


def _is_in_range(literal: ox.Literal, least: int | None, most: int | None) -> bool:
    integer = as_read_back(literal)
    if integer.datatype.value != XSD_INTEGER:
        return True  # the store has not changed it: it is not a number
    return (least is None or int(integer.value) >= least) and (most is None or int(integer.value) <= most)


def _may_change(literal: ox.Literal) -> bool:
    datatype = literal.datatype.value
    return datatype.startswith(XSD) and datatype != XSD_STRING


@lru_cache(maxsize=1 << 16)
def as_read_back(term: ox.Literal) -> ox.Literal:
    """The literal that the store returns for this one: equal in value, perhaps not in text."""
    store = ox.Store()
    store.add(ox.Quad(_ANY, _ANY, term))
    (quad,) = store
    assert isinstance(quad.object, ox.Literal)
    return quad.object


# Answers of other engines, which may write computed values in another form


def as_stored(evaluation: Evaluation) -> Evaluation:
    """The evaluation with its terms as the store would have them."""
    if evaluation.rows is not None:
        return replace(evaluation, rows=tuple(tuple(map(_read, row)) for row in evaluation.rows))
    if evaluation.triples is not None:
        return replace(evaluation, triples=tuple(map(_read_triple, evaluation.triples)))
    return evaluation


def _read(term: Node | None) -> Node | None:
    return as_read_back(term) if isinstance(term, ox.Literal) else term


def _read_triple(triple: ox.Triple | ox.Quad) -> ox.Triple | ox.Quad:
    if not isinstance(triple.object, ox.Literal):
        return triple
    target = as_read_back(triple.object)
    if isinstance(triple, ox.Quad):
        return ox.Quad(triple.subject, triple.predicate, target, triple.graph_name)
    return ox.Triple(triple.subject, triple.predicate, target)
