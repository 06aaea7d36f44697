"""The base of all nodes, and the nodes of an RDF graph: variables, terms, `[…]` and `(…)`."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from penstock.rdf.terms import IRI, Literal
from penstock.syntax.spans import NOWHERE, Span

if TYPE_CHECKING:
    from penstock.syntax.ast.patterns import Property


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Variable(Node):
    """`?name` or `$name`; the name does not include the mark."""

    name: str


@dataclass(frozen=True, slots=True)
class Constant(Node):
    """An IRI or a literal. Prefixed and relative names are resolved; the printer shortens them again."""

    term: IRI | Literal

    @property
    def text(self) -> str:
        """The IRI itself, or the literal's lexical form."""
        return self.term[0]


@dataclass(frozen=True, slots=True)
class BlankNodeLabel(Node):
    """`_:label`. In a pattern it acts as a variable that cannot be projected."""

    label: str


@dataclass(frozen=True, slots=True)
class BlankNodePropertyList(Node):
    """`[ :p :o ; … ]`, and `[]` without properties."""

    properties: tuple[Property, ...]


@dataclass(frozen=True, slots=True)
class Collection(Node):
    """`( a b c )`: an RDF list. The empty one, `()`, is the constant rdf:nil."""

    items: tuple[GraphNode, ...]


GraphNode = Variable | Constant | BlankNodeLabel | BlankNodePropertyList | Collection
