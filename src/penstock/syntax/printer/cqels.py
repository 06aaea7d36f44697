"""CQELS-QL: each STREAM block of the pattern has its window."""

from __future__ import annotations

from penstock.syntax import ast
from penstock.syntax.printer.durations import compact
from penstock.syntax.printer.streams import StreamBlockPrinter
from penstock.syntax.printer.terms import bare_name
from penstock.syntax.recognition import TITLES


class CqelsPrinter(StreamBlockPrinter):
    title = TITLES["cqels"]
    registers_before_prologue = True

    def registration(self, query: ast.Query) -> list[str]:
        register = query.register
        if register is None:
            return []
        if register.every is not None:
            raise self.cannot("COMPUTED EVERY")
        return [f"REGISTER {register.kind.upper()} {bare_name(register.name)} AS"]

    def window_of_block(self, window: ast.Window | None) -> str:
        return f"[{self._window(window)}]"

    def _window(self, window: ast.Window | None) -> str:
        match window:
            case ast.NowWindow():
                return "NOW"
            case ast.AllWindow():
                return "ALL"
            case ast.RangeWindow(width, None):
                return f"RANGE {compact(width)}"
            case ast.RangeWindow(width, step) if step == width:
                return f"RANGE {compact(width)} TUMBLING"
            case ast.RangeWindow(width, int(step)):
                return f"RANGE {compact(width)} SLIDE {compact(step)}"
            case ast.CountWindow(size, None, False):
                return f"TRIPLES {size}"
            case None:
                raise self.cannot("a STREAM block without a window; the window of everything so far is [ALL]")
            case _:
                raise self.cannot("a window other than NOW, ALL, RANGE and TRIPLES")
