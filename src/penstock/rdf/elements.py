"""Stream elements (semantics.md §2), malformed input, statements and solutions."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from pyoxigraph import BlankNode, Literal, NamedNode, Triple

Node = NamedNode | BlankNode | Literal
"""A term of RDF 1.1."""

GraphName = NamedNode | BlankNode

Row = tuple[Node | None, ...]
"""A solution: a term for each variable, or None if it is unbound."""


class Element(NamedTuple):
    """Triples that arrive together: one line of `.tnt`, a named graph, a snapshot.

    `time` is in milliseconds since 1970; `graph` is the name of the graph, if it has one. A graph is a set: it contains
    no triple twice.
    """

    time: int
    triples: tuple[Triple, ...]
    graph: GraphName | None = None


class Malformed(NamedTuple):
    """Malformed input: its position (`file:line`), its text, and the reason as a sentence."""

    place: str
    text: str
    reason: str


OnMalformed = Callable[[Malformed], None]


class Statement(NamedTuple):
    """A triple and the named graph that it is in; None is the default graph."""

    graph: GraphName | None
    triple: Triple
