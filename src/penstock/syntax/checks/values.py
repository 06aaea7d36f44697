"""VALUES: as many values in a row as there are variables, each variable once (SPARQL 1.1 §10.2 and §19.8, note 10)."""

from __future__ import annotations

from collections.abc import Iterator

from penstock.rdf.plurals import counted
from penstock.syntax import ast
from penstock.syntax.checks.facts import Facts
from penstock.syntax.errors import Problem
from penstock.syntax.spans import Span


def check_values(query: ast.Query, facts: Facts) -> Iterator[Problem]:
    for data in facts.inline_data:
        yield from _check_variables(data)
        yield from _check_rows(data)


def _check_variables(data: ast.InlineData) -> Iterator[Problem]:
    seen: set[str] = set()
    for variable in data.variables:
        if variable.name in seen:
            yield Problem(
                f"VALUES has the variable ?{variable.name} twice",
                variable.span,
                "give each column a variable of its own",
            )
        seen.add(variable.name)


def _check_rows(data: ast.InlineData) -> Iterator[Problem]:
    width = len(data.variables)
    for row in data.rows:
        if len(row) != width:
            too_many = len(row) > width
            yield Problem(
                f"this row of VALUES has {counted(len(row), 'value')} for {counted(width, 'variable')}",
                _span_of(row[width:] if too_many else row) or _span_of(row) or data.span,
                "drop what is too much, or add a variable" if too_many else "write UNDEF where there is no value",
            )


def _span_of(values: tuple[ast.Constant | None, ...]) -> Span | None:
    """From the first to the last value; UNDEF has no node, and so no place."""
    spans = [value.span for value in values if value is not None]
    return Span(spans[0].start, spans[-1].end) if spans else None
