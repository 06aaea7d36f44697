"""Timestamped N-Triples, `.tnt`: a line `<s> <p> <o> "TS" .` is an element of one triple."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pyoxigraph import RdfFormat, Triple

from penstock.rdf.blank_nodes import Rename, prefixed
from penstock.rdf.elements import Element, Malformed
from penstock.rdf.errors import ReadingError
from penstock.rdf.formats.read_options import ReadOptions
from penstock.rdf.inputs import Input
from penstock.rdf.limits import shown
from penstock.rdf.parser import TRIPLE_IN_TRIPLE, parse_statements
from penstock.rdf.timestamps import parse_timestamp
from penstock.rdf.vocabulary import XSD_STRING

_IRI = r"<[^<>\s]*>"
_STRING = r'"[^"\\]*+(?:\\.[^"\\]*+)*+"'  # possessive: a long one must not be kept to go back in
_TERM = rf'(?:{_IRI}|_:[^\s<>"]+|{_STRING}(?:@[A-Za-z0-9-]+|\^\^{_IRI})?)'
_TRIPLE = rf"{_TERM}\s*{_TERM}\s*{_TERM}"
_END = r"\s*\.\s*(?:\#.*)?"
_LINE = re.compile(rf'({_TRIPLE})\s*"([^"\\]*)"(?:\^\^<([^<>\s]*)>)?{_END}', re.ASCII)

_WITHOUT_TIME = re.compile(rf"{_TRIPLE}{_END}", re.ASCII)
_WITHOUT_QUOTES = re.compile(rf"{_TRIPLE}\s*([^\s\"<]+?){_END}", re.ASCII)
_WITH_END = re.compile(r".*\.\s*(?:\#.*)?", re.ASCII)


def read_tnt(source: Input, options: ReadOptions) -> Iterator[Element]:
    rename = prefixed(options.scope)
    for number, line in source.lines(options.on_malformed):
        try:
            text = decode_line(line)
            if text and not text.startswith("#"):
                time, triple = parse_timed_triple(text, rename)
                yield Element(time, (triple,))
        except ReadingError as error:
            options.on_malformed(Malformed(f"{source.name}:{number}", shown(line), error.reason))


def decode_line(line: bytes) -> str:
    """The text of a line without surrounding space."""
    try:
        return line.decode().strip()
    except UnicodeDecodeError as error:
        raise ReadingError(f"the byte {line[error.start]:#04x} is not UTF-8: save the file as UTF-8") from None


def parse_timed_triple(text: str, rename: Rename) -> tuple[int, Triple]:
    """Timestamp and triple of `<s> <p> <o> "TS" .`."""
    matched = _LINE.fullmatch(text)
    if matched is None:
        raise ReadingError(_why_not(text))
    triple, lexical, datatype = matched.groups()
    time = parse_timestamp(lexical, datatype or XSD_STRING)
    (statement,) = parse_statements(f"{triple} .", RdfFormat.N_TRIPLES, rename)
    return time, statement.triple


def _why_not(text: str) -> str:
    if _WITHOUT_TIME.fullmatch(text):
        return 'the timestamp is missing: a line is <subject> <predicate> <object> "milliseconds" .'
    unquoted = _WITHOUT_QUOTES.fullmatch(text)
    if unquoted is not None:
        return f'the timestamp has no quotes: write "{unquoted[1]}"'
    if text.startswith("<<") or " <<" in text:
        return TRIPLE_IN_TRIPLE
    if not _WITH_END.fullmatch(text):
        return "the line does not end with a full stop: is it cut off?"
    return 'this is not a timestamped triple: a line is <subject> <predicate> <object> "milliseconds" .'
