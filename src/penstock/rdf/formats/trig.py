"""TriG with timestamped graphs, `.trig`. Invalid graphs are skipped.

After an error a parser does not know where the next graph begins: pyoxigraph continues, but reads the rest of the
invalid graph as the default graph. So the text is first cut into blocks (a graph, or statements of the default graph)
at braces outside of strings, and each block is parsed separately.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from pyoxigraph import RdfFormat

from penstock.rdf.blank_nodes import Rename, numbered, prefixed
from penstock.rdf.elements import Element, Malformed, OnMalformed, Statement
from penstock.rdf.errors import ReadingError
from penstock.rdf.formats.read_options import ReadOptions
from penstock.rdf.formats.timed_graphs import graphs_in_passing, graphs_of_document
from penstock.rdf.inputs import Input
from penstock.rdf.limits import LARGEST_DOCUMENT, shown, too_large
from penstock.rdf.parser import checked, parsed

_MARK = re.compile(
    rb"""
      \\.                                   # a character of a name, escaped
    | <[^<>"{}|^`\s]*>                      # an IRI
    | (?P<long>\"\"\"|''')                  # a string that may span several lines
    | "(?:[^"\\\n]++|\\.)*+" | '(?:[^'\\\n]++|\\.)*+'
    | \#.*                                  # a comment
    | (?P<open>{)
    | (?P<close>})
    | (?P<stop>\.)(?=\s*(?:\#.*)?$)         # a full stop, the last thing in its line
    """,
    re.VERBOSE,
)
END_OF_LONG = {
    b'"""': re.compile(rb'(?:[^"\\]++|\\.|"{1,2}+(?!"))*+"""', re.DOTALL),
    b"'''": re.compile(rb"(?:[^'\\]++|\\.|'{1,2}+(?!'))*+'''", re.DOTALL),
}


class Block(NamedTuple):
    """A piece of TriG that can be parsed on its own, and the number of its first line."""

    line: int
    text: bytes
    is_too_large: bool = False
    """If so, the text is only its beginning."""


def read_trig(source: Input, options: ReadOptions) -> Iterator[Element]:
    if source.is_live:  # numbers would have to be remembered forever
        statements = _statements(source, prefixed(options.scope, options.document), options.on_malformed)
        return graphs_in_passing(statements, source.name, options)
    return graphs_of_document(
        lambda on_malformed: _statements(source, numbered(options.scope, options.document), on_malformed),
        source.name,
        options,
    )


def _statements(source: Input, rename: Rename, on_malformed: OnMalformed) -> Iterator[Statement]:
    base: str | None = source.base
    prefixes = b""
    for block in blocks(source.lines(on_malformed)):
        if block.is_too_large:
            reason = too_large("the graph")
            on_malformed(Malformed(f"{source.name}:{block.line}", shown(block.text), reason))
            continue
        parser = None
        try:
            parser = parsed(prefixes + block.text, RdfFormat.TRIG, base)
            yield from list(checked(parser, rename))
        except ReadingError as error:
            on_malformed(Malformed(error.place(source.name, block.line), shown(block.text), error.reason))
        if parser is None:
            continue
        base = parser.base_iri
        prefixes = "".join(f"@prefix {name}: <{iri}> . " for name, iri in parser.prefixes.items()).encode()


def blocks(lines: Iterable[tuple[int, bytes]]) -> Iterator[Block]:
    """Cuts TriG after each graph and, between graphs, after each line that ends with a full stop."""
    cutter = _Cutter()
    for number, line in lines:
        if cutter.is_inside(line):
            cutter.hold(number, line)
        else:
            yield from cutter.feed(number, line)
    yield from cutter.cut()


class _Cutter:
    """The text of the next block so far, and whether it ends inside a graph or a long string."""

    def __init__(self) -> None:
        self._first_line = 1
        self._held: list[bytes] = []
        self._size = 0
        self._is_too_large = False
        self._in_graph = False
        self._quote: bytes | None = None

    def is_inside(self, line: bytes) -> bool:
        """Whether a line neither begins nor ends anything; most lines of a graph do not."""
        if not self._in_graph or self._quote is not None:
            return False
        return not (b"}" in line or b"{" in line or b'"""' in line or b"'''" in line)

    def cut(self) -> Iterator[Block]:
        if self._held:
            yield Block(self._first_line, b"".join(self._held), self._is_too_large)
            self._held.clear()
            self._size, self._is_too_large = 0, False

    def feed(self, number: int, line: bytes) -> Iterator[Block]:
        begin = 0
        for kind, end in self._marks(line):
            if kind == "open":
                if self._in_graph:  # and graphs do not nest: a closing brace is missing before this line
                    yield from self.cut()
                self._in_graph = True
            elif kind == "close" or not self._in_graph:
                self._in_graph = False
                self.hold(number, line[begin:end])
                yield from self.cut()
                begin = end
        self.hold(number, line[begin:])

    def hold(self, number: int, piece: bytes) -> None:
        if not self._held:
            if not piece.strip():
                return
            self._first_line = number
        self._size += len(piece)
        if self._size <= LARGEST_DOCUMENT:
            self._held.append(piece)
        elif not self._is_too_large:
            self._is_too_large = True
            del self._held[1:]

    def _marks(self, line: bytes) -> Iterator[tuple[str, int]]:
        """Braces and the last full stop of a line, outside of strings, IRIs and comments: what and where it ends."""
        position = 0
        while True:
            if self._quote is not None:
                closed = END_OF_LONG[self._quote].match(line, position)
                if closed is None:
                    return
                self._quote = None
                position = closed.end()
            mark = _MARK.search(line, position)
            if mark is None:
                return
            position = mark.end()
            if mark.lastgroup == "long":
                self._quote = mark[0]
            elif mark.lastgroup is not None:
                yield mark.lastgroup, position
