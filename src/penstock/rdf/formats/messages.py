"""RDF Messages (W3C community draft): Turtle, TriG, N-Triples or N-Quads whose elements are separated.

Delimiters are the directives `MESSAGE` and `@message .`, after `VERSION "1.2-messages"` or the like, or comments that
begin with `@message`. A delimiter before any statement opens the first message. Prefixes carry over; blank nodes belong
to their message. A message with an error is skipped.

pyoxigraph refuses the directives, so the text is cut into messages first, at delimiters outside of strings, IRIs and
comments.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from pyoxigraph import NamedNode, RdfFormat, Triple

from penstock.rdf.blank_nodes import numbered
from penstock.rdf.elements import Element, GraphName, Malformed, Statement
from penstock.rdf.errors import ReadingError
from penstock.rdf.formats.read_options import ReadOptions
from penstock.rdf.formats.timed_graphs import times_within
from penstock.rdf.formats.trig import END_OF_LONG
from penstock.rdf.inputs import Input
from penstock.rdf.limits import LARGEST_DOCUMENT, shown, too_large
from penstock.rdf.parser import parse_statements
from penstock.rdf.timestamps import greatest
from penstock.rdf.vocabulary import COMMON_PREFIXES

USUAL_TIMES = (
    COMMON_PREFIXES["prov"] + "generatedAtTime",
    COMMON_PREFIXES["sosa"] + "resultTime",
    "https://www.w3.org/ns/activitystreams#published",
)
"""The predicates of the time of a message, if none is named."""

_MARK = re.compile(
    rb"""
      \\.
    | <[^<>"{}|^`\s]*>                                          # an IRI
    | (?P<long>\"\"\"|''')
    | (?:"(?:[^"\\\n]++|\\.)*+" | '(?:[^'\\\n]++|\\.)*+') (?:@[A-Za-z0-9-]+)?
    | (?P<comment>\#\s*@message\b.*)
    | \#.*
    | (?P<version>(?:@version|\bVERSION)\s*["'][^"'\n]*["'](?:\s*\.)?)
    | (?P<delimiter>@message\s*\. | (?<![\w:.@%-])MESSAGE(?![\w:.%-]))
    """,
    re.VERBOSE | re.IGNORECASE,
)
_TELLING = re.compile(rb"""message|version|\"\"\"|'''""", re.IGNORECASE)
_DIRECTIVE = re.compile(
    rb"""
      \\.
    | (?P<directive>(?<![\w:@-])(?:@prefix\s+[^\s:]*:\s*<[^>]*>\s*\. | prefix\s+[^\s:]*:\s*<[^>]*>
                               | @base\s*<[^>]*>\s*\. | base\s*<[^>]*>))
    | <[^<>"{}|^`\s]*>
    | \"\"\"(?:[^"\\]++|\\.|"{1,2}+(?!"))*+\"\"\" | '''(?:[^'\\]++|\\.|'{1,2}+(?!'))*+'''
    | "(?:[^"\\\n]++|\\.)*+" | '(?:[^'\\\n]++|\\.)*+'
    | \#[^\n]*
    """,
    re.VERBOSE | re.IGNORECASE | re.DOTALL,
)


class Message(NamedTuple):
    """The text of a message, the number of its first line, and the directives of those before it."""

    line: int
    text: bytes
    directives: bytes = b""
    is_too_large: bool = False
    """If so, the text is only its beginning."""


def read_messages(source: Input, options: ReadOptions) -> Iterator[Element]:
    for number, message in enumerate(messages_of(source.lines(options.on_malformed))):
        if message.is_too_large:
            reason = too_large("the message")
            options.on_malformed(Malformed(f"{source.name}:{message.line}", shown(message.text), reason))
            continue
        document = f"{options.document}-{number}"
        try:
            statements = parse_message(message, options.scope, document, source.base)
        except ReadingError as error:
            place = error.place(source.name, message.line)
            options.on_malformed(Malformed(place, shown(message.text), error.reason))
        else:
            yield from elements_of_message(statements, f"{source.name}:{message.line}", options)


def parse_message(message: Message, scope: str, document: str, base: str | None) -> list[Statement]:
    """Raises ReadingError."""
    text = message.directives.replace(b"\n", b" ") + message.text
    return parse_statements(text, RdfFormat.TRIG, numbered(scope, document), base)


def messages_of(lines: Iterable[tuple[int, bytes]]) -> Iterator[Message]:
    """Cuts a text, given by its numbered lines, into messages."""
    cutter, directives = _Cutter(), b""
    for number, line in lines:
        for message in cutter.feed(number, line):
            yield message._replace(directives=directives)
            directives += directives_of(message.text)
    for message in cutter.end():
        yield message._replace(directives=directives)


def directives_of(text: bytes) -> bytes:
    """The prefixes and bases that a text declares."""
    if b"prefix" not in text.lower() and b"base" not in text.lower():
        return b""
    return b"".join(found["directive"] + b" " for found in _DIRECTIVE.finditer(text) if found["directive"])


class _Cutter:
    """The text of the next message so far."""

    def __init__(self) -> None:
        self._held: list[bytes] = []
        self._size = 0
        self._first_line = 1
        self._has_begun = False
        """Whether there was a delimiter, or anything but space, comments and directives."""
        self._quote: bytes | None = None

    def feed(self, number: int, line: bytes) -> Iterator[Message]:
        if self._quote is None and not _TELLING.search(line):
            self._hold(number, line)
            return
        begin = 0
        for start, end, is_delimiter in self._marks(line):
            self._hold(number, line[begin:start])
            if is_delimiter:
                if self._is_message:
                    yield self._message()
                else:
                    self._first_line = number
                self._has_begun = True
            begin = end
        self._hold(number, line[begin:])

    def end(self) -> Iterator[Message]:
        if _has_statements(b"".join(self._held)):
            yield self._message()

    @property
    def _is_message(self) -> bool:
        """Whether the lines held so far are a message: a delimiter before any statement only opens the first one."""
        return self._has_begun or _has_statements(b"".join(self._held))

    def _message(self) -> Message:
        found = Message(self._first_line, b"".join(self._held), is_too_large=self._size > LARGEST_DOCUMENT)
        self._held.clear()
        self._size = 0
        return found

    def _hold(self, number: int, piece: bytes) -> None:
        if not self._held:
            self._first_line = number
        self._size += len(piece)
        if self._size <= LARGEST_DOCUMENT:
            self._held.append(piece)
        else:
            del self._held[1:]

    def _marks(self, line: bytes) -> Iterator[tuple[int, int, bool]]:
        """Versions and delimiters of a line: where they begin and end, and whether it is a delimiter."""
        position = 0
        while True:
            if self._quote is not None:
                closed = END_OF_LONG[self._quote].match(line, position)
                if closed is None:
                    return
                self._quote, position = None, closed.end()
            mark = _MARK.search(line, position)
            if mark is None:
                return
            position = mark.end()
            if mark.lastgroup == "long":
                self._quote = mark[0]
            elif mark.lastgroup is not None:
                yield mark.start(), mark.end(), mark.lastgroup != "version"


def _has_statements(text: bytes) -> bool:
    """Whether there is more than space, comments and directives."""
    rest = _DIRECTIVE.sub(lambda found: b"" if found["directive"] or found[0].startswith(b"#") else found[0], text)
    return bool(rest.strip())


def elements_of_message(
    statements: Iterable[Statement],
    place: str,
    options: ReadOptions,
    time: int | None = None,
    *,
    is_fixed: bool = False,
) -> Iterator[Element]:
    """The graph of a message, or each named graph of its dataset.

    The default graph beside named ones states their times, and is not part of the stream. `time` is that of a graph
    that states none, or, with `is_fixed`, of all; a graph without a time is reported.
    """
    graphs: dict[GraphName | None, dict[Triple, None]] = {}
    for graph, triple in statements:
        graphs.setdefault(graph, {})[triple] = None
    default = graphs.pop(None, {})
    for name, held in graphs.items() or [(None, default)]:
        triples = tuple(held)
        about = [triple for triple in default if name is not None and triple.subject == name]
        try:
            stated = None if is_fixed else _time((about, triples), options.time_predicate)
            found = time if stated is None else stated
            if found is None:
                raise ReadingError(_without_time(options.time_predicate))
            yield Element(found, triples, name)
        except ReadingError as error:
            text = "\n".join(f"{triple} {name or ''}." for triple in triples)
            options.on_malformed(Malformed(place, text, error.reason))


def _time(parts: Iterable[Iterable[Triple]], predicate: NamedNode) -> int | None:
    """The time that is stated first."""
    for triples in parts:
        for name in _predicates(predicate):
            stated = times_within(triples, NamedNode(name))
            if stated:
                return greatest(stated)
    return None


def _predicates(predicate: NamedNode) -> tuple[str, ...]:
    """The usual predicates, unless another one is named."""
    return USUAL_TIMES if predicate.value == USUAL_TIMES[0] else (predicate.value,)


def _without_time(predicate: NamedNode) -> str:
    usual = " or ".join(f"<{name}>" for name in _predicates(predicate))
    return f"the message has no time: no triple has the predicate {usual} (?time= names another one)"
