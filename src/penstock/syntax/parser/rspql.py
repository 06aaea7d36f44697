"""RSP-QL (dialects.md).

Beyond the draft it can say what the other dialects imply, so that each of them can be translated into it: a window
that is part of the default graph (`FROM WINDOW`), windows NOW and ALL, and, inside the brackets, REPORT, ORIGIN and
DUPLICATES. Once any window has a REPORT part, the windows without one have no evaluation of their own.
"""

from __future__ import annotations

import re
from typing import ClassVar

from penstock.rdf.instants import parse_instant
from penstock.syntax import ast
from penstock.syntax.durations import MILLISECOND, match_duration
from penstock.syntax.parser.queries import QueryRules
from penstock.syntax.parser.reports import read_report
from penstock.syntax.parser.streams import StreamRules
from penstock.syntax.spans import Span

_INSTANT = re.compile(r"""["']?([+-]?[0-9][0-9T:.+Z-]*)["']?(?:\^\^[^\s\]]+)?""")
_MINUS = re.compile(r"\s*-\s*")
_COMMA_AND_STEP = re.compile(r"\s*,?\s*\b(?:STEP|SLIDE)\b", re.IGNORECASE)


class RspqlParser(StreamRules):
    dialect = "rspql"
    keywords = QueryRules.keywords | {"REGISTER"}
    has_computed_every = True
    bare_unit = MILLISECOND
    element_rules: ClassVar[dict[str, str]] = {**QueryRules.element_rules, "WINDOW": "window_block"}
    element_keywords = frozenset(element_rules)

    def register_and_prologue(self) -> ast.Register | None:
        self.prologue()
        return self.register()

    def registered_kind(self) -> ast.RegisteredKind:
        if self.at_operator():
            self.streaming_operator()
            return "stream"
        if self.kind not in ("STREAM", "QUERY"):
            words = ("RSTREAM", "ISTREAM", "DSTREAM", "STREAM", "QUERY")
            self.fail("RSTREAM, ISTREAM or DSTREAM after REGISTER", keywords=words)
        return super().registered_kind()

    def stream_operator(self) -> None:
        if self.at_operator():
            self.streaming_operator()

    def window_block(self) -> ast.WindowBlock:
        """`WINDOW name { … }`, like GRAPH."""
        start = self.position
        self.position += 1
        name = self.variable_or_iri("a window's IRI or a variable after WINDOW")
        return ast.WindowBlock(name, self.group(), span=self.span_from(start))

    def template_elements(self) -> list[ast.Triples | ast.QuadTemplate]:
        """A CONSTRUCT template may hold GRAPH (TriG-like output)."""
        elements: list[ast.Triples | ast.QuadTemplate] = []
        while True:
            elements += self.triples_template()
            start = self.position
            if not self.accept("GRAPH"):
                return elements
            name = self._template_graph()
            self.expect("{", "before the graph's triples")
            triples = self.triples_template()
            self.expect("}", "after the graph's triples")
            self.accept(".")
            elements.append(ast.QuadTemplate(name, tuple(triples), span=self.span_from(start)))

    def _template_graph(self) -> ast.Variable | ast.Constant | ast.BlankNodeLabel:
        """What names a graph of the template; a blank node is a new one for each solution."""
        if self.kind == "[":
            self.fail(
                "a graph's IRI or a variable after GRAPH", "write GRAPH ?g { … }, and BIND(BNODE() AS ?g) in WHERE"
            )
        if self.kind != "bnode":
            return self.variable_or_iri("a graph's IRI or a variable after GRAPH")
        position = self.position
        label = self.advance()[2:]
        self.warn(
            "GRAPH takes an IRI or a variable; this blank node is a new one for each solution",
            self.tokens.span(position),
            f"write GRAPH ?{label} {{ … }}, and BIND(BNODE() AS ?{label}) at the end of WHERE",
        )
        return ast.BlankNodeLabel(label, span=self.tokens.span(position))

    def dataset_clause(self) -> ast.DatasetClause | ast.WindowClause:
        following = self.following(2) if self.following() == "NAMED" else self.following()
        if following == "STREAM":
            return self._from_stream()
        if following != "WINDOW":
            return QueryRules.dataset_clause(self)
        start = self.position
        self.position += 1
        named = self.accept("NAMED")
        self.position += 1
        name = None if self.kind in ("ON", "[") else self.iri("a name for the window, or ON STREAM")
        brackets = self.position
        is_window_first = self.kind == "["
        if is_window_first:
            window, settings = self._bracketed_window()
        brackets_end = self.position
        self.expect("ON", "before the stream")
        self.accept("STREAM")
        stream = self.variable_or_iri("a stream's IRI after ON STREAM")
        if is_window_first:
            self._warn_of_order(start, brackets, brackets_end)
        else:
            window, settings = self._bracketed_window()
        if name is None and self.accept("AS"):
            name = self.iri("a name for the window after AS")
        span = self.span_from(start)
        if named and name is None:
            self.reject("a named window needs a name", span, "write FROM NAMED WINDOW <name> ON STREAM …")
        return ast.WindowClause(stream, window, named, name, settings, span=span)

    def _from_stream(self) -> ast.WindowClause:
        """`FROM STREAM iri [ … ]`, as C-SPARQL writes a window that is part of the default graph."""
        start = self.position
        self.position += 1
        named = self.accept("NAMED")
        self.position += 1
        first = self.position
        stream = self.iri("a stream's IRI after FROM STREAM")
        window, settings = self._bracketed_window()
        clause = " ".join(self.tokens.text[self.starts[first] : self.tokens.end(self.position - 1)].split())
        front = f"FROM NAMED WINDOW {self.texts[first]}" if named else "FROM WINDOW"
        span = self.span_from(start)
        self.warn("RSP-QL writes a window, and the stream that it is on", span, f"write {front} ON STREAM {clause}")
        return ast.WindowClause(stream, window, named, stream if named else None, settings, span=span)

    def _bracketed_window(self) -> tuple[ast.Window, ast.WindowSettings]:
        self.open_window()
        window = self.window()
        settings = self._settings()
        if not self.accept("]"):
            self.fail_in_window("STEP, REPORT, ORIGIN, DUPLICATES or `]`", ("REPORT", "ORIGIN"))
        return window, settings

    def _warn_of_order(self, start: int, brackets: int, brackets_end: int) -> None:
        """The window before ON STREAM: shows the clause in RSP-QL's order, which has no comma either."""
        self.problems = [
            problem
            for problem in self.problems
            if problem.severity == "error" or problem.span.start < self.starts[brackets]
        ]
        front, window, stream = (
            " ".join(self.tokens.text[self.starts[first] : self.tokens.end(last - 1)].split())
            for first, last in ((start, brackets), (brackets, brackets_end), (brackets_end, self.position))
        )
        standard = _COMMA_AND_STEP.sub(" STEP", window)
        self.warn(
            "RSP-QL writes the window after its stream",
            self.span_from(start),
            f"write {front} {stream} {standard}",
        )

    def window(self) -> ast.Window:
        start = self.position
        if self.accept("RANGE"):
            width = self.duration("after RANGE", MILLISECOND)
            self._accept_tumbling()
            step = self.duration("after STEP", MILLISECOND) if self.accept_step() else width
            return ast.RangeWindow(width, step, span=self.span_from(start))
        if self.accept("ELEMENTS") or self.accept("TRIPLES") or self._accept_item():
            size = self.count("elements")
            matching = self.accept("MATCHING")
            count_step = self.count("elements after STEP") if self.accept_step() else None
            return ast.CountWindow(size, count_step, matching, span=self.span_from(start))
        if self.accept("NOW"):
            return ast.NowWindow(span=self.span_from(start))
        if self.accept("ALL"):
            return ast.AllWindow(span=self.span_from(start))
        if self.accept("FROM"):
            begin = self._before_now()
            self.expect("TO", "NOW - a duration")
            end = self._before_now()
            past_step = self.duration("after STEP", MILLISECOND) if self.accept_step() else None
            return ast.PastWindow(begin, end, past_step, span=self.span_from(start))
        self.fail(
            "a window: RANGE, ELEMENTS, FROM NOW-… TO NOW-…, NOW or ALL",
            keywords=("RANGE", "ELEMENTS", "FROM", "NOW", "ALL"),
        )

    def _accept_tumbling(self) -> None:
        """TUMBLING, of C-SPARQL and CQELS: the same as a window without STEP."""
        self.accept_comma("TUMBLING")
        if self.kind == "TUMBLING":
            message = "an RSP-QL window without STEP tumbles, and TUMBLING is not part of the language"
            self.warn(message, self.tokens.span(self.position), "drop it")
            self.position += 1

    def _accept_item(self) -> bool:
        """ITEM, as an earlier draft calls ELEMENTS."""
        if self.kind not in ("ITEM", "ITEMS"):
            return False
        span = self.tokens.span(self.position)
        self.warn(f"RSP-QL says ELEMENTS, and not {self.kind}", span, "write ELEMENTS")
        self.position += 1
        return True

    def _before_now(self) -> int:
        """`NOW - duration`, the minus close by or not, or plain `NOW`; in ms before now."""
        self.expect("NOW", "(as in FROM NOW-PT10S TO NOW-PT5S)")
        minus = _MINUS.match(self.tokens.text, self.tokens.end(self.position - 1))
        if minus is None:
            return 0
        duration = match_duration(self.tokens.text, minus.end(), MILLISECOND)
        if duration is None:
            self.fail("a duration after NOW -")
        self.skip_duration(duration)
        return self.whole_milliseconds(duration)

    def _settings(self) -> ast.WindowSettings:
        """REPORT, ORIGIN and DUPLICATES, in any order."""
        start = self.position
        report: ast.Report | None = None
        origin: int | None = None
        duplicates: str | None = None
        while True:
            if report is None and self.accept("REPORT"):
                report, end = read_report(self.tokens.text, self.starts[self.position])
                self.skip_to_offset(end)
            elif origin is None and self.accept("ORIGIN"):
                origin = self._instant()
            elif duplicates is None and self.accept("DUPLICATES"):
                if self.kind not in ("SET", "BAG"):
                    self.fail("SET or BAG after DUPLICATES", keywords=("SET", "BAG"))
                duplicates = self.advance().lower()
            else:
                break
        if self.position == start:
            return ast.WindowSettings()
        return ast.WindowSettings(report, origin, duplicates, span=self.span_from(start))  # type: ignore[arg-type]

    def _instant(self) -> int:
        offset = self.starts[self.position]
        matched = _INSTANT.match(self.tokens.text, offset)
        instant = None if matched is None else parse_instant(matched[1])
        if matched is None or instant is None:
            hint = "such as ORIGIN 0 or ORIGIN 2014-08-01T00:00:00Z"
            end = matched.end() if matched is not None else self.tokens.end(self.position)
            self.reject("expected an instant (whole ms or a dateTime) after ORIGIN", Span(offset, end), hint)
        self.skip_to_offset(matched.end())
        return instant
