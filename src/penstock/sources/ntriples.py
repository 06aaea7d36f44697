"""Lines of N-Triples as a table of triples: the ordinary ones by columns, and every other one by the parser."""

from __future__ import annotations

import codecs

import pyarrow as pa
from pyoxigraph import RdfFormat, Triple

from penstock.rdf.blank_nodes import label_prefix, prefixed
from penstock.rdf.elements import Malformed
from penstock.rdf.errors import ReadingError, SourceError
from penstock.rdf.parser import parse_statements
from penstock.sources.columns import ended, objects, predicates, subjects
from penstock.sources.graphs import TRIPLES, with_odd
from penstock.sources.lines import FEW, Lines, cut, texts_of
from penstock.sources.quads import parsed_line


def decode_ntriples(lines: Lines, *, name: str, first_line: int, scope: str) -> pa.Table:
    """The triples of lines.

    Raises `SourceError` at the first line that is not a triple; its place is `name:line`, counted from `first_line`.
    """

    def read(odd: list[int]) -> list[Triple]:
        found = [lines[index] for index in odd]
        if first_line == 1 and odd[0] == 0:
            found[0] = found[0].removeprefix(codecs.BOM_UTF8)
        try:
            statements = parse_statements(b"\n".join([*found, b""]), RdfFormat.N_TRIPLES, prefixed(scope))
        except ReadingError:
            for index, line in zip(odd, found, strict=True):
                parsed_line(line, name, first_line + index, scope, refuse, RdfFormat.N_TRIPLES)
            raise
        return [statement.triple for statement in statements]

    if len(lines) <= FEW:
        return with_odd([pa.nulls(len(lines), kind) for kind in TRIPLES.types], read)
    return with_odd(_ordinary(lines, label_prefix(scope)), read)


def ordinary_triples(lines: Lines) -> pa.Table:
    """The triple of each line, blank nodes with their own labels, in no graph; NULL where a term is not ordinary."""
    return pa.table([pa.nulls(len(lines), pa.string()), *_ordinary(lines, "")], names=["g", "s", "p", "o"])


def _ordinary(lines: Lines, prefix: str) -> list[pa.Array]:
    """Subject, predicate and object of each line; NULL where they are not ordinary."""
    subject, predicate, object_, end = lines.words(4) or cut(texts_of(lines), left=2, right=1)
    return [subjects(subject, prefix), ended(predicates(predicate), end), objects(object_, prefix)]


def refuse(malformed: Malformed) -> None:
    raise SourceError(f"{malformed.place}: {malformed.reason}")
