"""CONSTRUCT templates filled in (SPARQL 1.1 §16.2), and descriptions of resources (§16.4)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import pyoxigraph as ox

from penstock.algebra.expressions import Constant, Variable
from penstock.algebra.model import ConstructForm, DescribeForm, QueryForm
from penstock.algebra.operators import PatternTerm
from penstock.rdf.conversion import oxigraph_term

Term = ox.NamedNode | ox.BlankNode | ox.Literal | ox.Triple
Solution = Mapping[str, Term | None]


def instantiate(form: ConstructForm, solutions: Iterable[Solution]) -> tuple[ox.Triple | ox.Quad, ...]:
    """The template once per solution, as a set; a triple with an unbound or misplaced term is left out."""
    made: dict[ox.Triple | ox.Quad, None] = {}
    for solution in solutions:
        blanks: dict[str, ox.BlankNode] = {}
        for pattern, graph in form.template:
            parts = [_value(part, solution, blanks) for part in (pattern.subject, pattern.predicate, pattern.object)]
            triple = _triple(*parts)
            if triple is None:
                continue
            if graph is None:
                made[triple] = None
                continue
            name = _value(graph, solution, blanks)
            if isinstance(name, (ox.NamedNode, ox.BlankNode)):
                made[ox.Quad(triple.subject, triple.predicate, triple.object, name)] = None
    return tuple(made)


def _value(part: PatternTerm, solution: Solution, blanks: dict[str, ox.BlankNode]) -> Term | None:
    if isinstance(part, Constant):
        return oxigraph_term(part.term)
    if not part.is_visible:  # a blank node of the template: a new one for each solution
        return blanks.setdefault(part.name, ox.BlankNode())
    return solution.get(part.name)


def _triple(subject: Term | None, predicate: Term | None, target: Term | None) -> ox.Triple | None:
    if not isinstance(subject, (ox.NamedNode, ox.BlankNode)) or not isinstance(predicate, ox.NamedNode):
        return None
    return None if target is None else ox.Triple(subject, predicate, target)


def described(form: QueryForm, solutions: Sequence[Solution], triples: Sequence[ox.Triple]) -> tuple[ox.Triple, ...]:
    """The concise bounded description of each resource in the whole dataset.

    It contains all triples with the resource as subject. If the object is a blank node, it contains the description of
    that node, too.
    """
    assert isinstance(form, DescribeForm)
    pending: list[Term | None] = []
    for resource in form.resources:
        if isinstance(resource, Variable):
            pending += (solution.get(resource.name) for solution in solutions)
        elif solutions:
            pending.append(oxigraph_term(resource.term))
    by_subject: dict[Term, list[ox.Triple]] = {}
    for triple in triples:
        by_subject.setdefault(triple.subject, []).append(triple)
    seen: set[Term] = set()
    found: dict[ox.Triple, None] = {}
    while pending:
        resource_term = pending.pop()
        if resource_term is None or resource_term in seen:
            continue
        seen.add(resource_term)
        for triple in by_subject.get(resource_term, ()):
            found[triple] = None
            if isinstance(triple.object, ox.BlankNode):
                pending.append(triple.object)
    return tuple(found)
