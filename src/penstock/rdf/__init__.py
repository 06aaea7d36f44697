"""RDF terms, IRIs, instants and RDF formats. All other rooms of the package build on this one."""

from penstock.rdf.terms import IRI, BlankNode, Literal, Term

__all__ = ["IRI", "BlankNode", "Literal", "Term"]
