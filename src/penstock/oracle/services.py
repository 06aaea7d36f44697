"""The answer of a service as a graph in the oracle's store: a resource for each solution, and what that binds.

    { ?a → <x>, ?b → 1 }   becomes   <…:0> :binds:0 <…:0> ; :column:a <x> ; :column:b 1

The property `:binds:n` stands for the variables that the solution binds, which are not the same in all of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pyoxigraph as ox

from penstock.algebra.services import ServiceCall
from penstock.rdf.elements import Row
from penstock.rdf.terms import IRI
from penstock.syntax import ast


@dataclass(frozen=True, slots=True)
class DescribedAnswer:
    """The triples, and the sets of variables that solutions bind."""

    triples: tuple[ox.Triple, ...]
    bound: tuple[tuple[str, ...], ...]

    def pattern(self, row: ast.Variable) -> ast.Group:
        """The pattern that finds the solutions: a UNION with one side for each set of variables."""
        sides = [
            ast.Group((ast.Triples(row, (ast.Property(_binds(number), (row,)), *map(_bound, variables))),))
            for number, variables in enumerate(self.bound)
        ]
        return ast.Group((ast.Union(tuple(sides)),)) if len(sides) > 1 else sides[0]


def described(call: ServiceCall, rows: Sequence[Row]) -> DescribedAnswer:
    triples: list[ox.Triple] = []
    bound: dict[tuple[str, ...], int] = {}
    for number, row in enumerate(rows):
        solution = ox.NamedNode(f"urn:oracle:row:{number}")
        terms = {variable: term for variable, term in zip(call.variables, row, strict=True) if term is not None}
        kind = bound.setdefault(tuple(terms), len(bound))
        triples.append(ox.Triple(solution, ox.NamedNode(_binds(kind).text), solution))
        triples += (ox.Triple(solution, ox.NamedNode(_column(name).text), term) for name, term in terms.items())
    return DescribedAnswer(tuple(triples), tuple(bound))


def _binds(number: int) -> ast.Constant:
    return ast.Constant(IRI(f"urn:oracle:binds:{number}"))


def _column(variable: str) -> ast.Constant:
    return ast.Constant(IRI(f"urn:oracle:column:{variable}"))


def _bound(variable: str) -> ast.Property:
    return ast.Property(_column(variable), (ast.Variable(variable),))
