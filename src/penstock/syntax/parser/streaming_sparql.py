"""Streaming SPARQL (dialects.md)."""

from __future__ import annotations

from penstock.syntax import ast
from penstock.syntax.durations import MILLISECOND, match_duration
from penstock.syntax.parser.queries import QueryRules
from penstock.syntax.parser.streams import StreamRules


class StreamingSparqlParser(StreamRules):
    dialect = "streaming-sparql"
    element_keywords = QueryRules.element_keywords | {"WINDOW"}
    group_ends = QueryRules.group_ends | {"WINDOW"}

    def window_of_clause(self) -> ast.Window | None:
        return self.window()

    def where(self) -> ast.Group:
        """The paper's listings have WHERE { … } UNION { … }, without braces around the union."""
        self.accept("WHERE")
        start = self.position
        first = self.group_or_union() if self.kind == "{" else super().where()
        return first if isinstance(first, ast.Group) else ast.Group((first,), span=self.span_from(start))

    def group_window(self) -> ast.Window | None:
        """At the end of a group, for its triple patterns."""
        return self.window() if self.kind == "WINDOW" else None

    def window(self) -> ast.Window:
        start = self.position
        self.expect("WINDOW", "RANGE … or WINDOW ELEMS …")
        if self.accept("ELEMS"):
            return ast.CountWindow(self.count("elements"), span=self.span_from(start))
        if not self.accept("RANGE"):
            self.fail("RANGE or ELEMS after WINDOW", keywords=("RANGE", "ELEMS"))
        width = self.duration_with_unit("after RANGE", MILLISECOND)
        milliseconds = self.whole_milliseconds(width)
        if self.accept("FIXED"):
            return ast.RangeWindow(milliseconds, milliseconds, span=self.span_from(start))
        if not self.accept("SLIDE"):
            self.fail("SLIDE or FIXED after the range", keywords=("SLIDE", "FIXED"))
        if match_duration(self.tokens.text, self.starts[self.position], MILLISECOND) is None:
            step = max(1, int(width.unit))  # 1 of RANGE's unit
        else:
            step = self.duration("after SLIDE", MILLISECOND)
        return ast.RangeWindow(milliseconds, step, span=self.span_from(start))
