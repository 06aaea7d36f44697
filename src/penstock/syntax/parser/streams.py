"""The common rules of the stream dialects: durations, bracketed windows, registration, streaming operators."""

from __future__ import annotations

import re
from typing import NoReturn

from penstock.rdf.terms import IRI
from penstock.syntax import ast
from penstock.syntax.durations import PLAIN_UNITS, UNIT_NAMES, Duration, match_duration
from penstock.syntax.parser.expressions import AGGREGATES, STREAM_BUILT_INS
from penstock.syntax.parser.queries import QueryRules
from penstock.syntax.spans import Span
from penstock.syntax.suggestions import closest

_OPERATORS: dict[str, ast.Operator] = {"RSTREAM": "rstream", "ISTREAM": "istream", "DSTREAM": "dstream"}
_KINDS: dict[str, ast.RegisteredKind] = {"QUERY": "query", "STREAM": "stream"}
_AFTER_A_NUMBER = frozenset(("STEP", "SLIDE", "TUMBLING", "FIXED", "TO", "REPORT", "ORIGIN", "AS"))
_QUOTES = "\"'"
_ISO_LIKE = re.compile(r"PT?\d\w*", re.IGNORECASE | re.ASCII)
_STEP_ELSEWHERE = frozenset(("EVERY", "HOP", "ADVANCE", "BY", "SLIDING"))
"""What other languages call the step of a window."""
_NAME = re.compile(r"[^\W\d][\w-]*")


