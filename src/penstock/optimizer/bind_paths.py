"""If a FILTER compares an end of a path with an IRI, the path starts from that IRI.

σ_{?x = iri}(P) = {(?x ↦ iri)} ⋈ P, because equal IRIs are the same term. A path starts from the values that it is
joined with (relational/paths.py), so it starts from one node, not from all. The IRI does not replace the variable: from
a constant, a path of length zero leads to itself even if the graph does not contain it (SPARQL 1.1 §18.4).
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
    """The variable and the IRI, if the condition is that they are equal."""
    match condition:
        case Apply("=" | "SAMETERM", (Variable() as variable, Constant(IRI() as iri))):
            return variable, iri
        case Apply("=" | "SAMETERM", (Constant(IRI() as iri), Variable() as variable)):
            return variable, iri
    return None
