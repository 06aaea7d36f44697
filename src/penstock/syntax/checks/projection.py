"""`(… AS ?v)` in SELECT and GROUP BY: the variable must be new (SPARQL 1.1 §18.2.1 and §19.8, note 11)."""

from __future__ import annotations

from collections.abc import Iterator

from penstock.syntax import ast
from penstock.syntax.checks.facts import Facts, Level
from penstock.syntax.errors import Problem

_RENAME = "give the result another name"


def check_projection(query: ast.Query, facts: Facts) -> Iterator[Problem]:
    for level in facts.levels:
        named_keys: set[str] = set()
        if level.keys:
            yield from _check_keys(level, named_keys)
        if level.projections:
            yield from _check_projections(level, named_keys)
            if not level.grouped:
                yield from _check_order(level)


def _check_keys(level: Level, named_keys: set[str]) -> Iterator[Problem]:
    for condition, _ in level.keys:
        if (variable := condition.variable) is None:
            continue
        if variable.name in level.scope:
            yield _in_scope(variable, "GROUP BY")
        elif variable.name in named_keys:
            yield Problem(f"GROUP BY assigns ?{variable.name} twice", variable.span, _RENAME)
        named_keys.add(variable.name)


def _check_projections(level: Level, named_keys: set[str]) -> Iterator[Problem]:
    plain: set[str] = set()
    assigned: set[str] = set()
    for projection, mentions in level.projections:
        variable = projection.variable
        if mentions is None:
            if variable.name in assigned:
                yield _twice(variable)
            plain.add(variable.name)
            continue
        if variable.name in level.scope or variable.name in named_keys:
            yield _in_scope(variable, "SELECT")
        elif variable.name in assigned or variable.name in plain:
            yield _twice(variable)
        assigned.add(variable.name)


def _check_order(level: Level) -> Iterator[Problem]:
    """`(… AS ?v)` may be used by the expressions after it, and only by those (§18.2.1)."""
    to_come = {projection.variable.name for projection, mentions in level.projections if mentions is not None}
    to_come -= level.scope.keys()
    for projection, mentions in level.projections:
        if mentions is not None:
            for variable in mentions.variables:
                if variable.name in to_come:
                    yield Problem(
                        f"?{variable.name} is used before it is assigned",
                        variable.span,
                        f"move (… AS ?{variable.name}) to the front",
                        "warning",
                    )
            to_come.discard(projection.variable.name)


def _in_scope(variable: ast.Variable, place: str) -> Problem:
    return Problem(
        f"?{variable.name} is already in scope, and {place} (… AS ?{variable.name}) can only assign a new variable",
        variable.span,
        _RENAME,
    )


def _twice(variable: ast.Variable) -> Problem:
    return Problem(f"?{variable.name} is projected twice", variable.span, f"drop one of them, or {_RENAME}")
