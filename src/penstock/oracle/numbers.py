"""Numbers by value: engines write the same number with different datatypes and in different forms."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal, InvalidOperation
from math import isfinite

from pyoxigraph import Literal, NamedNode, Quad, Triple

from penstock.rdf.elements import Node
from penstock.rdf.results import Evaluation
from penstock.rdf.vocabulary import XSD, XSD_DOUBLE, XSD_INTEGER

_FLOATS = frozenset((XSD_DOUBLE, XSD + "float"))
_EXACT = frozenset(
    XSD + name
    for name in (
        "integer decimal int long short byte unsignedInt unsignedLong unsignedShort unsignedByte positiveInteger "
        "negativeInteger nonNegativeInteger nonPositiveInteger"
    ).split()
)
_DOUBLE, _INTEGER = NamedNode(XSD_DOUBLE), NamedNode(XSD_INTEGER)


def with_numbers_by_value(evaluation: Evaluation) -> Evaluation:
    """The evaluation with one form for each number: whole ones as integers, others as doubles."""
    if evaluation.rows is not None:
        rows = tuple(tuple(None if term is None else _by_value(term) for term in row) for row in evaluation.rows)
        return replace(evaluation, rows=rows)
    if evaluation.triples is not None:
        return replace(evaluation, triples=tuple(map(_statement_by_value, evaluation.triples)))
    return evaluation


def _statement_by_value(statement: Triple | Quad) -> Triple | Quad:
    value = statement.object if isinstance(statement.object, Triple) else _by_value(statement.object)
    if isinstance(statement, Quad):
        return Quad(statement.subject, statement.predicate, value, statement.graph_name)
    return Triple(statement.subject, statement.predicate, value)


def _by_value(term: Node) -> Node:
    if not isinstance(term, Literal) or term.datatype.value not in _FLOATS | _EXACT:
        return term
    try:
        number = float(term.value) if term.datatype.value in _FLOATS else Decimal(term.value)
    except (ValueError, InvalidOperation):
        return term
    if isfinite(number) and number == int(number):
        return Literal(str(int(number)), datatype=_INTEGER)
    return Literal(repr(float(number)), datatype=_DOUBLE)
