"""What the grammar cannot say: scope, grouping, arity, windows (SPARQL 1.1 §18.2.1 and §19.8, notes 9 to 13).

`check` reads a query once (`walk.py`) and hands what it noted to each check of the table. A check is about one idea
and lives in a module of its own.
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
"""Of one kind; whoever has more is helped by the first ones."""

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
    """All errors and warnings that a parsed query deserves, in text order; `any_function`: also for other engines."""
    facts = walk_query(query)
    problems: list[Problem] = []
    for check_one in CHECKS if any_function else (*CHECKS, check_known_functions):
        problems += islice(check_one(query, facts), MAX_PROBLEMS)
    return problems if len(problems) < 2 else _in_text_order(problems)


def _in_text_order(problems: list[Problem]) -> list[Problem]:
    """Where there is an error, a warning about the very same place would only repeat it."""
    wrong = {problem.span for problem in problems if problem.severity == "error"} - {NOWHERE}
    told = (problem for problem in problems if problem.severity == "error" or problem.span not in wrong)
    return sorted(told, key=lambda problem: problem.span)
