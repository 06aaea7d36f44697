"""Relative IRIs of a query without a base, for a SPARQL engine that accepts only absolute IRIs.

Inside the engine they have a prefix. Neither STR() nor an answer shows it.
"""

from __future__ import annotations

from dataclasses import replace

import pyoxigraph as ox

from penstock.rdf.conversion import named_node
from penstock.rdf.elements import Node
from penstock.rdf.iris import is_absolute
from penstock.rdf.terms import IRI, Literal
from penstock.syntax import ast
from penstock.syntax.ast.traversal import rewrite

_PREFIX = "urn:oracle:relative:"


def with_absolute_names(query: ast.Query) -> ast.Query:
    """The query with absolute IRIs in place of relative ones."""

    def change(node: ast.Node) -> ast.Node:
        return replace(node, term=_absolute(node.term)) if isinstance(node, ast.Constant) else node

    return rewrite(query, change)


def _absolute(term: IRI | Literal) -> IRI | Literal:
    match term:
        case IRI(value) if not is_absolute(value):
            return IRI(_PREFIX + value)
        case Literal(lexical, datatype, None) if not is_absolute(datatype):
            return Literal(lexical, _PREFIX + datatype)
    return term


def as_written(term: Node) -> Node:
    """The original term of the query, if the term has the prefix."""
    match term:
        case ox.NamedNode(value=value) if value.startswith(_PREFIX):
            return named_node(value.removeprefix(_PREFIX))
        case ox.Literal(value=value, datatype=datatype) if datatype.value.startswith(_PREFIX):
            return ox.Literal(value, datatype=named_node(datatype.value.removeprefix(_PREFIX)))
    return term
