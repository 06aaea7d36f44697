"""CQELS-QL (dialects.md)."""

from __future__ import annotations

from typing import ClassVar

from penstock.syntax import ast
from penstock.syntax.parser.queries import QueryRules
from penstock.syntax.parser.streams import StreamRules


class CqelsParser(StreamRules):
    dialect = "cqels"
    keywords = QueryRules.keywords | {"REGISTER"}
    element_rules: ClassVar[dict[str, str]] = {**QueryRules.element_rules, "STREAM": "stream_block"}
    element_keywords = frozenset(element_rules)
    has_bare_aggregates = True

    def register_and_prologue(self) -> ast.Register | None:
        self.prologue()
        return self.register()

    def dataset_clause(self) -> ast.DatasetClause | ast.WindowClause:
        if self.following() == "STREAM" or self.following(2) == "STREAM":
            self.position += 1
            self.fail("a graph's IRI", "CQELS reads streams inside WHERE: STREAM <iri> [RANGE 10s] { … }")
        return QueryRules.dataset_clause(self)

    # STREAM blocks

    def stream_block(self) -> ast.StreamBlock:
        start = self.position
        self.position += 1
        if self.kind == "[":  # the paper's grammar has the window first, its listings have the stream first
            window = self.bracketed_window()
            stream = self.variable_or_iri("a stream's IRI or a variable after the window")
        else:
            stream = self.variable_or_iri("a stream's IRI or a variable after STREAM")
            window = self.bracketed_window()
        return ast.StreamBlock(stream, window, self.group(), span=self.span_from(start))

    def window(self) -> ast.Window:
        start = self.position
        if self.accept("NOW"):
            return ast.NowWindow(span=self.span_from(start))
        if self.accept("ALL"):
            return ast.AllWindow(span=self.span_from(start))
        if self.accept("TRIPLES"):
            return ast.CountWindow(self.count("triples"), span=self.span_from(start))
        if not self.accept("RANGE"):
            self.fail("a window: NOW, ALL, RANGE or TRIPLES", keywords=("NOW", "ALL", "RANGE", "TRIPLES"))
        width = self.duration("after RANGE")
        step = None
        self.accept_comma("TUMBLING")
        if self.accept("TUMBLING"):
            step = width
        elif self.accept_step():
            step = self.duration("after SLIDE")
        return ast.RangeWindow(width, step, span=self.span_from(start))
