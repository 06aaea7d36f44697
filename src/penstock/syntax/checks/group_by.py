"""GROUP BY: outside of aggregates, only the keys of a group can be used (SPARQL 1.1 §11.4).

A query groups if it has GROUP BY, HAVING, or an aggregate in its projection or ORDER BY.
"""

from __future__ import annotations

from collections.abc import Iterator

from penstock.syntax import ast
from penstock.syntax.checks.facts import Facts, Level, Mentions
from penstock.syntax.errors import Problem
from penstock.syntax.suggestions import did_you_mean


def check_group_by(query: ast.Query, facts: Facts) -> Iterator[Problem]:
    for level in facts.levels:
        if level.grouped:
            yield from _check_level(level)


def _check_level(level: Level) -> Iterator[Problem]:
    if isinstance(level.form, ast.Select) and level.form.projections is None:
        yield Problem(
            "SELECT * cannot be used in a query that groups",
            level.form.span,
            "list what to project: the variables of GROUP BY, and aggregates as (COUNT(?x) AS ?n)",
        )
    keys = level.key_names()
    told: set[str] = set()
    for variable in _ungrouped(level, keys):
        if variable.name not in told:
            told.add(variable.name)
            yield _problem(variable, level, keys)


def _ungrouped(level: Level, keys: set[str]) -> Iterator[ast.Variable]:
    """Variables outside of aggregates that are not keys. ORDER BY sees variables that the projection assigns; HAVING
    does not (the parser has replaced them by their expressions)."""
    known = set(keys)
    assigned = _assigned(level)
    for projection, mentions in level.projections:
        if mentions is not None:
            yield from _missing(mentions, known)
            known.add(projection.variable.name)
        elif projection.variable.name not in known | assigned:
            yield projection.variable
    for mentions in level.having:
        yield from _missing(mentions, keys)
    for mentions in level.order:
        yield from _missing(mentions, known)


def _missing(mentions: Mentions, known: set[str]) -> Iterator[ast.Variable]:
    return (variable for variable in mentions.variables if variable.name not in known)


def _problem(variable: ast.Variable, level: Level, keys: set[str]) -> Problem:
    name = variable.name
    if name not in level.scope and name in _assigned(level):
        return Problem(
            f"?{name} is used before it is assigned", variable.span, f"move (… AS ?{name}) to the front"
        )  # fmt: skip
    return Problem(f"?{name} is neither grouped nor aggregated", variable.span, _repair(name, level, keys))


def _assigned(level: Level) -> set[str]:
    return {projection.variable.name for projection, mentions in level.projections if mentions is not None}


def _repair(name: str, level: Level, keys: set[str]) -> str:
    near = None if name in level.scope else did_you_mean(f"?{name}", (f"?{key}" for key in keys))
    if near is not None:
        return near
    for condition, mentions in level.keys:
        if condition.variable is None and any(variable.name == name for variable in mentions.variables):
            return "name the grouped expression, GROUP BY (… AS ?key), and use that name"
    grouped = "".join(f"{_written(condition)} " for condition, _ in level.keys)
    return f"write GROUP BY {grouped}?{name}, or aggregate it, as in SAMPLE(?{name})"


def _written(condition: ast.GroupCondition) -> str:
    if condition.variable is not None:
        return f"(… AS ?{condition.variable.name})"
    return f"?{condition.expression.name}" if isinstance(condition.expression, ast.Variable) else "(…)"
