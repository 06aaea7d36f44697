"""ORDER BY (SPARQL 1.1 §15.1): what to sort a term by.

Unbound comes first, then blank nodes, IRIs and literals. Terms with one value (1 and 1.0) are equal, so that the next
condition decides; where SPARQL leaves the order open, kinds of literals come one after the other.
"""

from __future__ import annotations

from sqlglot import exp

from penstock.relational.functions.calls import applied


def order_key(term: exp.Expr) -> list[exp.Expr]:
    """The expressions to sort by, for a term: one, a structure that is never NULL and compares part by part."""
    return [applied("sparql_order_key", term)]
