"""Aggregates over terms (SPARQL 1.1 §18.5.1): DISTINCT compares terms, COUNT passes over errors.

The store's engine compares values instead, and leaves COUNT unbound where its argument is an error for any solution. So
the oracle collects the terms of a group itself and has the engine compute with their values.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import pyoxigraph as ox

from penstock.oracle import stored_terms
from penstock.oracle.ordering import greatest
from penstock.rdf.elements import Node
from penstock.rdf.terms import IRI
from penstock.syntax import ast

ERROR = ox.NamedNode("urn:oracle:error")
"""Stands for an argument that is an error."""


class Group:
    """Collects the terms of one group for one aggregate."""

    def __init__(self, name: str, is_distinct: bool, separator: str) -> None:
        self.name = name
        self.is_distinct = is_distinct
        self.separator = separator
        self.terms: list[Node] = []

    def accumulate(self, element: Node | ox.Triple) -> None:
        assert not isinstance(element, ox.Triple)
        self.terms.append(element)

    def finish(self) -> Node | None:
        terms = list(dict.fromkeys(self.terms)) if self.is_distinct else self.terms
        if self.name == "COUNT":
            return ox.Literal(sum(term != ERROR for term in terms))
        if ERROR in terms:
            return None
        if self.name == "GROUP_CONCAT":
            return _concatenated(terms, self.separator)
        if self.name == "SAMPLE":
            return terms[0] if terms else None
        if self.name in ("MIN", "MAX"):
            return greatest(terms, least=self.name == "MIN")
        return _of_values(self.name, terms)


def _concatenated(terms: Sequence[Node], separator: str) -> Node | None:
    """The strings of the terms; a blank node has none."""
    if any(isinstance(term, ox.BlankNode) for term in terms):
        return None
    return ox.Literal(separator.join(stored_terms.original(term).value for term in terms))


def _of_values(name: str, terms: Sequence[Node]) -> Node | None:
    """What the store's engine makes of the values."""
    store = ox.Store()
    kept = ox.NamedNode("urn:oracle:value")
    store.bulk_extend(
        ox.Quad(ox.NamedNode(f"urn:oracle:value:{number}"), kept, stored_terms.value(term))
        for number, term in enumerate(terms)
    )
    found = store.query(f"SELECT ({name}(?value) AS ?found) {{ ?number {kept} ?value }}")
    assert isinstance(found, ox.QuerySolutions)
    (solution,) = found
    result: Node | None = solution["found"]
    return result


class Aggregates:
    """The aggregates of one query, as functions that the store's engine can call."""

    def __init__(self) -> None:
        self.functions: dict[ox.NamedNode, Callable[[], ox.AggregateFunctionAccumulator]] = {}

    def call(self, aggregate: ast.Aggregate, argument: ast.Expression) -> ast.FunctionCall:
        """The aggregate; `argument` is a term as it is stored."""
        separator = " " if aggregate.separator is None else aggregate.separator
        function = ox.NamedNode(f"urn:oracle:aggregate:{len(self.functions)}")
        self.functions[function] = partial(Group, aggregate.name, aggregate.distinct, separator)
        term = ast.Call("COALESCE", (argument, ast.Constant(IRI(ERROR.value))))
        return ast.FunctionCall(ast.Constant(IRI(function.value)), (term,))
