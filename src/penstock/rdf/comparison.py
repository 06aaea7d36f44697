"""Compares answers (semantics.md §9): blank nodes up to a bijection, other terms by identity."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Hashable, Iterable, Sequence

from pyoxigraph import BlankNode, DefaultGraph, Literal, Quad, Triple

from penstock.rdf.elements import Node, Row
from penstock.rdf.isomorphism import Blank, Cells, are_isomorphic
from penstock.rdf.vocabulary import XSD_DOUBLE

_DOUBLE = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|[+-]?INF|NaN")


def same_rows(left: Sequence[Row], right: Sequence[Row], ordered: bool) -> bool:
    """Whether two answers have the same rows equally often and, if `ordered`, in the same order.

    Labels of blank nodes may differ, but each node of one answer must correspond to one node of the other in all rows.
    """
    if len(left) != len(right):
        return False
    left_cells, right_cells = [_cells(row) for row in left], [_cells(row) for row in right]
    if ordered:
        return _is_same_sequence(left_cells, right_cells)
    return are_isomorphic(Counter(left_cells), Counter(right_cells))


def same_graph(left: Iterable[Triple | Quad], right: Iterable[Triple | Quad]) -> bool:
    """Whether two sets of triples or quads are equal except for the labels of blank nodes."""
    return are_isomorphic(
        Counter({_statement_cells(statement) for statement in left}),
        Counter({_statement_cells(statement) for statement in right}),
    )


def _cells(row: Row) -> Cells:
    return tuple(_cell(term) for term in row)


def _statement_cells(statement: Triple | Quad) -> Cells:
    graph = statement.graph_name if isinstance(statement, Quad) else None
    return (
        *(_cell(_of_rdf_11(term)) for term in (statement.subject, statement.predicate, statement.object)),
        None if isinstance(graph, DefaultGraph) else _cell(graph),
    )


def _cell(term: Node | None) -> Hashable:
    if isinstance(term, BlankNode):
        return Blank(term.value)
    if isinstance(term, Literal) and term.datatype.value == XSD_DOUBLE:
        return _double(term)
    return term


def _double(literal: Literal) -> Hashable:
    # Engines write computed doubles in different ways (1.0E1, 10.0, 1e1), all of them correct. Other datatypes do not
    # need this: terms from the data keep their lexical form.
    if _DOUBLE.fullmatch(literal.value) is None:
        return literal
    return float(literal.value).hex()


def _of_rdf_11(term: Node | Triple) -> Node:
    if isinstance(term, Triple):
        raise ValueError(f"{term} is a triple inside a triple (RDF-star), which is not RDF 1.1")
    return term


def _is_same_sequence(left: Sequence[Cells], right: Sequence[Cells]) -> bool:
    partner: dict[Blank, Hashable] = {}
    for left_row, right_row in zip(left, right, strict=True):
        if len(left_row) != len(right_row):
            return False
        for cell, other in zip(left_row, right_row, strict=True):
            expected = partner.setdefault(cell, other) if isinstance(cell, Blank) else cell
            if expected != other:
                return False
    return len(set(partner.values())) == len(partner) and all(isinstance(cell, Blank) for cell in partner.values())
