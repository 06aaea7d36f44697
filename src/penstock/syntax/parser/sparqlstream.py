"""SPARQLstream (dialects.md)."""

from __future__ import annotations

from typing import ClassVar

from penstock.syntax import ast
from penstock.syntax.durations import SECOND, match_duration
from penstock.syntax.parser.queries import QueryRules
from penstock.syntax.parser.streams import StreamRules


class SparqlstreamParser(StreamRules):
    dialect = "sparqlstream"
    element_rules: ClassVar[dict[str, str]] = {**QueryRules.element_rules, "STREAM": "stream_block"}
    element_keywords = frozenset(element_rules)

    def stream_operator(self) -> None:
        if self.at_operator():
            self.streaming_operator()

    def window_of_clause(self) -> ast.Window | None:
        return self.bracketed_window() if self.kind == "[" else None

    def stream_block(self) -> ast.StreamBlock:
        start = self.position
        self.position += 1
        stream = self.variable_or_iri("a stream's IRI or a variable after STREAM")
        window = self.window_of_clause()
        return ast.StreamBlock(stream, window, self.group(), span=self.span_from(start))

    def window(self) -> ast.Window:
        start = self.position
        if self.accept("TRIPLES"):
            return ast.CountWindow(self.count("triples"), span=self.span_from(start))
        self.accept("FROM")
        begin = self._before_now()
        end = self._before_now() if self.accept("TO") else 0
        step = None
        if self.accept("SLIDE") or self.accept("STEP"):
            duration = match_duration(self.tokens.text, self.starts[self.position], SECOND)
            step = SECOND if duration is None else self.duration("after SLIDE", SECOND)
        return ast.PastWindow(begin, end, step, span=self.span_from(start))

    def _before_now(self) -> int:
        """`NOW - 10 S`, or plain `NOW`; in ms before now. A number without a unit counts seconds."""
        self.expect("NOW", "as in [NOW - 10 S TO NOW SLIDE 5 S], or TRIPLES")
        return self.duration("after NOW -", SECOND) if self.accept("-") else 0
