"""What is known of variables before there is data."""

from __future__ import annotations

import pytest

from penstock.algebra.building import build_expression
from penstock.algebra.operators import Filter, Operator
from penstock.relational.kinds import kinds_of
from penstock.syntax.query_reader import parse

CASES = [
    ("?x ?p ?o", "x resource, p resource"),
    ("?x :p ?o . ?o :q ?y", "x resource, o resource"),
    ("?x :p ?o OPTIONAL { ?o :q ?y }", "x resource"),
    ("OPTIONAL { ?o :q ?y } ?x :p ?o", "x resource"),
    ("OPTIONAL { ?o :q ?y } OPTIONAL { ?o :p ?x }", "o resource"),
    ("{ ?x :p ?o } UNION { ?x :q ?x }", "x resource"),
    ("{ ?x :p ?o } UNION { ?o :q ?x }", ""),
    ("?x :p+ ?y", "x resource"),
    ("?x ^:p+ ?y", "y resource"),
    ("?x :p* ?y", ""),
    ("?x (:p/:q?)+ ?y", "x resource"),
    ("?x (:p|^:q)+ ?y", ""),
    ("?x !(:p) ?y", "x resource"),
    ("?x !(:p|^:q) ?y", ""),
    ("GRAPH ?g { ?x :p ?o }", "g resource, x resource"),
    ("GRAPH ?g { OPTIONAL { ?x :p ?o } }", "g resource"),
    ("?x :p ?o MINUS { ?o :q ?y }", "x resource"),
    ("VALUES (?x ?y ?z) { (:a 1 1) (UNDEF 2.5 :b) }", "x resource, y number"),
    ("?x :p ?o BIND (STRLEN(?o) AS ?y) BIND (?y + ?o AS ?z)", "x resource, y number i, z number"),
    ("?x :p ?o BIND (?x AS ?y) BIND (COALESCE(?x, :a) AS ?z)", "x resource, y resource, z resource"),
    ("?x :p ?o BIND (IF(?o, 1, 2.5) AS ?y) BIND (?o > 1 AS ?z)", "x resource, y number, z boolean"),
    ("{ SELECT ?x (COUNT(*) AS ?c) (MAX(?x) AS ?m) { ?x :p ?o } GROUP BY ?x }", "x resource, c number i, m resource"),
    ("{ SELECT (SUM(?o) AS ?s) (SAMPLE(?o) AS ?y) { ?x :p ?o } }", "s number"),
]


def pattern(text: str) -> Operator:
    operator = build_expression(parse(f"PREFIX : <http://e/> SELECT * {{ {text} FILTER (?here) }}"))
    while not isinstance(operator, Filter):
        [operator] = operator.children
    return operator.source


def shown(text: str, *, is_asked: bool = False) -> str:
    kinds = kinds_of(pattern(text), is_asked=is_asked)
    visible = {variable: kind for variable, kind in kinds.items() if variable.is_visible and kind.family}
    return ", ".join(f"{variable.name} {kind.family} {kind.tag or ''}".strip() for variable, kind in visible.items())


@pytest.mark.parametrize(("text", "expected"), CASES)
def test_kinds(text: str, expected: str) -> None:
    assert sorted(shown(text).split(", ")) == sorted(expected.split(", "))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("?x :p ?o OPTIONAL { ?y :q ?z }", "x resource"),
        ("{ ?x :p ?o } UNION { ?y :p ?o }", ""),
        ("?o :p ?x BIND (STRLEN(?x) AS ?y)", "o resource"),
    ],
)
def test_in_an_exists_only_what_is_certain_is_known(text: str, expected: str) -> None:
    assert shown(text, is_asked=True) == expected
