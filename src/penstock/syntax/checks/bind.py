"""BIND: its variable must be new in its group (SPARQL 1.1 §10.1 and §19.8, note 12)."""

from __future__ import annotations

from collections.abc import Iterator

from penstock.syntax import ast
from penstock.syntax.checks.facts import Facts
from penstock.syntax.errors import Problem


def check_bind(query: ast.Query, facts: Facts) -> Iterator[Problem]:
    for variable in facts.rebound:
        yield Problem(
            f"?{variable.name} is already in scope before this BIND, which can only assign a new variable",
            variable.span,
            f"give the result another name, or compare with FILTER (?{variable.name} = …)",
        )
