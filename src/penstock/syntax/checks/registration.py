"""REGISTER STREAM is for queries whose results other queries can read (semantics.md §7)."""

from __future__ import annotations

from collections.abc import Iterator

from penstock.syntax import ast
from penstock.syntax.checks.facts import Facts
from penstock.syntax.errors import Problem

_SOLUTIONS = {ast.Select: "SELECT", ast.Ask: "ASK"}


def check_registration(query: ast.Query, facts: Facts) -> Iterator[Problem]:
    register = query.register
    if register is None:
        return
    if register.every is not None and register.every <= 0:
        yield Problem(
            "a query cannot be computed every 0 ms", register.span, "write a positive duration after COMPUTED EVERY"
        )
    form = _SOLUTIONS.get(type(query.form))
    if register.kind == "stream" and form is not None and not _names_its_operator(query):
        yield Problem(
            f"{form} produces a stream of solutions; only CONSTRUCT and DESCRIBE produce an RDF stream that other "
            "queries can read",
            register.span,
            "write REGISTER QUERY, or CONSTRUCT { … } for a stream of triples",
            "warning",
        )


def _names_its_operator(query: ast.Query) -> bool:
    """RSP-QL has no REGISTER QUERY: with `REGISTER RSTREAM … AS SELECT` its author asks for solutions knowingly."""
    return query.dialect == "rspql" and query.operator is not None
