"""Streaming SPARQL: windows without brackets, after FROM STREAM or at the end of a group."""

from __future__ import annotations

from penstock.syntax import ast
from penstock.syntax.printer.durations import STREAMING_SPARQL_UNITS, in_largest_unit
from penstock.syntax.printer.streams import FromStreamPrinter
from penstock.syntax.recognition import TITLES


class StreamingSparqlPrinter(FromStreamPrinter):
    title = TITLES["streaming-sparql"]

    def group_window(self, window: ast.Window) -> str:
        return self.window_of_clause(window)

    def window_of_clause(self, window: ast.Window | None) -> str:
        match window:
            case ast.RangeWindow(width, step) if step == width:
                return f"WINDOW RANGE {_duration(width)} FIXED"
            case ast.RangeWindow(width, int(step)):
                return f"WINDOW RANGE {_duration(width)} SLIDE {_duration(step)}"
            case ast.CountWindow(size, None, False):
                return f"WINDOW ELEMS {size}"
            case None:
                raise self.cannot("a stream without a window")
            case _:
                raise self.cannot("a window other than RANGE with SLIDE or FIXED and ELEMS")


def _duration(milliseconds: int) -> str:
    return in_largest_unit(milliseconds, STREAMING_SPARQL_UNITS)
