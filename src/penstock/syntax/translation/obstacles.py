"""Obstacles to a translation, each worded to follow "… cannot express"."""

from __future__ import annotations

from dataclasses import replace

from penstock.syntax import ast
from penstock.syntax.ast.traversal import walk
from penstock.syntax.dialects import DIALECTS
from penstock.syntax.printer.reports import report_text
from penstock.syntax.translation.window_names import windows_of


class Obstacles:
    """An approximation can ignore `differences`; parts that are `insurmountable` cannot even be approximated."""

    def __init__(self) -> None:
        self.differences: list[str] = []
        self.insurmountable: list[str] = []

    def differs(self, part: str) -> None:
        if part not in self.differences:
            self.differences.append(part)

    def blocks(self, part: str) -> None:
        if part not in self.insurmountable:
            self.insurmountable.append(part)


def require_settings(
    query: ast.Query, to: ast.DialectName, obstacles: Obstacles, report: ast.Report | None = None
) -> None:
    """Records settings (policy, operator, content, origin) that differ from the target's defaults; options can set
    them."""
    dialect = DIALECTS[to]
    wanted = report or dialect.report
    if not dialect.operator_is_written and query.operator != dialect.operator:
        operator = (query.operator or "").upper()
        obstacles.differs(f"{operator} (it has {dialect.operator.upper()}; run with --operator {operator.lower()})")
    for window in windows_of(query):
        settings = window.settings
        if settings.report is None:
            obstacles.differs(f"a window that has no evaluations of its own ({shown(window)})")
        elif not same_report(settings.report, wanted):
            said, implied = report_text(settings.report, "option"), report_text(wanted, "option")
            obstacles.differs(f"the report policy {said} (it has {implied}; run with --report '{said}')")
        if settings.duplicates != dialect.duplicates:
            said = settings.duplicates or "set"
            obstacles.differs(f"{said} content (it has {dialect.duplicates} content; run with --duplicates {said})")


def require_default_origin(query: ast.Query, obstacles: Obstacles) -> None:
    for window in windows_of(query):
        origin = window.settings.origin
        if origin:
            obstacles.differs(f"the window origin {origin} (run with --t0 {origin})")


def require_plain_template(query: ast.Query, obstacles: Obstacles) -> None:
    if any(isinstance(node, ast.QuadTemplate) for node in walk(query.form)):
        obstacles.blocks("GRAPH in a CONSTRUCT template")


def same_report(one: ast.Report, other: ast.Report) -> bool:
    """Whether two reports are equal up to the order of the operands of & and |."""
    if isinstance(one, ast.AllOf) and isinstance(other, ast.AllOf):
        return set(one.reports) == set(other.reports)
    if isinstance(one, ast.AnyOf) and isinstance(other, ast.AnyOf):
        return set(one.reports) == set(other.reports)
    return one == other


def shown(window: ast.WindowClause) -> str:
    """A window in words."""
    named = window.name if window.name is not None else window.stream
    return str(named.term) if isinstance(named, ast.Constant) else f"over ?{named.name}"


def without_settings(window: ast.WindowClause) -> ast.WindowClause:
    return replace(window, name=None, settings=ast.WindowSettings())
