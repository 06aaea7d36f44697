"""Windows: valid widths, steps and sizes (semantics.md §3)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from penstock.syntax import ast
from penstock.syntax.ast.traversal import walk
from penstock.syntax.checks.facts import Facts
from penstock.syntax.errors import Problem


def check_windows(query: ast.Query, facts: Facts) -> Iterator[Problem]:
    for clause in query.dataset:
        if isinstance(clause, ast.WindowClause):
            if clause.window is not None:
                yield from _check_window(clause.window, query.dialect)
            if clause.settings.report is not None:
                yield from _check_report(clause.settings.report)
    for window in facts.windows:
        yield from _check_window(window, query.dialect)
    yield from _check_matching(query)


def _check_matching(query: ast.Query) -> Iterator[Problem]:
    """The block of a window that counts matches of triple patterns may contain only triple patterns."""
    counting = {
        clause.name.text
        for clause in query.dataset
        if isinstance(clause, ast.WindowClause)
        and isinstance(clause.window, ast.CountWindow)
        and clause.window.matching
        and isinstance(clause.name, ast.Constant)
    }
    if not counting:
        return
    for node in walk(query):
        if isinstance(node, ast.WindowBlock) and isinstance(node.name, ast.Constant) and node.name.text in counting:
            for element in node.pattern.elements:
                if not isinstance(element, ast.Triples):
                    yield Problem(
                        "this window counts the matches of each triple pattern (MATCHING): only triple patterns "
                        "are allowed in its block",
                        element.span,
                        "write it after the WINDOW block, or remove MATCHING",
                    )


def _check_window(window: ast.Window, dialect: ast.DialectName) -> Iterator[Problem]:
    check = _CHECKS.get(type(window))
    return iter(()) if check is None else check(window, dialect)


def _check_range(window: ast.RangeWindow, dialect: ast.DialectName) -> Iterator[Problem]:
    if window.width <= 0:
        yield _not_positive(window, "the width of a window")
    elif window.step is not None:
        yield from _check_step(window, window.step, window.width, dialect)


def _check_past(window: ast.PastWindow, dialect: ast.DialectName) -> Iterator[Problem]:
    if window.start <= window.end:
        yield Problem(
            "this window is empty: it ends before it begins, or where it begins",
            window.span,
            "write the instant further back first: from NOW minus the longer to NOW minus the shorter duration",
        )
    elif window.step is not None:
        yield from _check_step(window, window.step, window.start - window.end, dialect)


def _check_count(window: ast.CountWindow, dialect: ast.DialectName) -> Iterator[Problem]:
    if window.size <= 0:
        yield _not_positive(window, "the size of a window")
    elif window.step is not None:
        yield from _check_step(window, window.step, window.size, dialect)


def _check_step(window: ast.Window, step: int, width: int, dialect: ast.DialectName) -> Iterator[Problem]:
    if step <= 0:
        yield _not_positive(window, "the step of a window")
    elif step > width and dialect == "streaming-sparql":
        yield Problem(
            "the window moves further than it is wide, but Streaming SPARQL requires δ ≤ w",
            window.span,
            "make SLIDE at most as long as RANGE, or write FIXED for windows side by side",
        )
    elif step > width:
        yield Problem(
            "the window moves further than it is wide: elements between the windows are never seen",
            window.span,
            "make the step at most as long as the window, unless that is what you want",
            "warning",
        )


def _not_positive(window: ast.Window, what: str) -> Problem:
    return Problem(f"{what} must be more than 0", window.span, "write a positive number")


def _check_report(report: ast.Report) -> Iterator[Problem]:
    if isinstance(report, ast.Strategy):
        if report.period is not None and report.period <= 0:
            yield Problem("the period of a report must be more than 0", report.span, "write a positive duration")
    elif isinstance(report, ast.NotReport):
        yield from _check_report(report.report)
    else:
        for part in report.reports:
            yield from _check_report(part)


_CHECKS: dict[type[ast.Node], Callable[[Any, ast.DialectName], Iterator[Problem]]] = {
    ast.RangeWindow: _check_range,
    ast.PastWindow: _check_past,
    ast.CountWindow: _check_count,
}