class StreamRules(QueryRules):
    built_ins = STREAM_BUILT_INS
    has_computed_every = False
    """Whether COMPUTED EVERY may follow the name of a registered query."""
    bare_unit: int | None = None
    """The unit of a duration without one, in ms; None if a unit is required."""

    # Commas in the projection

    def at_projection(self) -> bool:
        if self.kind == "," and (self.following() in ("var", "(") or self.following() in AGGREGATES):
            self.warn("SPARQL separates what it selects by spaces", self.tokens.span(self.position), "drop the comma")
            self.position += 1
        return super().at_projection()

    # Durations are not SPARQL tokens: they are read from the text itself.

    def duration(self, purpose: str, default_unit: int | None = None) -> int:
        return self.whole_milliseconds(self.duration_with_unit(purpose, default_unit))

    def duration_with_unit(self, purpose: str, default_unit: int | None = None) -> Duration:
        start = self.starts[self.position]
        duration = match_duration(self.tokens.text, start, default_unit)
        if duration is None:
            example = "PT10S" if self.dialect == "rspql" else "10s"
            self.fail(f"a duration such as {example} {purpose}", self._duration_hint())
        self.skip_duration(duration)
        return duration

    def skip_duration(self, duration: Duration) -> None:
        """Steps over a duration; it must end where a token ends."""
        self.skip_to_offset(duration.end)
        last = self.position - 1
        if self.tokens.end(last) != duration.end:
            self.reject(
                f"`{self.texts[last]}` is not the end of a duration",
                self.tokens.span(last),
                f"units are {', '.join(PLAIN_UNITS)}",
            )

    def _duration_hint(self) -> str | None:
        if self.kind == "str":
            return f"write {self.texts[self.position].strip(_QUOTES)}, without quotes and datatype"
        if _ISO_LIKE.fullmatch(self.texts[self.position]):
            return "write the parts of a duration in the order of P1DT2H3M4S"
        if self.kind not in ("int", "dec"):
            return None
        if len(self.texts[self.position]) > 15:
            return "this number is too large for a duration"
        shown, following = self.texts[self.position], self.following()
        if not following.isupper() or following in _AFTER_A_NUMBER:
            return f"add a unit, such as {shown}s"
        word = self.texts[self.position + 1]
        near = closest(word, UNIT_NAMES)
        return f"did you mean {shown} {near}?" if near else f"{word} is not a unit; there are {', '.join(PLAIN_UNITS)}"

    def whole_milliseconds(self, duration: Duration) -> int:
        length = duration.milliseconds()
        span = Span(duration.start, duration.end)
        if length is None:
            problem = "a duration is a whole number of milliseconds: this one is more precise"
            self.reject(problem, span, "the shortest is 1ms")
        if length > 10**15:
            self.reject("this duration is too long", span)
        return length

    # REGISTER

    def register(self) -> ast.Register | None:
        """`REGISTER QUERY|STREAM name … AS`, and the prologue behind it."""
        start = self.position
        if not self.accept("REGISTER"):
            return None
        kind = self.registered_kind()
        name = self.registered_name()
        every = self.computed_every()
        self.expect("AS", "after the name" if every is None else "after COMPUTED EVERY")
        span = self.span_from(start)
        self.prologue()
        return ast.Register(kind, self.resolve_registered_name(name), every, span=span)

    def registered_kind(self) -> ast.RegisteredKind:
        if self.kind not in _KINDS:
            self.fail("QUERY or STREAM after REGISTER", keywords=_KINDS)
        return _KINDS[self.advance().upper()]

    def computed_every(self) -> int | None:
        """How often the query is computed, where a dialect says it here."""
        if not self.has_computed_every or not self.accept("COMPUTED"):
            return None
        self.expect("EVERY", "after COMPUTED")
        return self.duration("after COMPUTED EVERY", self.bare_unit)

    def registered_name(self) -> int:
        """Skips the name of a query or stream, and returns its position: its prefix may be declared later."""
        position = self.position
        if self.at_iri():
            self.position += 1
        elif (name := _NAME.match(self.tokens.text, self.starts[position])) is not None and self.kind != "AS":
            self.skip_to_offset(name.end())
        else:
            self.fail("a name for the query or stream after REGISTER")
        return position

    def resolve_registered_name(self, position: int) -> ast.Constant:
        """The name at `position` as an IRI; a bare word stands for itself."""
        if self.kinds[position] in ("iri", "pname"):
            return ast.Constant(IRI(self.iri_value(position)), span=self.tokens.span(position))
        name = _NAME.match(self.tokens.text, self.starts[position])
        assert name is not None, "registered_name saw one here"
        return ast.Constant(IRI(name[0]), span=Span(*name.span()))

    # RSTREAM, ISTREAM, DSTREAM

    def at_operator(self) -> bool:
        return self.kind in _OPERATORS

    def streaming_operator(self) -> None:
        """Reads the operator at this position."""
        operator = _OPERATORS[self.kind]
        if self.operator is not None and self.operator != operator:
            self.fail(f"one streaming operator ({self.operator.upper()} was written before)")
        self.operator = operator
        self.position += 1

    # Windows

    def dataset_clause(self) -> ast.DatasetClause | ast.WindowClause:
        """`FROM [NAMED] STREAM iri` and its window, beside SPARQL's own clauses."""
        following = self.following(2) if self.following() == "NAMED" else self.following()
        if following != "STREAM":
            return super().dataset_clause()
        start = self.position
        self.position += 1
        named = self.accept("NAMED")
        self.position += 1
        stream = self.iri("a stream's IRI after FROM STREAM")
        window = self.window_of_clause()
        return ast.WindowClause(stream, window, named, span=self.span_from(start))

    def window_of_clause(self) -> ast.Window | None:
        """The window behind FROM STREAM; None where it may be left out."""
        return self.bracketed_window()

    def open_window(self) -> None:
        """The bracket before a window."""
        if self.kind in ("RANGE", "ELEMENTS", "TRIPLES", "NOW"):
            self.fail("`[` before the window", "write a window in brackets, such as [RANGE PT10S STEP PT5S]")
        self.expect("[", "before the window")

    def bracketed_window(self) -> ast.Window:
        """`[ … ]` around a window of the dialect."""
        self.open_window()
        window = self.window()
        if not self.accept("]"):
            self.fail_in_window()
        return window

    def accept_step(self) -> bool:
        """STEP or SLIDE."""
        self.accept_comma("STEP", "SLIDE")
        return self.accept("STEP") or self.accept("SLIDE")

    def accept_comma(self, *before: str) -> None:
        """A comma between the parts of a window, which no dialect has."""
        if self.kind == "," and self.following() in before:
            self.warn("write no comma between the parts of a window", self.tokens.span(self.position), "drop it")
            self.position += 1

    def window(self) -> ast.Window:
        raise NotImplementedError("each dialect has its own windows")

    def fail_in_window(self, expected: str = "`]` after the window", keywords: tuple[str, ...] = ()) -> NoReturn:
        hint = "did you mean STEP?" if self.kind in _STEP_ELSEWHERE else None
        self.fail(expected, hint, keywords=("STEP", "SLIDE", "TUMBLING", *keywords))

    def count(self, what: str) -> int:
        return self.integer(f"a number of {what}")
