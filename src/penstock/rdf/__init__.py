"""RDF terms, IRIs and instants: what every other room of the house stands on."""

from penstock.rdf.terms import IRI, BlankNode, Literal, Term

__all__ = ["IRI", "BlankNode", "Literal", "Term"]
