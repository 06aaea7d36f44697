"""Triples with their abbreviations (SPARQL 1.1 grammar rules 52 and 75 to 109)."""

from __future__ import annotations

from penstock.rdf import vocabulary
from penstock.rdf.terms import IRI
from penstock.syntax import ast
from penstock.syntax.parser.expressions import ExpressionRules

_TERM_KINDS = frozenset(("var", "iri", "pname", "str", "int", "dec", "dbl", "bnode", "TRUE", "FALSE", "(", "["))
_NIL = IRI(vocabulary.RDF_NIL)


class TripleRules(ExpressionRules):
    in_template = False
    """In a CONSTRUCT template a verb is an IRI or a variable, never a path."""

    def at_triples(self) -> bool:
        return self.kinds[self.position] in _TERM_KINDS or self.at_signed_number()

    def triples_same_subject(self) -> ast.Triples:
        """Rules 75 and 81: TriplesSameSubject, TriplesSameSubjectPath."""
        start = self.position
        subject = self.graph_node("a subject")
        if isinstance(subject, (ast.BlankNodePropertyList, ast.Collection)) and not self._at_verb():
            properties: tuple[ast.Property, ...] = ()
            if isinstance(subject, ast.BlankNodePropertyList) and not subject.properties:
                self.fail("a predicate after []")
        else:
            properties = self.property_list()
        return ast.Triples(subject, properties, span=self.span_from(start))

    def _at_verb(self) -> bool:
        kind = self.kinds[self.position]
        return kind in ("var", "iri", "pname", "^", "!", "(") or self.texts[self.position] == "a"

    def property_list(self) -> tuple[ast.Property, ...]:
        """Rules 77 and 83: PropertyListNotEmpty, PropertyListPathNotEmpty."""
        properties = [self._property()]
        while self.accept(";"):
            if self._at_verb():
                properties.append(self._property())
            elif self.kind not in (";", ".", "}", "]", ")", "eof") and self.kind not in self.element_keywords:
                self.fail("a predicate, or the end of the property list, after `;`")
        return tuple(properties)

    element_keywords: frozenset[str] = frozenset()
    """The words that begin another element of a group."""

    def _property(self) -> ast.Property:
        start = self.position
        verb = self._template_verb() if self.in_template else self.verb()
        if self.kind == "{":
            self.fail("an object", "SPARQL 1.1 has no counted paths; :p{2} is :p/:p, and :p{0,1} is :p?")
        objects = [self.graph_node("an object")]
        while self.accept(","):
            objects.append(self.graph_node("an object after `,`"))
        return ast.Property(verb, tuple(objects), span=self.span_from(start))

    def _template_verb(self) -> ast.Variable | ast.Constant:
        """Rule 78: Verb."""
        return self.variable() if self.kind == "var" else self.predicate()

    def graph_node(self, purpose: str) -> ast.GraphNode:
        """Rules 98 to 109: GraphNode, VarOrTerm, TriplesNode, Collection, BlankNodePropertyList."""
        kind = self.kinds[self.position]
        if kind == "var":
            return self.variable()
        if kind in ("pname", "iri"):
            return self.iri()
        if kind == "str":
            return self.literal()
        if kind == "bnode":
            position = self.position
            self.position += 1
            return ast.BlankNodeLabel(self.texts[position][2:], span=self.tokens.span(position))
        if kind == "[":
            return self._blank_node_property_list()
        if kind == "(":
            return self._collection()
        if kind in ("TRUE", "FALSE"):
            return self.boolean()
        if self.at_number():
            return self.number()
        self.fail_term(f"{purpose}: a variable, an IRI, a literal or a blank node")

    def _blank_node_property_list(self) -> ast.BlankNodePropertyList:
        """Rule 99, and ANON."""
        start = self.position
        self.enter()
        self.position += 1
        properties = () if self.kind == "]" else self.property_list()
        self.expect("]", "to close the blank node")
        self.leave()
        return ast.BlankNodePropertyList(properties, span=self.span_from(start))

    def _collection(self) -> ast.Collection | ast.Constant:
        """Rule 102; NIL is the constant rdf:nil."""
        start = self.position
        self.enter()
        self.position += 1
        items: list[ast.GraphNode] = []
        while self.kind != ")":
            items.append(self.graph_node("a list item or `)`"))
        self.position += 1
        self.leave()
        span = self.span_from(start)
        return ast.Collection(tuple(items), span=span) if items else ast.Constant(_NIL, span=span)

    def triples_template(self) -> list[ast.Triples]:
        """Rule 52: TriplesTemplate, up to the first token that is not a triple."""
        triples: list[ast.Triples] = []
        while self.at_triples():
            triples.append(self.triples_same_subject())
            if not self.accept("."):
                break
        return triples
