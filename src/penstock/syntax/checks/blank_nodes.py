"""Blank node labels: each belongs to one basic graph pattern (SPARQL 1.1 §5.1.1 and §19.6)."""

from __future__ import annotations

from collections.abc import Iterator

from penstock.syntax import ast
from penstock.syntax.checks.facts import Facts
from penstock.syntax.errors import Problem


def check_blank_nodes(query: ast.Query, facts: Facts) -> Iterator[Problem]:
    for node in facts.reused_labels:
        yield Problem(
            f"the blank node _:{node.label} occurs in another basic graph pattern too, and a label cannot join two",
            node.span,
            f"write a variable in both places, such as ?{node.label}; or another label, if another node is meant",
        )
