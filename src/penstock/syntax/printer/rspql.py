"""RSP-QL: named windows in FROM clauses, WINDOW blocks, streaming operators; it can express everything."""

from __future__ import annotations

from typing import assert_never

from penstock.syntax import ast
from penstock.syntax.printer.durations import iso_8601
from penstock.syntax.printer.layout import block
from penstock.syntax.printer.reports import report_text
from penstock.syntax.printer.streams import StreamQueryPrinter
from penstock.syntax.recognition import TITLES


class RspqlPrinter(StreamQueryPrinter):
    title = TITLES["rspql"]

    def registration(self, query: ast.Query) -> list[str]:
        """Register; a registered stream includes the operator"""
        register = query.register
        if register is None:
            return []
        is_operator = register.kind == "stream" and query.operator is not None
        kind = query.operator if is_operator and query.operator is not None else register.kind
        every = "" if register.every is None else f" COMPUTED EVERY {iso_8601(register.every)}"
        return [f"REGISTER {kind.upper()} {self.constant(register.name)}{every} AS"]

    def form_operator(self, query: ast.Query) -> str:
        is_registered = query.register is not None and query.register.kind == "stream"
        return "" if query.operator is None or is_registered else query.operator.upper()

    def quad_template(self, template: ast.QuadTemplate) -> str:
        name = template.name
        named = self.graph_node(name) if isinstance(name, ast.BlankNodeLabel) else self.var_or_iri(name)
        return block(f"GRAPH {named}", [self.triples(triples) for triples in template.triples])

    def window_block(self, element: ast.WindowBlock) -> str:
        return self.group(f"WINDOW {self.var_or_iri(element.name)}", element.pattern)

    def window_clause(self, clause: ast.WindowClause) -> str:
        """FROM NAMED WINDOW iri ON STREAM iri '[' … ']'"""
        if clause.window is None:
            raise self.cannot("a stream without a window; the window of everything so far is [ALL]")
        if clause.named and clause.name is None:
            raise self.cannot("FROM NAMED WINDOW without a name for the window")
        start = "FROM NAMED WINDOW" if clause.named else "FROM WINDOW"
        name = "" if clause.name is None else f" {self.constant(clause.name)}"
        content = " ".join([self._window(clause.window), *_settings(clause.settings)])
        return f"{start}{name} ON STREAM {self.var_or_iri(clause.stream)} [{content}]"

    def _window(self, window: ast.Window) -> str:
        match window:
            case ast.RangeWindow(_, None):
                raise self.cannot("RANGE without STEP, which slides with every instant")
            case ast.RangeWindow(width, step):
                assert step is not None
                return f"RANGE {iso_8601(width)} STEP {iso_8601(step)}"
            case ast.PastWindow(start, end, step):
                past = f"FROM NOW-{iso_8601(start)} TO NOW-{iso_8601(end)}"
                return past if step is None else f"{past} STEP {iso_8601(step)}"
            case ast.NowWindow():
                return "NOW"
            case ast.AllWindow():
                return "ALL"
            case ast.CountWindow(size, step, matching):
                moved = "" if step is None else f" STEP {step}"
                return f"ELEMENTS {size}{' MATCHING' if matching else ''}{moved}"
        assert_never(window)


def _settings(settings: ast.WindowSettings) -> list[str]:
    """REPORT, ORIGIN and DUPLICATES, as far as they are given"""
    texts = []
    if settings.report is not None:
        texts.append(f"REPORT {report_text(settings.report)}")
    if settings.origin is not None:
        texts.append(f"ORIGIN {settings.origin}")
    if settings.duplicates is not None:
        texts.append(f"DUPLICATES {settings.duplicates.upper()}")
    return texts
