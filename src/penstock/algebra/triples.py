"""Triples of the syntax tree as triple patterns: abbreviations and paths spelled out (SPARQL 1.1 §4.2, §18.2.2.4)."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Literal as OneOf

from penstock.algebra import paths
from penstock.algebra.expressions import Constant, Variable
from penstock.algebra.operators import (
    BasicGraphPattern,
    Join,
    Operator,
    PathPattern,
    PatternTerm,
    TriplePattern,
    Union,
)
from penstock.rdf import vocabulary
from penstock.rdf.terms import IRI
from penstock.syntax import ast

_FIRST, _REST, _NIL = (Constant(IRI(iri)) for iri in (vocabulary.RDF_FIRST, vocabulary.RDF_REST, vocabulary.RDF_NIL))


class TripleBuilder:
    """Collects the triple patterns and path patterns of one basic graph pattern; names nodes that have no name."""

    def __init__(self) -> None:
        self._hidden = 0

    def pattern(self, triples: Iterable[ast.Triples]) -> Operator:
        """The patterns joined: plain ones as one basic graph pattern, then the paths."""
        simple: list[TriplePattern] = []
        others: list[Operator] = []
        for statement in triples:
            self._statement(statement, simple, others)
        joined: Operator | None = BasicGraphPattern(tuple(simple)) if simple or not others else None
        for other in others:
            joined = other if joined is None else Join(joined, other)
        assert joined is not None
        return joined

    def template(self, triples: Iterable[ast.Triples]) -> list[TriplePattern]:
        """The triples of a CONSTRUCT template, which has no paths."""
        simple: list[TriplePattern] = []
        others: list[Operator] = []
        for statement in triples:
            self._statement(statement, simple, others)
        assert not others, "the parser allows no path in a template"
        return simple

    def template_graph(self, name: ast.Variable | ast.Constant | ast.BlankNodeLabel) -> PatternTerm:
        """The name of a graph in a CONSTRUCT template: a blank node label is the same node as in the triples."""
        return self._node(name, [], [])

    def hidden_variable(self, kind: OneOf["_:.", ".path"]) -> Variable:
        self._hidden += 1
        return Variable(f"{kind}{self._hidden}")

    def _statement(self, triples: ast.Triples, simple: list[TriplePattern], others: list[Operator]) -> None:
        subject = self._node(triples.subject, simple, others)
        self._properties(subject, triples.properties, simple, others)

    def _properties(
        self,
        subject: PatternTerm,
        properties: tuple[ast.Property, ...],
        simple: list[TriplePattern],
        others: list[Operator],
    ) -> None:
        for entry in properties:
            for node in entry.objects:
                target = self._node(node, simple, others)
                if isinstance(entry.verb, (ast.Variable, ast.Constant)):
                    simple.append(TriplePattern(subject, term(entry.verb), target))
                else:
                    self._path(subject, entry.verb, target, simple, others)

    def _node(self, node: ast.GraphNode, simple: list[TriplePattern], others: list[Operator]) -> PatternTerm:
        match node:
            case ast.BlankNodeLabel(label):
                return Variable(f"_:{label}")
            case ast.BlankNodePropertyList(properties):
                blank = self.hidden_variable("_:.")
                self._properties(blank, properties, simple, others)
                return blank
            case ast.Collection(items):
                return self._collection(items, simple, others)
            case _:
                return term(node)

    def _collection(
        self, items: tuple[ast.GraphNode, ...], simple: list[TriplePattern], others: list[Operator]
    ) -> PatternTerm:
        cells = [self.hidden_variable("_:.") for _ in items]
        for position, item in enumerate(items):
            rest: PatternTerm = cells[position + 1] if position + 1 < len(cells) else _NIL
            simple.append(TriplePattern(cells[position], _FIRST, self._node(item, simple, others)))
            simple.append(TriplePattern(cells[position], _REST, rest))
        return cells[0]

    def _path(
        self,
        subject: PatternTerm,
        path: ast.Path,
        target: PatternTerm,
        simple: list[TriplePattern],
        others: list[Operator],
    ) -> None:
        """§18.2.2.4: inverses swap, sequences join, alternatives unite; the remaining paths are path patterns."""
        match path:
            case ast.Constant():
                simple.append(TriplePattern(subject, term(path), target))
            case ast.PathInverse(inner):
                self._path(target, inner, subject, simple, others)
            case ast.PathSequence(steps):
                ends = [subject, *(self.hidden_variable(".path") for _ in steps[1:]), target]
                for step, start, end in zip(steps, ends, ends[1:], strict=False):
                    self._path(start, step, end, simple, others)
            case ast.PathAlternative(choices):
                others.append(Union.of([self._path_operator(subject, choice, target) for choice in choices]))
            case _:
                others.append(PathPattern(subject, _path_algebra(path), target))

    def _path_operator(self, subject: PatternTerm, path: ast.Path, target: PatternTerm) -> Operator:
        simple: list[TriplePattern] = []
        others: list[Operator] = []
        self._path(subject, path, target, simple, others)
        operators: list[Operator] = [BasicGraphPattern(tuple(simple))] if simple else []
        operators += others
        joined = operators[0]
        for other in operators[1:]:
            joined = Join(joined, other)
        return joined


named, _constant = lru_cache(1024)(Variable), lru_cache(1024)(Constant)
"""Equal terms share one object, because many queries repeat them."""


def term(node: ast.Variable | ast.Constant | ast.GraphNode) -> PatternTerm:
    if isinstance(node, ast.Variable):
        return named(node.name)
    if isinstance(node, ast.Constant):
        return _constant(node.term)
    raise TypeError(f"not a variable or a term: {node}")


def _path_algebra(path: ast.Path) -> paths.Path:
    match path:
        case ast.Constant():
            return paths.Link(path.text)
        case ast.PathInverse(inner):
            return paths.Inverse(_path_algebra(inner))
        case ast.PathSequence(steps):
            return paths.Sequence(tuple(_path_algebra(step) for step in steps))
        case ast.PathAlternative(choices):
            return paths.Alternative(tuple(_path_algebra(choice) for choice in choices))
        case ast.PathRepeat(inner, times):
            return paths.Repeat(_path_algebra(inner), times)
        case ast.PathNegated(predicates):
            forward = [p.text for p in predicates if isinstance(p, ast.Constant)]
            inverses = [p.path for p in predicates if isinstance(p, ast.PathInverse)]
            backward = [link.text for link in inverses if isinstance(link, ast.Constant)]
            goes_forward = bool(forward) or not backward
            return paths.NegatedSet(
                tuple(forward) if goes_forward else None, tuple(backward) if backward else None
            )  # fmt: skip
