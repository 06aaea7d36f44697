"""ORDER BY (SPARQL 1.1 §15.1): the sort keys of a term.

Unbound is first, then blank nodes, IRIs and literals. Terms with one value (1 and 1.0) are equal, so that the next
condition decides. Where SPARQL leaves the order open, literals are sorted by kind.
"""

from __future__ import annotations

from sqlglot import exp

from penstock.relational.functions.calls import applied
from penstock.relational.functions.families import INTEGER, UNKNOWN, Kind


def order_key(term: exp.Expr, kind: Kind = UNKNOWN) -> list[exp.Expr]:
    """The sort keys of a term; they are NULL for an unbound variable, which is first."""
    if kind.family in ("resource", "string"):
        return [term]
    if kind == INTEGER:
        return [
            exp.TryCast(this=exp.Substring(this=term, start=exp.Literal.number(2)), to=exp.DataType.build("INT128"))
        ]
    return [applied("sparql_order_key", term)]
