"""Terms as the oracle's store gives them back: it keeps the value of a number or a date, not how it was written.

`2.50` comes back as `2.5`, so that an answer which says 2.50 is compared as 2.5.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

from pyoxigraph import Literal, NamedNode, Quad, Store, Triple

from penstock.rdf.elements import Node
from penstock.rdf.results import Evaluation

_ANY = NamedNode("urn:oracle:any")


def as_stored(evaluation: Evaluation) -> Evaluation:
    """The evaluation with its terms as the store would have them."""
    if evaluation.rows is not None:
        return replace(evaluation, rows=tuple(tuple(map(_stored, row)) for row in evaluation.rows))
    if evaluation.triples is not None:
        return replace(evaluation, triples=tuple(map(_stored_triple, evaluation.triples)))
    return evaluation


def _stored(term: Node | None) -> Node | None:
    return _read_back(term) if isinstance(term, Literal) else term


def _stored_triple(triple: Triple | Quad) -> Triple | Quad:
    if not isinstance(triple.object, Literal):
        return triple
    target = _read_back(triple.object)
    if isinstance(triple, Quad):
        return Quad(triple.subject, triple.predicate, target, triple.graph_name)
    return Triple(triple.subject, triple.predicate, target)


@lru_cache(maxsize=1 << 14)
def _read_back(term: Literal) -> Literal:
    store = Store()
    store.add(Quad(_ANY, _ANY, term))
    (quad,) = store
    assert isinstance(quad.object, Literal)
    return quad.object
