"""Relative IRIs of a query without a base, for a SPARQL engine that takes absolute IRIs only.

In the engine behind the oracle they stand behind a prefix. Neither STR() nor an answer shows it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pyoxigraph as ox

from penstock.rdf.conversion import named_node
from penstock.rdf.elements import Node
from penstock.rdf.iris import is_absolute
from penstock.rdf.terms import IRI, Literal
from penstock.syntax import ast
from penstock.syntax.ast.rewriting import rewrite, walk

_PREFIX = "urn:oracle:relative:"

Term = Node | None


def with_absolute_names(query: ast.Query) -> tuple[ast.Query, Callable[[Term], Term]]:
    """The query with absolute IRIs in place of relative ones, and a function that turns its terms back."""
    if not any(isinstance(node, ast.Constant) and _absolute(node.term) != node.term for node in walk(query)):
        return query, lambda term: term

    def change(node: ast.Node) -> ast.Node:
        match node:
            case ast.Constant(term):
                return replace(node, term=_absolute(term))
            case ast.Call("STR"):
                texts = (ast.Constant(Literal(text)) for text in ("^" + _PREFIX, ""))
                return ast.Call("REPLACE", (node, *texts))
        return node

    return rewrite(query, change), _as_written


def _absolute(term: IRI | Literal) -> IRI | Literal:
    match term:
        case IRI(value) if not is_absolute(value):
            return IRI(_PREFIX + value)
        case Literal(lexical, datatype, None) if not is_absolute(datatype):
            return Literal(lexical, _PREFIX + datatype)
    return term


def _as_written(term: Term) -> Term:
    match term:
        case ox.NamedNode(value=value) if value.startswith(_PREFIX):
            return named_node(value.removeprefix(_PREFIX))
        case ox.Literal(value=value, datatype=datatype) if datatype.value.startswith(_PREFIX):
            return ox.Literal(value, datatype=named_node(datatype.value.removeprefix(_PREFIX)))
    return term
