"""The position of the parser in the tokens, and its error messages."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from typing import NoReturn

from penstock.rdf.printable import visible
from penstock.syntax.errors import Problem
from penstock.syntax.spans import Span
from penstock.syntax.suggestions import closest
from penstock.syntax.tokens import Tokens

MAX_NESTING = 100
"""The limit for the nesting of groups, brackets, lists and sub-selects together; an EXISTS counts twice."""

MAX_OPERANDS = 1000
MAX_SIDES = 400
"""The limits for the operands in a chain of one operator, and for the sides of a UNION.

Within these limits the oracle and both engines work. Beyond them some of them overflow a stack."""

MAX_PROBLEMS = 10
"""The parser stops after this number of errors in one query."""

_CATEGORIES = {
    "var": "the variable",
    "iri": "the IRI",
    "pname": "the prefixed name",
    "bnode": "the blank node",
    "int": "the number",
    "dec": "the number",
    "dbl": "the number",
    "str": "the string",
    "lang": "the language tag",
}


_BROKEN_IRI = re.compile(r"<[A-Za-z][A-Za-z0-9+.-]*:[^<>\r\n]*>|<[A-Za-z][A-Za-z0-9+.-]*:[^\s<>{}]*")

_INVISIBLE = "\u200b\u2060\ufeff"
_SPACED_IRI = re.compile(r"<[^<>\r\n]+>")
_WHOLE_IRI = "an IRI contains no spaces or quotes, and ends with `>`"

_HABITS = {
    "AND": "did you mean `&&`?",
    "OR": "did you mean `||`?",
    "==": "did you mean `=`?",
    "UNION": "put both sides into braces: { … } UNION { … }",
    "SLIDING": "did you mean SLIDE?",
}
"""Syntax from other languages, with the SPARQL equivalent."""


class ParseFailure(Exception):  # noqa: N818 - no error of ours reaches a user under this name
    """The parser cannot continue. This error never leaves `syntax`: `parse` turns it into a QuerySyntaxError."""

    def __init__(self, problem: Problem, *, is_final: bool = False) -> None:
        self.problem = problem
        self.is_final = is_final
        """Whether parsing cannot resume after it; the problem is already recorded."""
        super().__init__(problem.message)


class Cursor:
    """A position in the tokens. Code that must be fast reads the kinds directly (`self.kinds[self.position]`)."""

    def __init__(self, tokens: Tokens) -> None:
        self.tokens = tokens
        self.kinds = tokens.kinds
        self.texts = tokens.texts
        self.starts = tokens.starts
        self.position = 0
        self.nesting = 0
        self.problems: list[Problem] = []

    @property
    def kind(self) -> str:
        return self.kinds[self.position]

    def following(self, distance: int = 1) -> str:
        """The kind of the token `ahead` positions further; `eof` beyond the end."""
        return self.kinds[min(self.position + distance, len(self.kinds) - 1)]

    def advance(self) -> str:
        """Advances past the current token and returns its text."""
        text = self.texts[self.position]
        if self.position < len(self.kinds) - 1:
            self.position += 1
        return text

    def accept(self, *kinds: str) -> bool:
        """Advances past the given tokens if all of them are next, in this order."""
        if self.kinds[self.position] != kinds[0]:
            return False
        if len(kinds) > 1 and tuple(self.kinds[self.position : self.position + len(kinds)]) != kinds:
            return False
        self.position += len(kinds)
        return True

    def expect(self, kind: str, purpose: str = "") -> None:
        """Advances past the given token, or fails with: expected `{` <purpose>."""
        if self.kinds[self.position] == kind:
            self.position += 1
            return
        expected = kind if kind.isalpha() else f"`{kind}`"
        self.fail(f"{expected} {purpose}".rstrip(), keywords=(kind,) if kind.isalpha() else ())

    def span_from(self, start: int) -> Span:
        """The span from the token at position `start` to the previous token."""
        return self.span_since(self.starts[start])

    def span_since(self, offset: int) -> Span:
        last = self.position - 1
        return Span(offset, self.starts[last] + len(self.texts[last]))

    def skip_to_offset(self, offset: int) -> None:
        """Advances to the first token that begins at or after `offset` in the text."""
        while self.starts[self.position] < offset and self.kinds[self.position] != "eof":
            self.position += 1

    # Errors

    def found(self) -> str:
        """The current token in words."""
        kind, text = self.kind, self.texts[self.position]
        if kind == "eof":
            return "the end of the query"
        if kind == "bad":
            return "an unterminated string" if text[0] in "\"'" else f"the character `{visible(text)}`"
        shown = visible(text if len(text) <= 60 else text[:57] + "…")
        return f"{_CATEGORIES[kind]} {shown}" if kind in _CATEGORIES else f"`{shown}`"

    def fail(self, expected: str, hint: str | None = None, keywords: Iterable[str] = ()) -> NoReturn:
        """Fails at the current token: expected that, found this; the hint suggests a similar keyword."""
        if self.kind == "bad":
            hint = self._bad_token_hint()
        elif hint is None and self.kind in _HABITS and self.kind not in keywords:
            hint = _HABITS[self.kind]
        elif self.kind == "<" and (broken := _BROKEN_IRI.match(self.tokens.text, self.starts[self.position])):
            message = f"expected {expected}, found the broken IRI {visible(broken[0][:60])}"
            self.reject(message, Span(*broken.span()), _WHOLE_IRI)
        elif self.kind == "<" and self.following() == "<":
            hint = "<< … >> is RDF-star syntax; Penstock reads SPARQL 1.1, which has no triples about triples"
        elif self.kind == "<" and "IRI" in expected and _SPACED_IRI.match(self.tokens.text, self.starts[self.position]):
            hint = _WHOLE_IRI
        elif hint is None:
            word = self.texts[self.position]
            near = closest(word, keywords) if word.isalpha() else None
            hint = f"did you mean {near}?" if near is not None else None
        raise ParseFailure(Problem(f"expected {expected}, found {self.found()}", self.tokens.span(self.position), hint))

    def reject(self, message: str, span: Span, hint: str | None = None) -> NoReturn:
        raise ParseFailure(Problem(message, span, hint))

    def report(self, message: str, span: Span, hint: str | None = None) -> None:
        """Records an error after which the parser can continue."""
        self.problems.append(Problem(message, span, hint))

    def warn(self, message: str, span: Span, hint: str | None = None) -> None:
        """Records a warning about syntax that is accepted but not standard."""
        self.problems.append(Problem(message, span, hint, "warning"))

    def _bad_token_hint(self) -> str | None:
        text = self.texts[self.position]
        if text[:3] in ('"""', "'''"):
            return f"close the string with {text[:3]}"
        if text[0] in "\"'":
            return f"close the string with {text[0]} on the same line, or use {text[0] * 3} for one of several lines"
        if text in "“”„‟‘’‚`´":
            return 'write strings between straight quotes, "like this"'
        if text.isspace() or text in _INVISIBLE:
            return f"this is {unicodedata.name(text, 'a control character').lower()}: write a plain space"
        return None

    def enter(self) -> None:
        """Enters a nesting level; `leave` exits it."""
        self.nesting += 1
        if self.nesting > MAX_NESTING:
            message = f"the query nests deeper than {MAX_NESTING} levels"
            hint = "write it with fewer nested groups, brackets or sub-selects"
            problem = Problem(message, self.tokens.span(self.position), hint)
            self.problems.append(problem)
            raise ParseFailure(problem, is_final=True)

    def limit(self, count: int, most: int, what: str) -> None:
        """Fails if there are more of something than the engines support."""
        if count > most:
            message = f"there are more than {most} {what}"
            problem = Problem(message, self.tokens.span(self.position), "split the query into several")
            self.problems.append(problem)
            raise ParseFailure(problem, is_final=True)

    def leave(self) -> None:
        self.nesting -= 1
