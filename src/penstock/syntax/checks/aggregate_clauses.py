"""C-SPARQL's AGGREGATE: new variables, computed only from variables of WHERE (C-SPARQL 2010, §2.2)."""

from __future__ import annotations

from collections.abc import Iterator

from penstock.syntax import ast
from penstock.syntax.checks.facts import Facts, Scope
from penstock.syntax.checks.walk import walk_expression
from penstock.syntax.errors import Problem
from penstock.syntax.suggestions import did_you_mean


def check_aggregate_clauses(query: ast.Query, facts: Facts) -> Iterator[Problem]:
    introduced: set[str] = set()
    names = {clause.variable.name for clause in query.aggregates}
    for clause in query.aggregates:
        yield from _check_new_variable(clause.variable, facts.where, introduced)
        introduced.add(clause.variable.name)
        for variable in _used(clause):
            if variable.name not in facts.where:
                yield _not_in_where(variable, facts.where, names)


def _used(clause: ast.AggregateClause) -> Iterator[ast.Variable]:
    if clause.aggregate.argument is not None:
        yield from walk_expression(clause.aggregate.argument, Facts()).variables
    yield from clause.group


def _check_new_variable(variable: ast.Variable, where: Scope, introduced: set[str]) -> Iterator[Problem]:
    if variable.name in where:
        problem = f"?{variable.name} occurs in WHERE, but AGGREGATE can only introduce a new variable"
    elif variable.name in introduced:
        problem = f"?{variable.name} is introduced by an earlier AGGREGATE clause"
    else:
        return
    yield Problem(problem, variable.span, "give the result another name")


def _not_in_where(variable: ast.Variable, where: Scope, names: set[str]) -> Problem:
    hint = "only variables of WHERE can be aggregated or grouped by"
    if variable.name in names:
        hint = "the clauses of AGGREGATE do not see each other; aggregate twice with a sub-select"
    near = did_you_mean(f"?{variable.name}", (f"?{name}" for name in where))
    return Problem(f"?{variable.name} does not occur in WHERE", variable.span, near or hint)
