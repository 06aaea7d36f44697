"""Variables that nothing binds: allowed by SPARQL (§18.2.4.4), and nearly always a misspelling."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from penstock.syntax import ast
from penstock.syntax.checks.facts import Facts, Level
from penstock.syntax.errors import Problem
from penstock.syntax.suggestions import did_you_mean

MOST_SOUGHT = 50
"""For that many unbound variables a near miss is looked for among all the others."""


def check_variables(query: ast.Query, facts: Facts) -> Iterator[Problem]:
    """A projected variable must be bound; a variable of an expression may be unbound, unless it looks misspelt."""
    told: set[str] = set()
    for level in facts.levels:
        for variable in _put_out(level, facts):
            told.add(variable.name)
            yield _unbound(variable, level, facts)
    for variable in facts.used:
        name = variable.name
        if name not in facts.bound and name not in told:
            told.add(name)
            near = (
                did_you_mean(f"?{name}", (f"?{other}" for other in facts.bound)) if len(told) <= MOST_SOUGHT else None
            )
            if near is not None:
                yield Problem(f"?{name} is never bound", variable.span, near, "warning")


def _put_out(level: Level, facts: Facts) -> Iterator[ast.Variable]:
    """The unbound variables of the projection, the template or DESCRIBE, each once."""
    form = level.form
    candidates: Iterable[ast.Variable] = ()
    if isinstance(form, ast.Select):
        if level.grouped:
            return  # group_by.py reports variables that are not keys
        assigned = {projection.variable.name for projection, mentions in level.projections if mentions is not None}
        plain = (projection.variable for projection, mentions in level.projections if mentions is None)
        candidates = [variable for variable in plain if variable.name not in assigned]
    elif isinstance(form, ast.Construct):
        candidates = facts.template.values()
    elif isinstance(form, ast.Describe):
        candidates = [resource for resource in form.resources or () if isinstance(resource, ast.Variable)]
    visible = level.key_names() if level.grouped else level.scope
    unbound = {variable.name: variable for variable in candidates if variable.name not in visible}
    yield from unbound.values()


def _unbound(variable: ast.Variable, level: Level, facts: Facts) -> Problem:
    name = variable.name
    if level.grouped and name in level.scope:
        return Problem(
            f"?{name} has no value after grouping", variable.span, f"add ?{name} to GROUP BY", severity="warning"
        )
    if name in facts.bound and name not in level.scope:
        return Problem(
            f"?{name} is not bound here",
            variable.span,
            f"?{name} occurs only inside a sub-select that does not project it, or inside MINUS or EXISTS, which bind "
            "nothing outside",
            "warning",
        )
    near = did_you_mean(f"?{name}", (f"?{other}" for other in level.scope))
    return Problem(f"?{name} is never bound", variable.span, near or f"bind ?{name} in WHERE, or drop it", "warning")
