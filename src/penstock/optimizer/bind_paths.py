"""A path starts from the IRI that an end of it is compared with.

σ_{?x = iri}(P) = {(?x ↦ iri)} ⋈ P: of IRIs, equal ones are the same term. A path walks from the values that it is
joined with (relational/paths.py), and so from one node, instead of from all. The IRI is not put in the place of the
variable: from a constant a path of no step leads to itself even where the graph does not have it (SPARQL 1.1 §18.4).
"""

from __future__ import annotations

from penstock.algebra.expressions import Apply, Constant, Expression, Variable, conjuncts
from penstock.algebra.operators import Filter, Join, Operator, PathPattern, Table
from penstock.algebra.paths import Repeat
from penstock.optimizer.knowledge import Knowledge
from penstock.optimizer.rewriting import filtered, from_the_leaves
from penstock.rdf.terms import IRI


def bind_paths(operator: Operator, knowledge: Knowledge) -> Operator:
    return from_the_leaves(operator, _bound)


def _bound(operator: Operator) -> Operator:
    match operator:
        case Filter(condition, PathPattern(Variable() as subject, Repeat(), Variable() as target) as pattern):
            for part in conjuncts(condition):
                compared = _compared(part)
                if compared is not None and compared[0] in (subject, target):
                    variable, iri = compared
                    rest = [other for other in conjuncts(condition) if other is not part]
                    return filtered(Join(Table((variable,), ((iri,),)), pattern), rest)
    return operator


def _compared(condition: Expression) -> tuple[Variable, IRI] | None:
    """The variable that is compared with an IRI, and the IRI, where the condition is that they are equal."""
    match condition:
        case Apply("=" | "SAMETERM", (Variable() as variable, Constant(IRI() as iri))):
            return variable, iri
        case Apply("=" | "SAMETERM", (Constant(IRI() as iri), Variable() as variable)):
            return variable, iri
    return None
