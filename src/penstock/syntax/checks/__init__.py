"""Checks beyond the grammar: scope, grouping, arity, windows (SPARQL 1.1 §18.2.1 and §19.8, notes 9 to 13).

`check` walks a query once (`walk.py`) and passes the collected facts to each check in the table. Each check covers one
idea and has its own module.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice

from penstock.syntax import ast
from penstock.syntax.checks.aggregate_clauses import check_aggregate_clauses
from penstock.syntax.checks.aggregates import check_aggregates
from penstock.syntax.checks.bind import check_bind
from penstock.syntax.checks.blank_nodes import check_blank_nodes
from penstock.syntax.checks.facts import Facts
from penstock.syntax.checks.functions import check_functions, check_known_functions
from penstock.syntax.checks.group_by import check_group_by
from penstock.syntax.checks.projection import check_projection
from penstock.syntax.checks.registration import check_registration
from penstock.syntax.checks.scope import certainly_bound, in_scope
from penstock.syntax.checks.values import check_values
from penstock.syntax.checks.variables import check_variables
from penstock.syntax.checks.walk import walk_query
from penstock.syntax.checks.window_names import check_window_names
from penstock.syntax.checks.windows import check_windows
from penstock.syntax.errors import Problem
from penstock.syntax.spans import NOWHERE

__all__ = ["certainly_bound", "check", "in_scope"]

MAX_PROBLEMS = 20
"""The limit for problems of one kind; the first ones are enough to fix the query."""

Check = Callable[[ast.Query, Facts], Iterator[Problem]]

CHECKS: tuple[Check, ...] = (
    check_registration,
    check_windows,
    check_window_names,
    check_bind,
    check_blank_nodes,
    check_values,
    check_functions,
    check_aggregates,
    check_aggregate_clauses,
    check_projection,
    check_group_by,
    check_variables,
)


def check(query: ast.Query, *, any_function: bool = False) -> list[Problem]:
    """All errors and warnings for a parsed query, in text order; `any_function` allows functions of other engines."""
    facts = walk_query(query)
    problems: list[Problem] = []
    for check_one in CHECKS if any_function else (*CHECKS, check_known_functions):
        problems += islice(check_one(query, facts), MAX_PROBLEMS)
    return problems if len(problems) < 2 else _in_text_order(problems)


def _in_text_order(problems: list[Problem]) -> list[Problem]:
    """Sorts problems and drops warnings at the position of an error, which would only repeat it."""
    wrong = {problem.span for problem in problems if problem.severity == "error"} - {NOWHERE}
    told = (problem for problem in problems if problem.severity == "error" or problem.span not in wrong)
    return sorted(told, key=lambda problem: problem.span)
