"""SPARQLstream: windows in the past, counted from NOW; streaming operators after the keyword of the form."""

from __future__ import annotations

from penstock.syntax import ast
from penstock.syntax.printer.durations import SPARQLSTREAM_UNITS, in_largest_unit
from penstock.syntax.printer.streams import FromStreamPrinter, StreamBlockPrinter
from penstock.syntax.recognition import TITLES


class SparqlstreamPrinter(FromStreamPrinter, StreamBlockPrinter):
    title = TITLES["sparqlstream"]

    def form_operator(self, query: ast.Query) -> str:
        return "" if query.operator is None else query.operator.upper()

    def window_of_clause(self, window: ast.Window | None) -> str:
        match window:
            case None:
                return ""
            case ast.PastWindow():
                return f"[{_past(window)}]"
            case ast.CountWindow(size, None, False):
                return f"[TRIPLES {size}]"
            case ast.NowWindow():
                return "[NOW]"
            case ast.AllWindow():
                raise self.cannot("ALL as a window; a stream without a window means it")
            case _:
                raise self.cannot("a window other than NOW, NOW - … and TRIPLES")

    def window_of_block(self, window: ast.Window | None) -> str:
        return self.window_of_clause(window)


def _past(window: ast.PastWindow) -> str:
    end = f"NOW - {_duration(window.end)}" if window.end else "NOW"
    slide = "" if window.step is None else f" SLIDE {_duration(window.step)}"
    return f"NOW - {_duration(window.start)} TO {end}{slide}"


def _duration(milliseconds: int) -> str:
    return in_largest_unit(milliseconds, SPARQLSTREAM_UNITS)
