"""Compares the answers of two systems, before any time is measured.

The data has no blank nodes, so rows can be compared directly. Numbers are compared by value, because stores normalise
them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import TypeAlias

from penstock.oracle.stored_terms import as_stored
from penstock.rdf.elements import Row
from penstock.rdf.results import Evaluation

Answer: TypeAlias = dict[int, Counter[Row]]
"""The rows of each instant that has any; columns are in the order of the variable names."""


class AnswerMismatchError(Exception):
    """A system returned another answer than Penstock; the message describes the first difference."""


def answer_of(evaluations: Iterable[Evaluation]) -> Answer:
    answer: Answer = {}
    for evaluation in map(as_stored, evaluations):
        names = evaluation.variables or ()
        order = sorted(range(len(names)), key=names.__getitem__)
        rows = Counter(tuple(row[place] for place in order) for row in evaluation.rows or ())
        if rows:
            answer[evaluation.time] = answer.get(evaluation.time, Counter()) + rows
    return answer


def compare(name: str, found: Answer, expected: Answer) -> None:
    """Raises AnswerMismatchError."""
    for time in sorted({*found, *expected}):
        theirs, ours = found.get(time, Counter()), expected.get(time, Counter())
        if theirs == ours:
            continue
        only_theirs, only_ours = theirs - ours, ours - theirs
        differences = [
            f"{rows.total()} rows that {who} does not have, such as {_shown(next(iter(rows)))}"
            for who, rows in (("Penstock", only_theirs), (name, only_ours))
            if rows
        ]
        raise AnswerMismatchError(f"{name} gives another answer than Penstock at {time}: {' and '.join(differences)}")


def _shown(row: Row) -> str:
    return f"({', '.join('–' if term is None else str(term) for term in row)})"
