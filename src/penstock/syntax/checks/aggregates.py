"""Aggregates: where they are allowed, and which arguments they need (SPARQL 1.1 §11 and §19.8, note 13)."""

from __future__ import annotations

from collections.abc import Iterator

from penstock.syntax import ast
from penstock.syntax.checks.facts import Facts
from penstock.syntax.errors import Problem

_REPAIRS = {
    "FILTER": "conditions on groups belong in HAVING, after GROUP BY",
    "BIND": "assign it in the projection, as in SELECT ({name}(…) AS ?x), or in a sub-select",
    "GROUP BY": "compute it in a sub-select first",
    "the FILTER of AGGREGATE": "write a clause (?x, {name}(…), {{…}}) of its own and compare ?x",
}
_NESTED = "compute {name} in a sub-select first"


def check_aggregates(query: ast.Query, facts: Facts) -> Iterator[Problem]:
    for aggregate, place in facts.misplaced:
        yield Problem(
            f"the aggregate {aggregate.name} cannot stand in {place}",
            aggregate.span,
            _REPAIRS.get(place, _NESTED).format(name=aggregate.name),
        )
    for aggregate in facts.aggregates:
        if aggregate.argument is None and aggregate.name != "COUNT":
            yield Problem(
                f"{aggregate.name} needs an argument; only COUNT can do without",
                aggregate.span,
                f"write what to aggregate: {aggregate.name}(?x)",
            )
