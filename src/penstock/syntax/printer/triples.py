"""Triples with their abbreviations `;`, `,`, `[…]` and `(…)` (SPARQL 1.1 §4.2, from TriplesSameSubjectPath on)."""

from __future__ import annotations

from collections.abc import Sequence

from penstock.rdf import vocabulary
from penstock.rdf.terms import IRI, Literal
from penstock.syntax import ast
from penstock.syntax.printer.layout import indented
from penstock.syntax.printer.paths import PathPrinter

_RDF_NIL = IRI(vocabulary.RDF_NIL)


class TriplesPrinter(PathPrinter):
    def triples(self, triples: ast.Triples) -> str:
        """TriplesSameSubject, TriplesSameSubjectPath: one property a line"""
        subject = self.graph_node(triples.subject)
        if not triples.properties:
            self._check_stands_alone(triples.subject)
            return f"{subject} ."
        first, *others = map(self._property, triples.properties)
        return " ;\n".join([f"{subject} {first}", *map(indented, others)]) + " ."

    def graph_node(self, node: ast.GraphNode) -> str:
        """GraphNodePath"""
        match node:
            case ast.Variable():
                return self.variable(node)
            case ast.Constant(Literal(lexical) as literal) if lexical.startswith("+"):
                # After a predicate some parsers, Oxigraph among them, read `:p +1` as the path `:p+` to 1.
                return self.quoted_literal(literal)
            case ast.Constant(term):
                return "()" if term == _RDF_NIL else self.constant(node)
            case ast.BlankNodeLabel(label):
                return f"_:{label}"
            case ast.BlankNodePropertyList(properties):
                return f"[ {self._properties(properties)} ]" if properties else "[]"
            case ast.Collection(items):
                return f"( {' '.join(map(self.graph_node, items))} )"

    def _properties(self, properties: Sequence[ast.Property]) -> str:
        """PropertyListPathNotEmpty on one line"""
        return " ; ".join(map(self._property, properties))

    def _property(self, property: ast.Property) -> str:
        """VerbPath ObjectListPath"""
        return f"{self.verb(property.verb)} {', '.join(map(self.graph_node, property.objects))}"

    def _check_stands_alone(self, subject: ast.GraphNode) -> None:
        match subject:
            case ast.Collection() | ast.BlankNodePropertyList(properties=(_, *_)):
                return
            case _:
                raise self.cannot("a subject without properties that is neither '[ … ]' nor '( … )'")
