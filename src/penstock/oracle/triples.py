"""Triples of the syntax tree one by one, blank nodes as variables: the units for counts in bags and for timestamps."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass

from pyoxigraph import BlankNode, Literal, NamedNode, Triple

from penstock.rdf import terms, vocabulary
from penstock.rdf.conversion import oxigraph_term
from penstock.syntax import ast

Node = ast.Variable | ast.Constant


@dataclass(frozen=True, slots=True)
class SinglePattern:
    """Subject, verb (which may be a path) and object."""

    subject: Node
    verb: ast.Verb
    object: Node

    def matches(self, triple: Triple) -> bool:
        """Whether the triple matches this pattern by itself; a path counts every triple."""
        if not isinstance(self.verb, (ast.Variable, ast.Constant)):
            return True
        bound: dict[str, object] = {}
        parts = ((self.subject, triple.subject), (self.verb, triple.predicate), (self.object, triple.object))
        return all(_matches(node, value, bound) for node, value in parts)

    @property
    def variables(self) -> frozenset[str]:
        nodes = (self.subject, self.verb, self.object)
        return frozenset(node.name for node in nodes if isinstance(node, ast.Variable))

    @property
    def matched(self) -> tuple[Hashable, ...]:
        """The pattern without the names of its variables: two patterns with the same matches are equal in this form."""
        names: dict[str, int] = {}
        nodes = (self.subject, self.verb, self.object)
        return tuple(names.setdefault(n.name, len(names)) if isinstance(n, ast.Variable) else n for n in nodes)

    def triples(self) -> ast.Triples:
        return ast.Triples(self.subject, (ast.Property(self.verb, (self.object,)),))


def _matches(node: Node, value: NamedNode | BlankNode | Literal | Triple, bound: dict[str, object]) -> bool:
    if isinstance(node, ast.Constant):
        return oxigraph_term(node.term) == value
    return bound.setdefault(node.name, value) == value


class SinglePatterns:
    """Spells out `;`, `,`, `[…]` and `(…)`; the variables it makes up begin with `oracle_`."""

    def __init__(self) -> None:
        self._made_up = 0

    def of(self, triples: ast.Triples) -> Iterator[SinglePattern]:
        nested: list[SinglePattern] = []
        subject = self._node(triples.subject, nested)
        yield from nested
        yield from self._properties(subject, triples.properties)

    def new_variable(self) -> ast.Variable:
        self._made_up += 1
        return ast.Variable(f"oracle_{self._made_up}")

    def _properties(self, subject: Node, properties: tuple[ast.Property, ...]) -> Iterator[SinglePattern]:
        for entry in properties:
            for node in entry.objects:
                nested: list[SinglePattern] = []
                target = self._node(node, nested)
                yield SinglePattern(subject, entry.verb, target)
                yield from nested

    def _node(self, node: ast.GraphNode, nested: list[SinglePattern]) -> Node:
        match node:
            case ast.Variable() | ast.Constant():
                return node
            case ast.BlankNodeLabel(label):
                return ast.Variable(f"oracle_blank_{label.replace('-', '_').replace('.', '_')}")
            case ast.BlankNodePropertyList(properties):
                blank = self.new_variable()
                nested.extend(self._properties(blank, properties))
                return blank
            case ast.Collection(items):
                cells = [self.new_variable() for _ in items]
                for position, item in enumerate(items):
                    rest = cells[position + 1] if position + 1 < len(cells) else _iri(vocabulary.RDF_NIL)
                    nested.append(
                        SinglePattern(cells[position], _iri(vocabulary.RDF_FIRST), self._node(item, nested))
                    )  # fmt: skip
                    nested.append(SinglePattern(cells[position], _iri(vocabulary.RDF_REST), rest))
                return cells[0]


def _iri(iri: str) -> ast.Constant:
    return ast.Constant(terms.IRI(iri))
