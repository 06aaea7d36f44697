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
        end = self._before_now() if self.accept("TO") else None
        step = None
        if self.accept_step():
            duration = match_duration(self.tokens.text, self.starts[self.position], SECOND)
            step = SECOND if duration is None else self.duration("after SLIDE", SECOND)
        span = self.span_from(start)
        if begin is None and end is None:  # this very instant; looked at every step, that is the millisecond up to it
            return ast.NowWindow(span=span) if step is None else ast.PastWindow(1, 0, step, span=span)
        return ast.PastWindow(begin or 0, end or 0, step, span=span)

    def _before_now(self) -> int | None:
        """`NOW - 10 S`, in ms before now; None for plain `NOW`. A number without a unit counts seconds."""
        self.expect("NOW", "as in [NOW - 10 S TO NOW SLIDE 5 S], or TRIPLES")
        return self.duration("after NOW -", SECOND) if self.accept("-") else None
